"""Runs queued jobs inside the server: the body of the PL/Python procedure memory.run_jobs().

The backend's own thread drives an event loop in short turns and asks PostgreSQL between them whether it should stop.
Everything is committed before a turn, so that a model call holds neither lock nor snapshot.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

from .errors import ModelError, RateLimitedError
from .models import Models

CONCURRENT_JOBS = 10
LEASE_SECONDS = 300.0
TURN_SECONDS = 0.1
_BACKEND_SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)

_Value = TypeVar("_Value")

_JOB = "user_id => $1, job_id => $2, lease_token => $3"
_JOB_TYPES = ("text", "bigint", "uuid")
# The calls of the job protocol, each under the word for what it does to a job.
_STATEMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "claimed": (
        "select job_id, kind, user_id, lease_token, payload from memory.claim_jobs("
        "worker => $1, max_jobs => $2, lease => pg_catalog.make_interval(secs => $3))",
        ("text", "int", "float8"),
    ),
    "completed": (f"select memory.complete_job({_JOB}, result => $4)", (*_JOB_TYPES, "jsonb")),
    "failed": (f"select memory.fail_job({_JOB}, error => $4)", (*_JOB_TYPES, "text")),
    "released": (
        f"select memory.release_job({_JOB}, retry_after => pg_catalog.make_interval(secs => $4))",
        (*_JOB_TYPES, "float8"),
    ),
    "extended": (
        f"select memory.extend_job({_JOB}, lease => pg_catalog.make_interval(secs => $4))",
        (*_JOB_TYPES, "float8"),
    ),
}


class Plpy(Protocol):
    """What is used of the module that PL/Python gives to its functions."""

    SPIError: type[Exception]
    spiexceptions: Any

    def prepare(self, query: str, argtypes: Sequence[str]) -> Any:
        """Plan a statement."""

    def execute(self, query: Any, arguments: Sequence[object] = ...) -> Sequence[Mapping[str, Any]]:
        """Run a text or a plan; an error undoes this statement only."""

    def commit(self) -> None:
        """Commit, and begin the next transaction."""

    def rollback(self) -> None:
        """Roll back, and begin the next transaction."""

    def notice(self, message: str) -> None:
        """Send a NOTICE to the client."""

    def error(self, message: str, *, hint: str, sqlstate: str) -> NoReturn:
        """Raise an error of PostgreSQL."""


class Job(NamedTuple):
    """A claimed job and the proof of its claim."""

    job_id: int
    kind: str
    user_id: str
    lease_token: str


def run_jobs(plpy: Plpy, max_jobs: int | None, max_seconds: int | None) -> None:
    """Run due jobs until none is left, `max_jobs` were claimed or `max_seconds` are over; calls under way are awaited.

    When PostgreSQL cancels the statement, or anything else ends it early, its jobs go back to the queue at once.
    """
    max_jobs = _positive(plpy, "max_jobs", max_jobs)
    max_seconds = _positive(plpy, "max_seconds", max_seconds)
    try:
        plpy.commit()
    except plpy.spiexceptions.InvalidTransactionTermination:
        plpy.error(
            "memory.run_jobs() cannot run inside a transaction",
            hint="CALL it as a statement of its own, with autocommit on: it commits before each model call.",
            sqlstate="2D000",
        )
    loop = asyncio.new_event_loop()
    try:
        _Runner(plpy, loop).run(max_jobs, max_seconds)
    finally:
        loop.close()
        # That told asyncio's helper threads to end. They need the interpreter to do so, which a backend keeps to itself
        # once the procedure has returned.
        for thread in threading.enumerate():
            if thread.name.startswith("asyncio_"):
                thread.join(TURN_SECONDS)


def _positive(plpy: Plpy, argument: str, value: int | None) -> int:
    if value is None or value < 1:
        problem = "must not be null" if value is None else f"{value} is not positive"
        plpy.error(f"{argument}: {problem}", hint="Leave it out for the default.", sqlstate="22023")
    return value


class _Runner:
    def __init__(self, plpy: Plpy, loop: asyncio.AbstractEventLoop) -> None:
        self._plpy = plpy
        self._loop = loop
        self._plans = {name: plpy.prepare(query, types) for name, (query, types) in _STATEMENTS.items()}
        self._jobs: dict[asyncio.Task[dict[str, Any]], Job] = {}
        self._counts: Counter[str] = Counter()
        self._last_error = ""

    def run(self, max_jobs: int, max_seconds: float) -> None:
        models = Models()
        deadline = time.monotonic() + max_seconds
        extend_at = time.monotonic() + LEASE_SECONDS / 3
        claimed = 0
        has_room = True
        try:
            while True:
                room = min(CONCURRENT_JOBS - len(self._jobs), max_jobs - claimed)
                if has_room and room > 0 and time.monotonic() < deadline:
                    claimed += self._claim(models, room)
                if not self._jobs:
                    break
                finished = self._take_turn()
                for task in finished:
                    self._settle(task)
                has_room = bool(finished)
                if time.monotonic() >= extend_at:
                    self._extend_leases()
                    extend_at = time.monotonic() + LEASE_SECONDS / 3
        except Exception:
            self._give_back()
            raise
        finally:
            self._drive(models.close())
        if self._counts:
            counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self._counts.items()))
            reason = f"; last error: {self._last_error[:200]}" if self._counts["failed"] else ""
            self._plpy.notice(f"jobs: {counts}{reason}")

    def _claim(self, models: Models, limit: int) -> int:
        """Claim up to `limit` jobs and start them; the number claimed."""
        worker = f"in-database runner, pid {os.getpid()}"
        rows = self._plpy.execute(self._plans["claimed"], [worker, limit, LEASE_SECONDS])
        self._plpy.commit()
        for row in rows:
            job = Job(row["job_id"], row["kind"], row["user_id"], row["lease_token"])
            self._jobs[self._loop.create_task(models.run(job.kind, json.loads(row["payload"])))] = job
        return len(rows)

    def _take_turn(self) -> set[asyncio.Task[dict[str, Any]]]:
        """Let the calls go on for a moment, then PostgreSQL; the tasks that are finished."""
        finished, _ = self._drive(asyncio.wait(self._jobs, timeout=TURN_SECONDS))
        self._plpy.execute("select 1")  # acts on a cancel, a timeout or a shutdown
        self._plpy.commit()  # gives back the snapshot that the statement took
        return finished

    def _drive(self, coroutine: Coroutine[Any, Any, _Value]) -> _Value:
        with _signals_held_back():
            return self._loop.run_until_complete(coroutine)

    def _settle(self, task: asyncio.Task[dict[str, Any]]) -> None:
        """Hand in what a finished call brought."""
        job = self._jobs[task]
        if task.cancelled():
            outcome = "lost"
        elif (error := task.exception()) is None:
            outcome = self._complete(job, task.result())
        elif isinstance(error, RateLimitedError):
            outcome = self._hand_in("released", job, error.retry_after)
        else:
            outcome = self._fail(job, error)
        self._counts[outcome] += 1
        del self._jobs[task]

    def _complete(self, job: Job, result: dict[str, Any]) -> str:
        try:
            return self._hand_in("completed", job, json.dumps(result))
        except self._plpy.spiexceptions.QueryCanceled:
            raise
        except self._plpy.SPIError as error:
            return self._fail(job, error)

    def _fail(self, job: Job, error: BaseException) -> str:
        speaks_for_itself = isinstance(error, (ModelError, self._plpy.SPIError))
        reason = str(error) if speaks_for_itself else f"{type(error).__name__}: {error}"
        self._last_error = reason.replace("\0", "").encode(errors="replace").decode()
        return self._hand_in("failed", job, self._last_error)

    def _hand_in(self, outcome: str, job: Job, argument: object) -> str:
        """Call one function of the job protocol and commit; the outcome, which is "lost" when the lease is."""
        exceptions = self._plpy.spiexceptions
        while True:
            try:
                self._plpy.execute(self._plans[outcome], [job.user_id, job.job_id, job.lease_token, argument])
            except (exceptions.SerializationFailure, exceptions.DeadlockDetected, exceptions.LockNotAvailable):
                self._plpy.rollback()  # and again, in a new transaction: the result may have been paid for
                continue
            except self._plpy.SPIError as error:
                if not _is_lost_lease(error):
                    raise
                self._plpy.notice(str(error))
                outcome = "lost"
            self._plpy.commit()
            return outcome

    def _extend_leases(self) -> None:
        for task, job in self._jobs.items():
            if self._hand_in("extended", job, LEASE_SECONDS) == "lost":
                task.cancel()

    def _give_back(self) -> None:
        """Stop the calls and release their jobs, for whoever claims next."""
        self._plpy.rollback()
        for task, job in self._jobs.items():
            task.cancel()
            self._hand_in("released", job, 0.0)
        if self._jobs:
            self._drive(asyncio.wait(self._jobs, timeout=TURN_SECONDS))


def _is_lost_lease(error: Exception) -> bool:
    """Whether this is SQLSTATE AM001.

    PL/Python has the `sqlstate` attribute on errors of its own list only, and every code packed in `spidata`, with six
    bits for each character.
    """
    packed: int = getattr(error, "spidata", (0,))[0]
    return packed == sum((ord(character) - ord("0")) << 6 * place for place, character in enumerate("AM001"))


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Keeps the backend's signals for the moment after.

    Threads that are started meanwhile, as asyncio does to look up a host name, inherit that for good: PostgreSQL's
    handlers may run in the main thread only.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BACKEND_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
