"""The two runners of queued model work behind one interface: the procedure in the database, and the worker process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import psycopg

from tests.support.model_payloads import ENCODINGS

API_KEY = "key-of-the-test-server"
PATIENCE = 180.0
"""Seconds after which a test gives something up that should have taken one; a call of run_jobs() may take sixty."""

# The leases of work that is under way, or could be.
_OPEN = """
select exists (select from memory.jobs
               where status = 'running' or status = 'pending' and run_after <= clock_timestamp())
"""


class Runner(ABC):
    """What does the queued jobs of a database, in a process of its own."""

    pid: int

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def start(self) -> None:
        """Do the jobs that are due, beside the test."""

    @abstractmethod
    def join(self) -> None:
        """Wait until the jobs are done."""

    @abstractmethod
    def stop(self, how: str) -> float:
        """Stop it while it works; the seconds until it has given up its jobs and is gone."""

    @abstractmethod
    def backends(self) -> list[int]:
        """Process ids of its connections."""

    @abstractmethod
    def close(self) -> None:
        """End it, whatever it is doing."""


class DatabaseRunner(Runner):
    """A session that calls memory.run_jobs()."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._thread: threading.Thread | None = None
        self.pid = self._connection.info.backend_pid
        self.error: psycopg.Error | None = None
        """What the call ended with."""

    def start(self) -> None:
        self.error = None
        self._thread = threading.Thread(target=self._call)
        self._thread.start()

    def _call(self) -> None:
        try:
            self._connection.execute("call memory.run_jobs()")
        except psycopg.Error as error:
            self.error = error

    def join(self) -> None:
        self._wait()
        if self.error is not None:
            raise self.error

    def _wait(self) -> None:
        assert self._thread is not None
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def is_working(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self, how: str) -> float:
        function = {"cancel": "pg_cancel_backend", "terminate": "pg_terminate_backend"}[how]
        with psycopg.connect(self._dsn, autocommit=True) as other:
            started = time.monotonic()
            other.execute(f"select {function}({self.pid})")
            self._wait()
        return time.monotonic() - started

    def limit(self, seconds: float) -> None:
        """Set statement_timeout."""
        self._connection.execute(f"set statement_timeout = {round(seconds * 1000)}")

    def backends(self) -> list[int]:
        return [self.pid]

    def close(self) -> None:
        if self.is_working():
            self.stop("terminate")
        self._connection.close()


class WorkerRunner(Runner):
    """The command that people run beside the database."""

    def __init__(self, dsn: str, log_file: Path, *options: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True)
        with log_file.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", dsn, "--poll-interval", "0.2", *options],
                # A worker would try to download the encodings where they are missing.
                env={**os.environ, "OPENAI_API_KEY": API_KEY, "TIKTOKEN_CACHE_DIR": str(ENCODINGS)},
                stdout=log,
                stderr=log,
            )
        self.pid = self._process.pid

    def start(self) -> None:
        """Start the worker, which polls."""

    def join(self) -> None:
        wait_until(lambda: self._connection.execute(_OPEN).fetchone() == (False,))

    def stop(self, how: str) -> float:
        started = time.monotonic()
        self._process.send_signal({"terminate": signal.SIGTERM, "kill": signal.SIGKILL}[how])
        self._process.wait(PATIENCE)
        return time.monotonic() - started

    def is_working(self) -> bool:
        return self._process.poll() is None

    def backends(self) -> list[int]:
        rows = self._connection.execute(
            "select pid from pg_stat_activity where application_name = 'agent-memory worker'"
            " and datname = current_database()"
        )
        return [row[0] for row in rows]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()


def is_quick(attempt: Callable[[], float], seconds: float, attempts: int = 10) -> bool:
    """Whether one of some attempts takes less than so many seconds: others may need the machine during a single one."""
    return any(attempt() < seconds for _ in range(attempts))


def wait_until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Evaluate the condition again and again until it is true."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
