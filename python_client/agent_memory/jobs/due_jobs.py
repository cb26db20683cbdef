"""Due jobs of one user that a process does itself, by the code of the worker, because somebody waits for them."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from datetime import timedelta
from functools import partial
from typing import Any

from agent_memory_models import ModelError, RateLimitedError

from ..calls import AsyncWorkerProtocol, WorkerProtocol
from ..errors import AgentMemoryError
from ..types import ClaimedJob, Job
from .background import call_soon, models, submit
from .job import JobRun

logger = logging.getLogger("agent_memory")

LEASE = timedelta(seconds=30)
"""Short: a process that is killed holds its jobs no longer."""
MAX_JOBS = 4
LONGEST = 60.0
"""Seconds after which jobs are dropped whose outcome the database does not take; their leases have run out by then."""
_PAUSE = 0.05
"""Seconds between two looks at a job that a worker does."""


class DueJobs:
    """Jobs of one kind that the background thread claims and does.

    Attributes:
        end: done when each job is handed in or given back.
        jobs: what was claimed; empty where nothing is due that no worker does.
        refusal: why the database lets this process claim nothing.
    """

    def __init__(
        self,
        protocol: AsyncWorkerProtocol | WorkerProtocol,
        loop: asyncio.AbstractEventLoop | None,
        user_id: str,
        kind: str,
    ) -> None:
        self.jobs: Sequence[ClaimedJob] = ()
        self.refusal: AgentMemoryError | None = None
        self._protocol: Any = _Threaded(protocol, loop)
        self._stopping: asyncio.Event | None = None
        self._runs: list[JobRun] = []
        self._is_stopped = False
        self._runner = _Runner()
        self.end: Future[None] = submit(self._work(user_id, kind))

    def give_back(self) -> None:
        """Stop the model calls and give back their jobs, which does not count as an attempt."""
        self._is_stopped = True
        call_soon(self._cancel)

    def has_succeeded(self) -> bool:
        """Whether all is handed in, and each model call gave a result."""
        return not (self.end.cancelled() or self.end.exception() is not None or self._runner.has_failed)

    async def _work(self, user_id: str, kind: str) -> None:
        self._stopping = asyncio.Event()
        worker = f"client {socket.gethostname()}:{os.getpid()}"
        try:
            self.jobs = await self._protocol.claim_jobs(worker, [kind], MAX_JOBS, LEASE, user_id)
        except AgentMemoryError as error:
            self.refusal = error
        options: Any = {"lease": LEASE, "stopping": self._stopping, "note": logger.debug}
        self._runs = [JobRun(self._protocol, self._runner, job, **options) for job in self.jobs]
        if self._is_stopped:
            self._cancel()
        outcomes = await asyncio.wait_for(asyncio.gather(*(run.finish() for run in self._runs)), LONGEST)
        for job, (outcome, detail) in zip(self.jobs, outcomes, strict=True):
            logger.debug("job %s (%s) %s in this process%s", job.job_id, job.kind, outcome, detail)

    def _cancel(self) -> None:
        if self._stopping is not None:
            self._stopping.set()
            for run in self._runs:
                run.call.cancel()


async def settled(
    start: Callable[[], DueJobs],
    look: Callable[[], Awaitable[Job]],
    wait: Callable[[Future[None], float], Awaitable[object]],
    seconds: float,
    *,
    gives_up: bool = False,
) -> Job | None:
    """Do due jobs until one of them is completed or dead, and return that; None where it takes too long.

    What a worker does is waited for. What takes too long goes on.
    """
    end = time.monotonic() + seconds
    due = start()
    while True:
        await wait(due.end, max(end - time.monotonic(), 0.0))
        is_over = time.monotonic() > end
        has_failed = due.end.done() and not due.has_succeeded()
        job = await look()
        if job.status in ("completed", "dead"):
            return job
        if is_over or (gives_up and has_failed):
            return None
        await wait(Future(), _PAUSE)
        if due.end.done() and not has_failed and due.refusal is None:
            due = start()


class _Threaded:
    """The functions of workers as coroutines of the background thread."""

    def __init__(self, protocol: AsyncWorkerProtocol | WorkerProtocol, loop: asyncio.AbstractEventLoop | None) -> None:
        self._protocol = protocol
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._protocol, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            if self._loop is None:
                return await asyncio.to_thread(partial(method, *arguments, **options))
            coroutine = method(*arguments, **options)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

        return call


class _Runner:
    """Runs jobs, and gives back at once those that fail here: a worker may have the key or the weights."""

    def __init__(self) -> None:
        self.has_failed = False

    async def run(self, kind: str, payload: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
        try:
            return await models().run(kind, payload, calls)
        except ModelError as error:
            self.has_failed = True
            raise RateLimitedError(str(error), retry_after=0) from None
