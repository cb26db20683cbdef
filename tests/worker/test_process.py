"""The worker as a process that gets a signal or is killed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.worker import WorkerCounts

from tests.support.runners import PATIENCE, wait_until
from tests.worker.steps import contents, ledger, queue, run_once


class TestProcess:
    """The command, with a model server that accepts connections and never answers."""

    @pytest.fixture
    def silent_model(self, memory: Memory) -> Iterator[socket.socket]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            # A server whose window is known is not asked for it before.
            settings = {"base_url": url, "context_tokens": 8000}
            memory.admin.register_model("silent", "chat", "openai", "some-model", settings)
            memory.admin.activate_model("silent")
            server.settimeout(PATIENCE)
            yield server

    @pytest.fixture
    def start(self, dsn: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
        processes: list[subprocess.Popen[str]] = []

        def start_worker(*options: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", dsn, *options],
                env={**os.environ, "OPENAI_API_KEY": "not-a-key"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            processes.append(process)
            return process

        yield start_worker
        for process in processes:
            process.kill()
            process.communicate()

    def test_a_signal_releases_what_is_unfinished(
        self,
        db: psycopg.Connection,
        memory: Memory,
        start: Callable[..., subprocess.Popen[str]],
        silent_model: socket.socket,
    ) -> None:
        [job_id] = queue(memory)
        process = start()
        with silent_model.accept()[0]:  # the call is under way
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        assert "stopping: waiting up to 0.5 s for 1 call\n" in output
        assert "attempt 1) released: the worker is stopping\n" in output
        assert "stopped: 0 jobs completed, 0 failed, 1 released\n" in output
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("pending", 0)
        assert [error for _, _, error in ledger(db)] == ["cancelled"]

    @pytest.mark.feature("D9", "F6")
    @pytest.mark.usefixtures("silent_model")
    def test_a_killed_worker_leaves_its_job_to_the_next(
        self, dsn: str, db: psycopg.Connection, memory: Memory, start: Callable[..., subprocess.Popen[str]]
    ) -> None:
        [job_id] = queue(memory)
        process = start("--lease", "600")
        wait_until(lambda: db.execute("select from memory.jobs where status = 'running'").fetchall())
        process.kill()
        process.wait(timeout=PATIENCE)
        memory.admin.activate_model("local")
        assert run_once(dsn) == WorkerCounts(), "the lease protects the job"
        db.execute("update memory.jobs set lease_expires_at = lease_expires_at - interval '10 minutes'")
        assert run_once(dsn) == WorkerCounts(completed=1)
        assert contents(memory) == ["I love jazz number 0."]
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("completed", 2)
