"""Claims jobs and runs several of them at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
from agent_memory_models import LEASE_SECONDS, Models
from agent_memory_models.jobs import import_job_modules
from psycopg_pool import AsyncConnectionPool

from .. import _hooks
from .._text import counted
from ..calls import AsyncCaller, AsyncWorkerProtocol, async_translated
from ..errors import RetryableError, client_version, connecting
from ..jobs.job import JobRun, ModelRunner
from ..jobs.persistence import backoffs
from ..schema import async_cursors_in, named_schema
from ..types import ClaimedJob
from .database import CONNECT_TIMEOUT, NodeCaller, prepare
from .health import write_health
from .listening import listen as listen_for_jobs
from .outcomes import Outcomes, WorkerCounts
from .queue import QueueLook
from .room import Room

logger = logging.getLogger("agent_memory.worker")

LEASE = timedelta(seconds=LEASE_SECONDS)
_CLAIM_SECONDS = 10.0
"""Seconds that a claim may take: a database that hangs holds the room of other nodes meanwhile."""
_LOOK_INTERVAL = 2.0
"""Seconds between looks at how much is left, while somebody watches."""
_REPORT_INTERVAL = 15.0
"""Seconds between looks for metrics: of 200,000 jobs a look takes 60 ms."""
_RELEASE = 5.0
"""Seconds at most in which a worker that stops gives unfinished jobs back. A release takes milliseconds, but without it
a job waits for the end of its lease, and on a busy machine half a second was too short."""


def default_name() -> str:
    """Return how a worker of this process signs its claims, unless it is told."""
    return f"{socket.gethostname()}:{os.getpid()}"


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
        node: the node of a cluster that the database is, for the log.
        cluster: calls the other nodes of the cluster.
        room: room for model calls that is shared with the workers of other nodes.
        on_settled: called whenever a job is done with, with the counts and with how many jobs there are in all: those
            done and those in the queue when it was last looked at, or None where the role may not see that.
        schema: the schema of the installation; None is that of AGENT_MEMORY_SCHEMA, else ``memory``.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        name: str | None = None,
        kinds: Sequence[str] | None = None,
        concurrency: int = 10,
        poll_interval: float = 1.0,
        lease: timedelta = LEASE,
        grace: float = 0.5,
        models: ModelRunner | None = None,
        listen: bool = False,
        health_file: Path | None = None,
        node: str | None = None,
        cluster: AsyncCaller | None = None,
        room: Room | None = None,
        on_settled: Callable[[WorkerCounts, int | None], None] | None = None,
        schema: str | None = None,
    ) -> None:
        self.name = name or default_name()
        self._schema = named_schema(schema)
        self._conninfo = conninfo
        self._kinds = kinds
        self._concurrency = concurrency
        self._poll_interval = poll_interval
        self._lease = lease
        self._grace = grace
        self._models = models
        self._listens = listen
        self._health_file = health_file
        self._node_name = node or ""
        self._node = "" if node is None else f'node "{node}": '
        self._cluster = cluster
        self._room = Room(concurrency) if room is None else room
        self._on_settled = on_settled
        self._outcomes = Outcomes()
        self._queue = QueueLook(kinds)
        self._stopping = asyncio.Event()
        self._wake = asyncio.Event()
        self._pauses = backoffs()
        self._is_away = False
        self._jobs: set[asyncio.Task[None]] = set()
        self._calls: set[asyncio.Future[dict[str, Any]]] = set()
        self._last_claim_at: datetime | None = None
        self._claimed = 0
        self._total: int | None = None
        self._next_look = 0.0

    @property
    def counts(self) -> WorkerCounts:
        """What became of the jobs claimed so far."""
        return self._outcomes.counts

    def report(self) -> list[str]:
        """Return in lines what was done, and what is left where this worker's role may see the queue."""
        lines = [f"{self.counts}.", *self._queue.lines()]
        error = self._outcomes.shortened_error()
        if error is not None and self.counts.settled > self.counts.completed:
            lines.append(f"Last error: {' '.join(error.split())}")
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
            NotConnectedError: at the start, when the database cannot be reached. A connection that is lost later is
                opened again.
            AgentMemoryError: there is no agent_memory, or this worker's role may not claim jobs.
            OSError: at the start, when the health file cannot be written.
        """
        # A plain connection first: a pool would go on retrying a wrong password instead of reporting it.
        installed = await self._installed()
        if self._health_file is not None:
            write_health(self._health_file, self.state())
        logger.info("%sworker %s started, the database has agent_memory %s", self._node, self.name, installed)
        pool = AsyncConnectionPool(
            self._conninfo,
            min_size=1,
            max_size=4,
            timeout=CONNECT_TIMEOUT,
            reconnect_timeout=CONNECT_TIMEOUT,
            open=False,
            configure=prepare,
            kwargs={
                "autocommit": True,
                "application_name": "agent-memory worker",
                "cursor_factory": async_cursors_in(self._schema),
            },
        )
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(pool)
            models = self._models
            if models is None:
                models = await stack.enter_async_context(Models())
                import_job_modules()
            if self._listens:
                listener = asyncio.create_task(listen_for_jobs(self._conninfo, self._wake.set))
                stack.callback(listener.cancel)
            await self._loop(pool, models, once)
            await self._look(pool)
        self._report()
        logger.info("%sworker %s stopped: %s", self._node, self.name, self.counts)
        return self.counts

    async def _installed(self) -> str:
        """Return the version of the database, which shows that it answers."""
        with connecting(self._conninfo):
            opened = await psycopg.AsyncConnection.connect(
                self._conninfo, autocommit=True, cursor_factory=async_cursors_in(self._schema)
            )
        async with opened as connection, async_translated(connection, "version"):
            [installed] = await (await connection.execute("select memory.version()")).fetchone() or [""]
        return str(installed)

    async def _loop(self, pool: AsyncConnectionPool[Any], models: ModelRunner, once: bool) -> None:
        protocol = AsyncWorkerProtocol(NodeCaller(pool, self._cluster))
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                self._outcomes.summarize(len(self._jobs))
                interval = _LOOK_INTERVAL if self._on_settled is not None else _REPORT_INTERVAL
                is_watched = self._on_settled is not None or _hooks.queue_seen is not None
                if is_watched and time.monotonic() >= self._next_look:
                    await self._look(pool)
                    self._next_look = time.monotonic() + interval
                # A job that ends during a claim may have kept others back from the claim, which then decides nothing.
                is_idle = not self._jobs
                claimed = await self._claim(protocol)
                for job in claimed or []:
                    task = asyncio.create_task(self._work(protocol, models, job))
                    self._jobs.add(task)
                    task.add_done_callback(self._end)
                self._report()
                if once and claimed == [] and is_idle:
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
                await asyncio.wait(self._jobs, timeout=max(self._grace, _RELEASE))
        finally:
            self._room.leave(self._wake.set)
            for task in self._jobs:
                task.cancel()

    async def _look(self, pool: AsyncConnectionPool[Any]) -> None:
        """Look into the queue, for those who watch."""
        await self._queue.look(pool)
        if self._queue.stats is not None:
            self._total = self._claimed + self._queue.stats.pending
            if _hooks.queue_seen is not None:
                _hooks.queue_seen(self._node_name, self._queue.stats)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._jobs.discard(task)
        self._wake.set()

    async def _claim(self, protocol: AsyncWorkerProtocol) -> list[ClaimedJob] | None:
        """Claim as many jobs as there is room for; None where there is no room, or the database does not answer."""
        try:
            if self._is_away:  # without room, which other nodes could use while this waits for an answer
                await asyncio.wait_for(self._installed(), _CLAIM_SECONDS)
            free = self._room.take(self._concurrency - len(self._jobs), self._wake.set)
            if not free:
                return None
            jobs: list[ClaimedJob] = []
            try:
                jobs = await asyncio.wait_for(
                    protocol.claim_jobs(self.name, kinds=self._kinds, max_jobs=free, lease=self._lease), _CLAIM_SECONDS
                )
            finally:
                self._room.give(free - len(jobs))
        except (RetryableError, psycopg.OperationalError, asyncio.TimeoutError) as error:
            await self._wait_for_database(str(error) or f"no answer within {_CLAIM_SECONDS:g} s")
            return None
        if self._is_away:
            logger.warning("%sjobs can be claimed again", self._node)
            self._is_away, self._pauses = False, backoffs()
        self._last_claim_at = datetime.now(timezone.utc)
        self._claimed += len(jobs)
        return jobs

    async def _wait_for_database(self, problem: str) -> None:
        """Wait until the next attempt, but not beyond ``stop()``. The first one that fails is logged."""
        self._room.leave(self._wake.set)
        self._outcomes.last_error = f"cannot claim jobs: {problem}"
        level = logging.DEBUG if self._is_away else logging.WARNING
        logger.log(level, "%scannot claim jobs, and tries again until it can: %s", self._node, problem)
        self._is_away = True
        self._report()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), next(self._pauses))

    async def _work(self, protocol: AsyncWorkerProtocol, models: ModelRunner, job: ClaimedJob) -> None:
        """Run one job to its end; its errors end with it."""
        run = JobRun(protocol, models, job, lease=self._lease, stopping=self._stopping, note=self._note)
        self._calls.add(run.call)
        run.call.add_done_callback(lambda _: self._room.give(1))
        try:
            outcome, detail = await run.finish()
            self._outcomes.enter(outcome, job, detail)
            self._report()
            if self._on_settled is not None:
                # Jobs that were queued and claimed since the last look, such as those that follow others, count too.
                self._on_settled(self.counts, None if self._total is None else max(self._total, self._claimed))
        finally:
            self._calls.discard(run.call)

    def _note(self, error: str) -> None:
        self._outcomes.last_error = error

    def _report(self) -> None:
        """Write the health file, where one is wanted."""
        if self._health_file is not None:
            try:
                write_health(self._health_file, self.state())
            except OSError as error:
                logger.warning("cannot write the health file: %s", error)

    def state(self) -> dict[str, Any]:
        """Return what the health file says."""
        return {
            "worker": self.name,
            "pid": os.getpid(),
            "version": client_version(),
            "state": "stopping" if self._stopping.is_set() else "polling",
            "in_flight": len(self._calls),
            "counts": asdict(self.counts),
            "last_error": self._outcomes.shortened_error(),
            "last_claim_at": self._last_claim_at and self._last_claim_at.isoformat(),
        }
