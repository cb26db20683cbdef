"""The embed jobs that a client does before a search, by the code of the worker."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from datetime import timedelta
from functools import partial
from typing import Any

from agent_memory_models import ModelError, RateLimitedError

from ..types import ClaimedJob
from ..worker.job import JobRun
from .background import call_soon, models, submit

logger = logging.getLogger("agent_memory")

LEASE = timedelta(seconds=30)
"""Short: a client that is killed holds its jobs no longer."""
MAX_JOBS = 4
LONGEST = 60.0
"""Seconds after which jobs are dropped whose outcome the database does not take; their leases have run out by then."""


def client_name() -> str:
    """How a client signs its claims."""
    return f"client {socket.gethostname()}:{os.getpid()}"


class DueJobs:
    """Claimed jobs under way in the background thread.

    Args:
        memory: the client, asynchronous or not.
        loop: the event loop of an asynchronous client.
        jobs: what it has claimed with LEASE.

    Attributes:
        end: done when each job is handed in or given back.
    """

    def __init__(self, memory: Any, loop: asyncio.AbstractEventLoop | None, jobs: Sequence[ClaimedJob]) -> None:
        self._memory: Any = _Protocol(memory, loop)
        self._stopping: asyncio.Event | None = None
        self._runs: list[JobRun] = []
        self._is_stopped = False
        self._runner = _Runner()
        self.end: Future[None] = submit(self._work(jobs))

    def give_back(self) -> None:
        """Stop the model calls and give back their jobs, which does not count as an attempt."""
        self._is_stopped = True
        call_soon(self._cancel)

    def has_succeeded(self) -> bool:
        """Whether all is handed in, and each model call gave a result."""
        return not (self.end.cancelled() or self.end.exception() is not None or self._runner.has_failed)

    async def _work(self, jobs: Sequence[ClaimedJob]) -> None:
        self._stopping = asyncio.Event()
        options: Any = {"lease": LEASE, "stopping": self._stopping, "note": logger.debug}
        self._runs = [JobRun(self._memory, self._runner, job, **options) for job in jobs]
        if self._is_stopped:
            self._cancel()
        outcomes = await asyncio.wait_for(asyncio.gather(*(run.finish() for run in self._runs)), LONGEST)
        for job, (outcome, detail) in zip(jobs, outcomes, strict=True):
            logger.debug("job %s (%s) %s before a search%s", job.job_id, job.kind, outcome, detail)

    def _cancel(self) -> None:
        if self._stopping is not None:
            self._stopping.set()
            for run in self._runs:
                run.call.cancel()


class _Protocol:
    """The methods of a client as coroutines of the background thread."""

    def __init__(self, memory: Any, loop: asyncio.AbstractEventLoop | None) -> None:
        self._memory = memory
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._memory, name)

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
