"""The external worker, in this process with models of the test's own, and as the command that people run."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.worker import Worker, WorkerCounts
from agent_memory_models import ModelError, RateLimitedError

Connect = Callable[..., psycopg.Connection]
HOUR = 3600.0


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)


class Scripted:
    """Models that do what the test says."""

    def __init__(self, run: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
        self.calls = 0
        self._run = run

    async def run(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        assert kind == "extract_memories"
        self.calls += 1
        return await self._run(payload)


def raising(error: Exception) -> Scripted:
    async def run(_: dict[str, Any]) -> dict[str, Any]:
        raise error

    return Scripted(run)


def finding(content: str, seconds: float = 0.0) -> Scripted:
    async def run(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        seqs = [message["seq"] for message in payload["messages"]]
        return {"memories": [{"content": content, "memory_type": "fact", "seqs": seqs}]}

    return Scripted(run)


def queue(memory: Memory, threads: int = 1) -> list[int]:
    jobs = []
    for number in range(threads):
        memory.add_message("ana", f"t{number}", "user", f"My name is Ana, take {number}.")
        jobs.append(memory.extract_memories("ana", f"t{number}"))
    return jobs


def run_once(dsn: str, **options: Any) -> WorkerCounts:
    return asyncio.run(Worker(dsn, **options).run(once=True))


def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list_memories("ana"))


def attempts(db: psycopg.Connection) -> list[int]:
    return [row[0] for row in db.execute("select attempts from memory.jobs order by job_id")]


class TestOutcomes:
    @pytest.mark.feature("F6")
    def test_once_works_until_nothing_is_left(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory, threads=25)
        memory.summarize_thread("ana", "t0")
        assert run_once(dsn) == WorkerCounts(completed=26)
        assert contents(memory) == sorted(f"My name is Ana, take {number}." for number in range(25))
        assert memory.get_thread_summary("ana", "t0") is not None
        assert run_once(dsn) == WorkerCounts()
        assert set(attempts(db)) == {1}

    def test_calls_run_at_the_same_time_up_to_the_limit(self, dsn: str, memory: Memory) -> None:
        queue(memory, threads=12)
        running, most = 0, 0

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.1)
            running -= 1
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run), concurrency=5) == WorkerCounts(completed=12)
        assert most == 5

    def test_kinds(self, dsn: str, memory: Memory) -> None:
        queue(memory)
        assert run_once(dsn, kinds=["summarize_thread"]) == WorkerCounts()

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (ModelError("the model answered nonsense\0"), "the model answered nonsense"),
            (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
        ],
    )
    def test_a_failure_is_reported(self, dsn: str, memory: Memory, error: Exception, reason: str) -> None:
        [job_id] = queue(memory)
        assert run_once(dsn, models=raising(error)) == WorkerCounts(failed=1)
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts, job.error) == ("pending", 1, reason)

    @pytest.mark.parametrize(
        "result", [{"memories": [{"content": "x", "memory_type": "fact", "seqs": [99]}]}, {"memories": 1}, {"a": "\0"}]
    )
    def test_a_refused_result_is_a_failure(self, dsn: str, memory: Memory, result: dict[str, Any]) -> None:
        [job_id] = queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            return result

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(failed=1)
        job = memory.get_job("ana", job_id)
        assert job.status == "pending"
        assert job.error is not None
        assert job.error.startswith("result refused: ")
        assert contents(memory) == []

    def test_a_rate_limit_gives_the_attempt_back(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)
        models = raising(RateLimitedError("slow down", retry_after=HOUR))
        assert run_once(dsn, models=models) == WorkerCounts(released=1)
        assert models.calls == 1
        assert attempts(db) == [0]
        row = db.execute("select run_after > now() + interval '59 minutes' from memory.jobs").fetchone()
        assert row == (True,)


class TestLeases:
    def test_the_heartbeat_keeps_a_long_call(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)

        async def scenario() -> tuple[WorkerCounts, WorkerCounts]:
            slow = Worker(dsn, models=finding("slow", seconds=2.5), lease=timedelta(seconds=1))
            other = Worker(dsn, models=finding("other"), poll_interval=0.1)
            working = asyncio.create_task(slow.run(once=True))
            await asyncio.sleep(0.5)
            waiting = asyncio.create_task(other.run())
            counts = await working
            other.stop()
            return counts, await waiting

        assert asyncio.run(scenario()) == (WorkerCounts(completed=1), WorkerCounts())
        assert contents(memory) == ["slow"]
        assert attempts(db) == [1]

    def test_a_result_without_a_lease_is_dropped(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            connect().execute("update memory.jobs set lease_token = gen_random_uuid()")
            return {"memories": [{"content": "too late", "memory_type": "fact", "seqs": [0]}]}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(lost=1)
        assert contents(memory) == []

    def test_a_call_without_a_lease_is_given_up(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            connect().execute("update memory.jobs set lease_token = gen_random_uuid()")
            await asyncio.sleep(HOUR)
            raise AssertionError

        assert run_once(dsn, models=Scripted(run), lease=timedelta(seconds=1)) == WorkerCounts(lost=1)

    def test_two_workers_do_each_job_once(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory, threads=60)
        models = finding("seen", seconds=0.01)

        async def scenario() -> list[WorkerCounts]:
            return await asyncio.gather(*(Worker(dsn, models=models, concurrency=5).run(once=True) for _ in range(2)))

        first, second = asyncio.run(scenario())
        assert first.completed + second.completed == models.calls == 60
        assert min(first.completed, second.completed) > 0
        assert attempts(db) == [1] * 60

    def test_nothing_is_open_during_a_call(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)
        open_transactions: list[Any] = []

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            open_transactions.extend(
                connect().execute(
                    "select state, query from pg_stat_activity where application_name = 'agent-memory worker'"
                    " and datname = current_database() and (xact_start, backend_xmin, backend_xid) is not null"
                )
            )
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(completed=1)
        assert open_transactions == []

    def test_a_lost_connection_is_opened_again(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory, threads=3)

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            terminated = connect().execute(
                "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
                " where application_name = 'agent-memory worker' and datname = current_database()"
            )
            assert terminated.fetchone() != (0,)
            return {"memories": [{"content": payload["thread_id"], "memory_type": "fact", "seqs": [0]}]}

        counts = run_once(dsn, models=Scripted(run), concurrency=1)
        assert (counts.completed, counts.lost) == (3, 0)
        assert contents(memory) == ["t0", "t1", "t2"]


class TestStart:
    def test_without_a_server(self) -> None:
        with pytest.raises(psycopg.OperationalError):
            run_once("host=/nonexistent")

    def test_without_agent_memory(self, empty_dsn: str) -> None:
        with pytest.raises(psycopg.errors.InvalidSchemaName):
            run_once(empty_dsn)


class TestProcess:
    """The command, with a model server that accepts connections and never answers."""

    @pytest.fixture
    def silent_model(self, memory: Memory) -> Iterator[None]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            memory.register_model("silent", "chat", "openai", "some-model", {"base_url": url})
            memory.activate_model("silent")
            yield

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

    def wait_until_running(self, db: psycopg.Connection) -> None:
        deadline = time.monotonic() + 30
        while db.execute("select from memory.jobs where status = 'running'").fetchone() is None:
            assert time.monotonic() < deadline, "the worker claimed nothing"
            time.sleep(0.05)

    @pytest.mark.usefixtures("silent_model")
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_releases_what_is_unfinished(
        self,
        db: psycopg.Connection,
        memory: Memory,
        start: Callable[..., subprocess.Popen[str]],
        number: signal.Signals,
    ) -> None:
        [job_id] = queue(memory)
        process = start()
        self.wait_until_running(db)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
        assert process.returncode == 0, output
        assert "stopping: waiting up to 5 s for 1 call\n" in output
        assert "attempt 1) released: the worker is stopping\n" in output
        assert "stopped: 0 jobs completed, 0 failed, 1 released\n" in output
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("pending", 0)

    @pytest.mark.feature("D9", "F6")
    @pytest.mark.usefixtures("silent_model")
    def test_a_killed_worker_leaves_its_job_to_the_next(
        self, dsn: str, db: psycopg.Connection, memory: Memory, start: Callable[..., subprocess.Popen[str]]
    ) -> None:
        [job_id] = queue(memory)
        process = start("--lease", "2")
        self.wait_until_running(db)
        process.kill()
        process.wait(timeout=30)
        memory.activate_model("local")
        assert run_once(dsn) == WorkerCounts(), "the lease protects the job"
        time.sleep(2)
        assert run_once(dsn) == WorkerCounts(completed=1)
        assert contents(memory) == ["My name is Ana, take 0."]
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("completed", 2)
