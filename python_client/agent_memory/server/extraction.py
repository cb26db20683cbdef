"""Facts and preferences out of messages while the caller waits: the job that extracts memories, done at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..calls import AsyncWorkerProtocol
from ..client import AsyncMemory
from ..errors import NotFoundError
from ..jobs.background import is_done_in_loop
from ..jobs.due_jobs import DueJobs, settled
from ..types import MemoryRecord
from .problems import ProblemError

_KIND = "extract_memories"
_LONGEST = 90.0
"""Seconds that a caller waits at most; the job goes on."""


async def extract(
    memory: AsyncMemory, user_id: str, agent_id: str, messages: Sequence[Mapping[str, Any]]
) -> list[MemoryRecord]:
    """Return the memories that messages add for an agent, which no earlier message had said.

    The messages go through a thread of the agent that holds nothing afterwards: whoever wants to keep the conversation
    stores it as such, and would find it twice otherwise.
    """
    thread_id = f"summarize/{agent_id}"[:255]
    stored = await memory.add_messages(user_id, thread_id, messages, agent_id=agent_id)
    seqs = {message.seq for message in stored if message.seq is not None}
    if not seqs:
        return []  # the policy of the agent has no resource memory
    end = time.monotonic() + _LONGEST
    # A job that ran already when the messages came has not read them: then another one follows.
    while await _read_through(memory, user_id, thread_id, end) < max(seqs):
        if time.monotonic() > end:
            raise _late()
    found = await memory.list_memories(user_id, agent_id=agent_id, thread_id=thread_id, row_limit=1000)
    # Messages of another call that came meanwhile are not read yet; that call clears the thread.
    newest = await memory.get_messages(user_id, thread_id, recent_k=1)
    if newest and newest[0].seq in seqs:
        await memory.clear_thread(user_id, thread_id)
    return [each for each in reversed(found) if seqs.intersection(each.source_seqs or ())]


async def _read_through(memory: AsyncMemory, user_id: str, thread_id: str, end: float) -> int:
    """Have a thread read, by this process or by a worker, and return the last message that was read."""
    job_id = await memory.extract_memories(user_id, thread_id)
    try:
        job = await settled(
            lambda: DueJobs(AsyncWorkerProtocol(memory.caller), asyncio.get_running_loop(), user_id, _KIND),
            lambda: memory.get_job(user_id, job_id),
            is_done_in_loop,
            end - time.monotonic(),
            gives_up=True,
        )
    except NotFoundError:  # the job was swept
        return -1
    if job is None:
        raise _late(None if time.monotonic() > end else "the chat model could not be asked")
    if job.status == "dead":
        raise _late(job.error)
    return int((job.result or {}).get("through_seq", -1))


def _late(reason: str | None = None) -> ProblemError:
    said = "" if reason is None else f": {reason}"
    return ProblemError(
        503,
        f"nothing is extracted yet{said}",
        hint="The messages are kept and a worker extracts them; agent-memory status tells how the model goes.",
        headers={"Retry-After": "30"},
    )
