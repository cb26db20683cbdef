"""Runs queued jobs inside the server: the body of the PL/Python procedure memory.run_jobs().

The backend's own thread drives an event loop in short turns and asks PostgreSQL between them whether it should stop.
Everything is committed before a turn, so that a model call holds neither lock nor snapshot. Whatever ends the run
early, its jobs go back to the queue with their attempts uncounted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from agent_memory_models import LEASE_SECONDS, Models, RateLimitedError, as_json, reason_to_keep, refusal_to_keep
from agent_memory_models.calls import Calls
from agent_memory_models.errors import MissingModelError, OutOfReachError

from .backend import SIGNALS, TURN_SECONDS, Plpy, kept_models

CONCURRENT_JOBS = 10
LOST_LEASE = "AM001"
LOOK_SECONDS = 1.0
"""How often a run with room for more looks for jobs that became due, or whose user had too many jobs running."""
LOCK_TIMEOUT = "200ms"
"""How long a statement may wait for a lock. It holds up the calls under way meanwhile; a turn later it is repeated."""

_JOB = "user_id => $1, job_id => $2, lease_token => $3"
_JOB_TYPES = ("text", "bigint", "uuid")
# The statements of the job protocol, each under a verb that says what it does to a job.
_STATEMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "claimed": (
        "select job_id, kind, user_id, lease_token, payload from memory.claim_jobs("
        "worker => $1, max_jobs => $2, lease => pg_catalog.make_interval(secs => $3))",
        ("text", "int", "float8"),
    ),
    "completed": (f"select memory.complete_job({_JOB}, result => $4, calls => $5)", (*_JOB_TYPES, "jsonb", "jsonb")),
    "failed": (f"select memory.fail_job({_JOB}, error => $4, calls => $5)", (*_JOB_TYPES, "text", "jsonb")),
    "released": (
        f"select memory.release_job({_JOB}, retry_after => pg_catalog.make_interval(secs => $4), calls => $5)",
        (*_JOB_TYPES, "float8", "jsonb"),
    ),
    "extended": (
        f"select memory.extend_job({_JOB}, lease => pg_catalog.make_interval(secs => $4))",
        (*_JOB_TYPES, "float8"),
    ),
    "recorded": ("select memory.record_calls(user_id => $1, job_id => $2, calls => $3)", ("text", "bigint", "jsonb")),
}


class Job(NamedTuple):
    """A claimed job, the token of its lease, and the calls that it has made so far."""

    job_id: int
    kind: str
    user_id: str
    lease_token: str
    calls: Calls


class _TerminatedError(Exception):
    """PostgreSQL asked this process to end (SIGTERM)."""


def run_jobs(plpy: Plpy, max_jobs: int | None, max_seconds: int | None) -> None:
    """Run due jobs until none is left, `max_jobs` were claimed or `max_seconds` are over; calls under way are awaited.

    When PostgreSQL cancels the statement or ends the session, or anything else stops it, its jobs go back to the queue.
    """
    max_jobs = _positive(plpy, "max_jobs", max_jobs)
    max_seconds = _positive(plpy, "max_seconds", max_seconds)
    try:
        plpy.commit()
    except plpy.spiexceptions.InvalidTransactionTermination:
        _refuse(
            plpy,
            "memory.run_jobs()",
            "it cannot run inside a transaction or a function",
            hint="CALL it as a statement of its own, with autocommit on: it commits before each model call.",
            sqlstate="2D000",
        )
    with kept_models("jobs") as (loop, models):
        _Runner(plpy, loop, models).run(max_jobs, max_seconds)


def _positive(plpy: Plpy, argument: str, value: int | None) -> int:
    if value is None or value < 1:
        problem = "must not be null" if value is None else f"{value} is not positive"
        _refuse(plpy, argument, problem, hint="Leave it out for the default.", sqlstate="22023")
    return value


def _refuse(plpy: Plpy, subject: str, problem: str, *, hint: str, sqlstate: str) -> NoReturn:
    """Raise an error of PostgreSQL whose message is "subject: problem".

    PL/Python begins the message with the name of the exception's class, so the class is named after the subject.
    """
    module, _, name = subject.rpartition(".")
    attributes = {"__module__": module or "builtins", "hint": hint, "sqlstate": sqlstate}
    raise type(name, (plpy.Error,), attributes)(problem) from None


class _Said(logging.Handler):
    """Keeps what the models' package warns of, for the notices of a run."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class _Runner:
    def __init__(self, plpy: Plpy, loop: asyncio.AbstractEventLoop, models: Models) -> None:
        self._plpy = plpy
        self._loop = loop
        self._models = models
        self._plans = {name: plpy.prepare(query, types) for name, (query, types) in _STATEMENTS.items()}
        self._limit_lock_waits = plpy.prepare(
            f"select pg_catalog.set_config('lock_timeout', '{LOCK_TIMEOUT}', true)", ()
        )
        exceptions = plpy.spiexceptions
        self._retryable: tuple[type[Exception], ...] = (
            exceptions.SerializationFailure,
            exceptions.DeadlockDetected,
            exceptions.LockNotAvailable,
        )
        self._jobs: dict[asyncio.Task[dict[str, Any]], Job] = {}
        self._counts: Counter[str] = Counter()
        self._last_error = ""
        # On SIGTERM, PostgreSQL would exit without telling Python. The signal waits until the jobs are given back.
        self._held_back = {signal.SIGTERM}

    def run(self, max_jobs: int, max_seconds: float) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self._held_back)
        said, logger = _Said(), logging.getLogger("agent_memory.models")
        logger.addHandler(said)
        try:
            self._work(max_jobs, max_seconds)
        except Exception:
            self._give_back()
            raise
        finally:
            logger.removeHandler(said)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            self._plpy.execute("select 1")  # acts on a SIGTERM
        for line in dict.fromkeys(said.lines):
            self._plpy.notice(line)
        if self._counts:
            counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self._counts.items()))
            reason = f"; last error: {self._last_error[:300]}" if self._last_error else ""
            self._plpy.notice(f"jobs: {counts}{reason}")

    def _work(self, max_jobs: int, max_seconds: float) -> None:
        deadline = time.monotonic() + max_seconds
        extend_at = time.monotonic() + LEASE_SECONDS / 3
        look_at = time.monotonic()
        claimed = 0
        has_room = True
        while True:
            room = min(CONCURRENT_JOBS - len(self._jobs), max_jobs - claimed)
            if (has_room or time.monotonic() >= look_at) and room > 0 and time.monotonic() < deadline:
                claimed += self._claim(room)
                look_at = time.monotonic() + LOOK_SECONDS
            if not self._jobs:
                break
            has_room = False
            for task in self._take_turn():
                has_room |= self._settle(task)
                self._heed_termination()
            if time.monotonic() >= extend_at:
                self._extend_leases()
                extend_at = time.monotonic() + LEASE_SECONDS / 3

    def _claim(self, limit: int) -> int:
        """Claim up to `limit` jobs and start them; returns the number claimed."""
        worker = f"in-database runner, pid {os.getpid()}"
        try:
            rows = self._execute("claimed", [worker, limit, LEASE_SECONDS])
        except self._retryable:
            return 0
        for row in rows:
            job = Job(row["job_id"], row["kind"], row["user_id"], row["lease_token"], calls=[])
            call = self._models.run(job.kind, json.loads(row["payload"]), job.calls)
            self._jobs[self._loop.create_task(call)] = job
        return len(rows)

    def _take_turn(self) -> list[asyncio.Task[dict[str, Any]]]:
        """Let the calls run for a moment, then let PostgreSQL act; returns the tasks that are finished."""
        # Without a running call a result waits to be handed in again: the turn must take its time all the same.
        calls = [task for task in self._jobs if not task.done()]
        self._drive(asyncio.wait(calls, timeout=TURN_SECONDS) if calls else asyncio.sleep(TURN_SECONDS))
        self._heed_termination()
        self._plpy.execute("select 1")  # acts on a cancel or a timeout
        self._plpy.commit()  # gives back the snapshot that the statement took
        return [task for task in self._jobs if task.done()]

    def _heed_termination(self) -> None:
        if signal.SIGTERM in signal.sigpending():
            raise _TerminatedError

    def _drive(self, coroutine: Coroutine[Any, Any, object]) -> None:
        """Run the event loop while the backend's signals wait."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self._loop.run_until_complete(coroutine)
        finally:
            if signal.SIGTERM in signal.sigpending():
                # A waiting cancel would abort the next statement, and then PostgreSQL unblocks every signal.
                self._held_back.add(signal.SIGINT)
            # An aborted statement has unblocked them.
            signal.pthread_sigmask(signal.SIG_BLOCK, self._held_back)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, set(SIGNALS) - self._held_back)

    def _execute(self, statement: str, arguments: Sequence[object]) -> Sequence[Mapping[str, Any]]:
        """Run one statement in a transaction of its own; a statement that fails changes nothing."""
        try:
            self._plpy.execute(self._limit_lock_waits)
            return self._plpy.execute(self._plans[statement], arguments)
        finally:
            self._plpy.commit()

    def _settle(self, task: asyncio.Task[dict[str, Any]]) -> bool:
        """Hand in the outcome of a finished call; False when a lock or a conflict prevents that until the next turn."""
        job = self._jobs[task]
        try:
            if task.cancelled():
                outcome = self._lose(job, "its lease could not be extended")
            elif (error := task.exception()) is None:
                outcome = self._complete(job, task.result())
            elif isinstance(error, RateLimitedError):
                if isinstance(error, (MissingModelError, OutOfReachError)):
                    self._last_error = reason_to_keep(error)
                outcome = self._hand_in("released", job, error.retry_after)
            else:
                outcome = self._fail(job, reason_to_keep(error))
        except self._retryable:  # the result may have been paid for, and the conflict will pass
            return False
        self._counts[outcome] += 1
        del self._jobs[task]
        return True

    def _complete(self, job: Job, result: dict[str, Any]) -> str:
        try:
            return self._hand_in("completed", job, as_json(result))
        except (self._plpy.spiexceptions.QueryCanceled, *self._retryable):
            raise
        except self._plpy.SPIError as error:
            constraint = getattr(error, "spidata", (None,))[-1]
            return self._fail(job, refusal_to_keep(_sqlstate(error), str(error), constraint))

    def _fail(self, job: Job, reason: str) -> str:
        self._last_error = reason
        return self._hand_in("failed", job, reason)

    def _hand_in(self, outcome: str, job: Job, argument: object) -> str:
        """Call the function of the job protocol that ends a job; returns the outcome, "lost" when the lease is lost."""
        lease = [job.user_id, job.job_id, job.lease_token]
        try:
            self._execute(outcome, [*lease, argument, json.dumps(job.calls)])
        except self._plpy.SPIError as error:
            if _sqlstate(error) != LOST_LEASE:
                raise
            return self._lose(job, str(error))
        return outcome

    def _lose(self, job: Job, reason: str) -> str:
        """Enter the calls of a job whose lease is lost, because somebody has paid for them."""
        self._plpy.notice(reason)
        try:
            self._execute("recorded", [job.user_id, job.job_id, json.dumps(job.calls)])
        except self._plpy.spiexceptions.NoDataFound as error:  # the job was deleted; the run goes on
            self._plpy.notice(str(error))
        return "lost"

    def _extend_leases(self) -> None:
        for task, job in self._jobs.items():
            if not self._extend_lease(job):
                task.cancel()

    def _extend_lease(self, job: Job) -> bool:
        """Whether the lease still holds."""
        try:
            self._execute("extended", [job.user_id, job.job_id, job.lease_token, LEASE_SECONDS])
        except self._retryable:
            return True  # there is time for two more attempts
        except self._plpy.SPIError as error:
            if _sqlstate(error) != LOST_LEASE:
                raise
            return False
        return True

    def _give_back(self) -> None:
        """Stop the calls and release their jobs, so that any worker can claim them at once."""
        self._held_back.add(signal.SIGINT)  # a second cancel would leave the rest to their leases
        calls = [task for task in self._jobs if task.cancel()]
        self._drive(asyncio.wait(calls, timeout=TURN_SECONDS) if calls else asyncio.sleep(0))
        for job in self._jobs.values():
            with suppress(self._plpy.SPIError):  # then its lease runs out
                self._hand_in("released", job, 0.0)


def _sqlstate(error: Exception) -> str | None:
    """The SQLSTATE of an error of PostgreSQL.

    PL/Python has the `sqlstate` attribute on errors of its own list only, and every code packed in `spidata`, with six
    bits for each character.
    """
    spidata = getattr(error, "spidata", None)
    return spidata and "".join(chr((spidata[0] >> 6 * place & 63) + ord("0")) for place in range(5))
