"""The external worker: runs queued model work beside the database, over the same protocol as the in-database runner.

Claim, call the model with no transaction open, hand in the result. A job whose worker dies is claimed again once its
lease has run out, and a result that arrives too late is refused, so its effect appears once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import psycopg
from agent_memory_models import Models, RateLimitedError, reason_to_keep, refusal_to_keep
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from ._async import AsyncMemory
from ._health import write_health
from ._text import counted
from .errors import AgentMemoryError, LeaseLostError, RetryableError, client_version
from .types import ClaimedJob

logger = logging.getLogger("agent_memory.worker")

Value = TypeVar("Value")
Calls = list[dict[str, Any]]

CHANNEL = "agent_memory_jobs"
"""Where an application that does not want to wait for the next poll says ``notify``."""

# Seconds between attempts to reach a database that went away: doubled from the first to the second.
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.5, 15.0
# Seconds one attempt may take; short, so that stop() is never held up by it.
_CONNECT_TIMEOUT = 5.0
# Seconds without a connection to listen on, after one was lost.
_LISTEN_PAUSE = 5.0
# Milliseconds that a hand-in waits for rows which a transaction of the application holds. Longer waits are attempts of
# their own, between which other jobs have the connection.
_LOCK_TIMEOUT = 2000
_MAX_ERROR_CHARACTERS = 500
# Seconds between lines in the log about jobs done.
_SUMMARY_INTERVAL = 30.0
# Seconds between looks at how much is left, while somebody watches; and milliseconds that such a look may take, since
# it counts all jobs that are kept.
_LOOK_INTERVAL, _LOOK_TIMEOUT = 2.0, 1000

_QUEUE = """
select coalesce(sum(jobs) filter (where status = 'pending'), 0)::int as pending,
  coalesce(sum(jobs) filter (where status = 'dead'), 0)::int as dead,
  min(next_run_after) filter (where status = 'pending') as next_run_after
from memory.queue_stats where kind = any (%(kinds)s) or %(kinds)s is null
"""


class ModelRunner(Protocol):
    """What turns a job's payload into its result."""

    async def run(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        """Return the result for ``complete_job``, or raise RateLimitedError or ModelError.

        Each model call is entered in ``calls`` when it ends, also when that is by being cancelled (docs/jobs.md).
        """


class _AnswerLostError(LeaseLostError):
    """The lease is gone, and so is the answer to an earlier attempt: the database may have taken that one."""


@dataclass
class WorkerCounts:
    """What became of the jobs a worker claimed.

    Attributes:
        completed: the result was applied.
        failed: the attempt failed; the queue retries it later or has given it up.
        released: given back uncounted, because of a rate limit or because the worker stopped.
        lost: neither could be reported, as a rule because the lease had run out; the queue sees to the job.
    """

    completed: int = 0
    failed: int = 0
    released: int = 0
    lost: int = 0

    @property
    def settled(self) -> int:
        """All of them together."""
        return self.completed + self.failed + self.released + self.lost

    def __str__(self) -> str:
        lost = f", {self.lost} lost" if self.lost else ""
        return f"{counted(self.completed, 'job')} completed, {self.failed} failed, {self.released} released{lost}"


@dataclass(frozen=True)
class _Queue:
    """How many jobs of all users wait, until when the first does, and how many are given up."""

    pending: int
    dead: int
    next_run_after: datetime | None


class Worker:
    """Claims jobs and runs them, several at a time.

    Args:
        conninfo: how to reach the database; the worker keeps a small pool of its own.
        name: how this worker signs its claims; host and process id when None.
        kinds: the kinds of jobs to claim; all when None.
        concurrency: how many model calls run at the same time.
        poll_interval: seconds between looks into an empty queue.
        lease: how long a job stays claimed without a sign of life.
        grace: seconds that running calls get to finish after ``stop()``.
        models: what runs a job; ``agent_memory_models.Models`` when None.
        listen: look into the queue at once when somebody notifies the channel ``agent_memory_jobs``.
        health_file: a file to replace by the worker's state at each look into the queue and for each job settled.
        on_settled: called whenever a job is done with, with the counts and with how many jobs there are in all: those
            done and those in the queue when it was last looked at, or None where the role may not see that.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        name: str | None = None,
        kinds: Sequence[str] | None = None,
        concurrency: int = 10,
        poll_interval: float = 1.0,
        lease: timedelta = timedelta(minutes=5),
        grace: float = 0.5,
        models: ModelRunner | None = None,
        listen: bool = False,
        health_file: Path | None = None,
        on_settled: Callable[[WorkerCounts, int | None], None] | None = None,
    ) -> None:
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.counts = WorkerCounts()
        self._conninfo = conninfo
        self._kinds = kinds
        self._concurrency = concurrency
        self._poll_interval = poll_interval
        self._lease = lease
        self._grace = grace
        self._models = models
        self._listens = listen
        self._health_file = health_file
        self._on_settled = on_settled
        self._stopping = asyncio.Event()
        self._wake = asyncio.Event()
        self._jobs: set[asyncio.Task[None]] = set()
        self._calls: set[asyncio.Future[dict[str, Any]]] = set()
        self._last_error: str | None = None
        self._last_claim_at: datetime | None = None
        self._queue: _Queue | None = None
        self._may_look = True
        self._total: int | None = None
        self._next_look = 0.0
        self._next_summary = time.monotonic() + _SUMMARY_INTERVAL
        self._summarized = 0
        self._said: set[tuple[str, str, str]] = set()

    def report(self) -> list[str]:
        """Return what was done and what is left, in lines; what this worker's role may not see is left out."""
        lines = [f"{self.counts}."]
        if self._queue is not None and self._queue.pending:
            waits = counted(self._queue.pending, "job waits", "jobs wait")
            first = self._queue.next_run_after
            if first is not None and first > datetime.now(timezone.utc):
                waits += f", the first until {first.astimezone():%Y-%m-%d %H:%M:%S}"
            lines.append(f"{waits}.")
        if self._queue is not None and self._queue.dead:
            dead = counted(self._queue.dead, "job is dead", "jobs are dead")
            lines.append(f"{dead}: see memory.dead_jobs and memory.retry_job().")
        if self._last_error is not None and (self.counts.failed or self.counts.lost):
            lines.append(f"Last error: {' '.join(self._last_error[:_MAX_ERROR_CHARACTERS].split())}")
        return lines

    def stop(self) -> None:
        """Claim nothing more, let running calls finish within the grace period and release the rest."""
        if self._calls and not self._stopping.is_set():
            logger.info("stopping: waiting up to %g s for %s", self._grace, counted(len(self._calls), "call"))
        self._stopping.set()
        self._wake.set()

    async def run(self, *, once: bool = False) -> WorkerCounts:
        """Work until ``stop()`` is called, or with ``once`` until no job can be claimed any more.

        Raises:
            psycopg.Error: at the start, when the database cannot be reached. A connection that is lost later is opened
                again.
            AgentMemoryError: there is no agent_memory, or this worker's role may not claim jobs.
            OSError: at the start, when the health file cannot be written.
        """
        # A plain connection first: a pool would go on retrying a wrong password instead of reporting it.
        async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True) as connection:
            installed = await AsyncMemory(connection).version()
        if self._health_file is not None:
            write_health(self._health_file, self._state())
        logger.info("worker %s started, the database has agent_memory %s", self.name, installed)
        pool = AsyncConnectionPool(
            self._conninfo,
            min_size=1,
            max_size=4,
            timeout=_CONNECT_TIMEOUT,
            reconnect_timeout=_CONNECT_TIMEOUT,
            open=False,
            configure=_limit_lock_waits,
            kwargs={"autocommit": True, "application_name": "agent-memory worker"},
        )
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(pool)
            models = self._models
            if models is None:
                models = await stack.enter_async_context(Models())
            if self._listens:
                listener = asyncio.create_task(self._listen())
                stack.callback(listener.cancel)
            await self._loop(pool, models, once)
            await self._look(pool)
        self._report()
        logger.info("worker %s stopped: %s", self.name, self.counts)
        return self.counts

    async def _loop(self, pool: AsyncConnectionPool[Any], models: ModelRunner, once: bool) -> None:
        memory = AsyncMemory(pool)
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                self._summarize()
                if self._on_settled is not None and time.monotonic() >= self._next_look:
                    await self._look(pool)
                    self._next_look = time.monotonic() + _LOOK_INTERVAL
                claimed = await self._claim(memory, self._concurrency - len(self._jobs))
                for job in claimed:
                    task = asyncio.create_task(self._work(memory, models, job))
                    self._jobs.add(task)
                    task.add_done_callback(self._end)
                self._report()
                if once and not self._jobs:
                    break
                if not claimed:
                    with suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self._wake.wait(), self._poll_interval)
            self._report()
            if self._jobs:
                await asyncio.wait(self._jobs, timeout=self._grace)
            for call in self._calls:
                call.cancel()
            if self._jobs:
                await asyncio.wait(self._jobs, timeout=self._grace)
        finally:
            for task in self._jobs:
                task.cancel()

    async def _look(self, pool: AsyncConnectionPool[Any]) -> None:
        """Count what is in the queue, if the role may see that: it is nothing that a worker needs."""
        self._queue = None
        if not self._may_look:
            return
        try:
            async with pool.connection(timeout=_LOOK_TIMEOUT / 1000) as connection, connection.transaction():
                await connection.execute(f"set local statement_timeout = {_LOOK_TIMEOUT}")
                cursor = connection.cursor(row_factory=class_row(_Queue))
                kinds = None if self._kinds is None else list(self._kinds)
                self._queue = await (await cursor.execute(_QUEUE, {"kinds": kinds})).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            self._may_look = False
        except psycopg.Error as error:
            logger.debug("cannot look at the queue: %s", error)
        if self._queue is not None:
            self._total = self.counts.settled + len(self._calls) + self._queue.pending

    def _summarize(self) -> None:
        """Say how far the work is, now and then and if there is news."""
        if self.counts.settled > self._summarized and time.monotonic() >= self._next_summary:
            self._next_summary = time.monotonic() + _SUMMARY_INTERVAL
            self._summarized = self.counts.settled
            self._said.clear()
            logger.info("%s, %d in flight", str(self.counts), len(self._jobs))

    def _end(self, task: asyncio.Task[None]) -> None:
        self._jobs.discard(task)
        self._wake.set()

    async def _listen(self) -> None:
        """Wake the loop at each notification; a lost connection is opened again, and polling goes on without one."""
        while True:
            await self._hear()
            await asyncio.sleep(_LISTEN_PAUSE)

    async def _hear(self) -> None:
        try:
            async with await psycopg.AsyncConnection.connect(
                self._conninfo, autocommit=True, application_name="agent-memory worker"
            ) as connection:
                await connection.execute(f"listen {CHANNEL}")
                self._wake.set()  # something may have been said while nobody listened
                async for _ in connection.notifies():
                    self._wake.set()
        except psycopg.Error as error:
            logger.warning("cannot listen, next attempt in %g s: %s", _LISTEN_PAUSE, error)

    async def _claim(self, memory: AsyncMemory, free: int) -> list[ClaimedJob]:
        """Claim as many jobs as there is room for, waiting for the database if need be, but not beyond ``stop()``."""
        backoffs = _backoffs()
        while free and not self._stopping.is_set():
            try:
                jobs = await memory.claim_jobs(self.name, kinds=self._kinds, max_jobs=free, lease=self._lease)
            except (RetryableError, psycopg.OperationalError) as error:
                backoff = next(backoffs)
                self._last_error = f"cannot claim jobs: {error}"
                logger.warning("cannot claim jobs, next attempt in %.1f s: %s", backoff, error)
            else:
                self._last_claim_at = datetime.now(timezone.utc)
                return jobs
            self._report()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), backoff)
        return []

    async def _work(self, memory: AsyncMemory, models: ModelRunner, job: ClaimedJob) -> None:
        """Run one job to its end; whatever happens to it stays within it."""
        calls: Calls = []
        call = asyncio.ensure_future(models.run(job.kind, job.payload, calls))
        self._calls.add(call)
        heartbeat = asyncio.create_task(self._keep_lease(memory, job, call))
        try:
            await self._settle(memory, job, call, calls)
        except _AnswerLostError:
            self._count("lost", job, ": the lease is gone after a lost connection, the result may have been accepted")
        except LeaseLostError:
            await self._record(memory, job, calls)
            self._count("lost", job, ": the lease is gone, the result is dropped")
        except (AgentMemoryError, psycopg.Error) as error:
            # Neither the result nor the failure could be reported; the lease runs out and the queue counts the attempt.
            await self._record(memory, job, calls)
            self._count("lost", job, f": {error}")
        finally:
            heartbeat.cancel()
            self._calls.discard(call)

    async def _settle(
        self, memory: AsyncMemory, job: ClaimedJob, call: asyncio.Future[dict[str, Any]], calls: Calls
    ) -> None:
        lease = (job.user_id, job.job_id, job.lease_token)
        try:
            result = await call
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise LeaseLostError("the heartbeat found the lease gone") from None
            await self._persistently(lambda: memory.release_job(*lease, calls=calls))
            self._count("released", job, ": the worker is stopping")
        except RateLimitedError as error:
            pause = None if error.retry_after is None else timedelta(seconds=error.retry_after)
            await self._persistently(lambda: memory.release_job(*lease, pause, calls))
            self._count("released", job, f": {error}")
        except Exception as error:
            await self._fail(memory, job, calls, reason_to_keep(error))
        else:
            try:
                await self._persistently(lambda: memory.complete_job(*lease, result, calls))
            except LeaseLostError:
                raise
            except AgentMemoryError as error:
                await self._fail(memory, job, calls, refusal_to_keep(error.sqlstate, error.message, None))
            except psycopg.Error as error:
                message, constraint = error.diag.message_primary or "", error.diag.constraint_name
                await self._fail(memory, job, calls, refusal_to_keep(error.sqlstate, message, constraint))
            else:
                self._count("completed", job)

    async def _fail(self, memory: AsyncMemory, job: ClaimedJob, calls: Calls, reason: str) -> None:
        status = await self._persistently(
            lambda: memory.fail_job(job.user_id, job.job_id, job.lease_token, reason, calls=calls)
        )
        self._count("failed", job, f" (now {status}): {reason}")

    async def _record(self, memory: AsyncMemory, job: ClaimedJob, calls: Calls) -> None:
        """Enter the calls of a job that is no longer this worker's: they were paid all the same."""
        if not calls:
            return
        try:
            await self._persistently(lambda: memory.record_calls(job.user_id, job.job_id, calls))
        except (AgentMemoryError, psycopg.Error) as error:
            logger.warning("job %s (%s): its calls could not be recorded: %s", job.job_id, job.kind, error)

    async def _keep_lease(self, memory: AsyncMemory, job: ClaimedJob, call: asyncio.Future[dict[str, Any]]) -> None:
        """Extend the lease as long as the job runs; a call whose lease is gone is not worth waiting for."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            try:
                await memory.extend_job(job.user_id, job.job_id, job.lease_token, self._lease)
            except LeaseLostError:
                call.cancel()
                return
            except (AgentMemoryError, psycopg.Error) as error:
                logger.warning("job %s (%s): heartbeat failed: %s", job.job_id, job.kind, error)

    async def _persistently(self, action: Callable[[], Awaitable[Value]]) -> Value:
        """Repeat a database call while the database is out of reach or concurrent work gets in its way.

        A result may have been paid for, so it is kept for as long as it takes. When the connection broke after the
        database had accepted it, the repetition finds the lease gone, and nothing is applied or recorded twice.
        """
        was_cut_off = False
        for backoff in _backoffs():
            try:
                return await action()
            except LeaseLostError as error:
                if was_cut_off:
                    raise _AnswerLostError(error.message, hint=error.hint) from error
                raise
            except RetryableError as error:
                reason = str(error)
            except psycopg.OperationalError as error:
                if not _is_out_of_reach(error):
                    raise
                was_cut_off = True
                reason = str(error)
            self._last_error = f"the database call failed: {reason}"
            logger.warning("the database call failed, next attempt in %.1f s: %s", backoff, reason)
            await asyncio.sleep(backoff)
        raise AssertionError("the backoffs never end")

    def _count(
        self, outcome: Literal["completed", "failed", "released", "lost"], job: ClaimedJob, detail: str = ""
    ) -> None:
        setattr(self.counts, outcome, getattr(self.counts, outcome) + 1)
        level = {"completed": logging.DEBUG, "released": logging.INFO}.get(outcome, logging.WARNING)
        # When a provider is down, hundreds of jobs say the same.
        if (job.kind, outcome, detail) in self._said:
            level = logging.DEBUG
        self._said.add((job.kind, outcome, detail))
        logger.log(level, "job %s (%s, attempt %s) %s%s", job.job_id, job.kind, job.attempt, outcome, detail)
        if outcome in ("failed", "lost"):
            self._last_error = f"job {job.job_id} ({job.kind}) {outcome}{detail}"
        self._report()
        if self._on_settled is not None:
            self._on_settled(self.counts, self._total)

    def _report(self) -> None:
        if self._health_file is not None:
            try:
                write_health(self._health_file, self._state())
            except OSError as error:
                logger.warning("cannot write the health file: %s", error)

    def _state(self) -> dict[str, Any]:
        return {
            "worker": self.name,
            "pid": os.getpid(),
            "version": client_version(),
            "state": "stopping" if self._stopping.is_set() else "polling",
            "in_flight": len(self._calls),
            "counts": asdict(self.counts),
            "last_error": self._last_error and self._last_error[:_MAX_ERROR_CHARACTERS],
            "last_claim_at": self._last_claim_at and self._last_claim_at.isoformat(),
        }


async def _limit_lock_waits(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.execute(f"set lock_timeout = {_LOCK_TIMEOUT}")


def _backoffs() -> Iterator[float]:
    backoff = _FIRST_BACKOFF
    while True:
        yield backoff
        backoff = min(backoff * 2, _LONGEST_BACKOFF)


def _is_out_of_reach(error: psycopg.OperationalError) -> bool:
    """Tell a lost connection or a server that is starting or stopping from the refusal of one statement."""
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
