"""One claimed job: the call of its model, the lease meanwhile, and the hand-in of the outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Literal, Protocol, TypeVar

import psycopg
from agent_memory_models import RateLimitedError, as_json, reason_to_keep, refusal_to_keep
from agent_memory_models.payload import Vectors

from ..calls import AsyncWorkerProtocol
from ..calls.arguments import Written
from ..errors import AgentMemoryError, LeaseLostError
from ..types import ClaimedJob
from .persistence import AnswerLostError, persistently

logger = logging.getLogger("agent_memory.worker")

HEARTBEATS = 3
"""How often a lease is extended in the time for which it is given: two attempts may fail."""

Outcome = Literal["completed", "failed", "released", "lost"]
Calls = list[dict[str, Any]]
Value = TypeVar("Value")


class ModelRunner(Protocol):
    """An object that turns a job's payload into its result, such as agent_memory_models.Models."""

    async def run(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        """Return the result for ``complete_job``, or raise RateLimitedError or ModelError.

        Each model call is entered in ``calls`` when it ends, also when it ends by being cancelled (docs/jobs.md).
        """


class JobRun:
    """The run of one claimed job, which begins at once.

    Attributes:
        call: the call of the model. When it is cancelled while the worker goes on, the lease is taken for lost.
    """

    def __init__(
        self,
        protocol: AsyncWorkerProtocol,
        models: ModelRunner,
        job: ClaimedJob,
        *,
        lease: timedelta,
        stopping: asyncio.Event,
        note: Callable[[str], None],
    ) -> None:
        self._protocol = protocol
        self._job = job
        self._lease = lease
        self._stopping = stopping
        self._note = note
        self._calls: Calls = []
        self.call = asyncio.ensure_future(models.run(job.kind, job.payload, self._calls))

    async def finish(self) -> tuple[Outcome, str]:
        """Keep the lease while the model works, hand in the outcome, and return it with a detail for the log."""
        heartbeat = asyncio.create_task(self._keep_lease())
        try:
            return await self._hand_in()
        except AnswerLostError:
            return "lost", ": the lease is gone after a lost connection, the result may have been accepted"
        except LeaseLostError:
            await self._record()
            return "lost", ": the lease is gone, the result is dropped"
        except (AgentMemoryError, psycopg.Error) as error:
            # Neither the result nor the failure could be reported; the lease runs out and the queue counts the attempt.
            await self._record()
            return "lost", f": {error}"
        finally:
            heartbeat.cancel()

    async def _hand_in(self) -> tuple[Outcome, str]:
        job, calls = self._job, self._calls
        lease = (job.user_id, job.job_id, job.lease_token)
        try:
            result: Any = await self.call
            if isinstance(result, dict) and isinstance(result.get("embeddings"), Vectors):
                result = Written(result, dumps=as_json)
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise LeaseLostError("the heartbeat found the lease gone") from None
            await self._persistently(lambda: self._protocol.release_job(*lease, calls=calls))
            return "released", ": the worker is stopping"
        except RateLimitedError as error:
            pause = None if error.retry_after is None else timedelta(seconds=error.retry_after)
            await self._persistently(lambda: self._protocol.release_job(*lease, pause, calls))
            return "released", f": {error}"
        except Exception as error:
            return await self._fail(reason_to_keep(error))
        try:
            await self._persistently(lambda: self._protocol.complete_job(*lease, result, calls))
        except LeaseLostError:
            raise
        except AgentMemoryError as error:
            return await self._fail(refusal_to_keep(error.sqlstate, error.message, None))
        except psycopg.Error as error:
            message, constraint = error.diag.message_primary or "", error.diag.constraint_name
            return await self._fail(refusal_to_keep(error.sqlstate, message, constraint))
        return "completed", ""

    async def _fail(self, reason: str) -> tuple[Outcome, str]:
        job = self._job
        status = await self._persistently(
            lambda: self._protocol.fail_job(job.user_id, job.job_id, job.lease_token, reason, calls=self._calls)
        )
        return "failed", f" (now {status}): {reason}"

    async def _record(self) -> None:
        """Enter the calls of a job that this worker has lost, because somebody has paid for them."""
        job = self._job
        if not self._calls:
            return
        try:
            await self._persistently(lambda: self._protocol.record_calls(job.user_id, job.job_id, self._calls))
        except (AgentMemoryError, psycopg.Error) as error:
            logger.warning("job %s (%s): its calls could not be recorded: %s", job.job_id, job.kind, error)

    async def _keep_lease(self) -> None:
        """Extend the lease as long as the job runs; cancel the call once the lease is gone."""
        job = self._job
        while True:
            await asyncio.sleep(self._lease.total_seconds() / HEARTBEATS)
            try:
                await self._protocol.extend_job(job.user_id, job.job_id, job.lease_token, self._lease)
            except LeaseLostError:
                self.call.cancel()
                return
            except (AgentMemoryError, psycopg.Error) as error:
                logger.warning("job %s (%s): heartbeat failed: %s", job.job_id, job.kind, error)

    async def _persistently(self, action: Callable[[], Awaitable[Value]]) -> Value:
        return await persistently(action, self._note)
