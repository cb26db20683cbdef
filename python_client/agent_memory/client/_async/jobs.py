"""The methods that queue model work."""

from __future__ import annotations

from ...choices import SummaryKind
from ...types import Job
from .caller import AsyncCaller


class AsyncJobs(AsyncCaller):
    """The methods that queue model work."""

    async def summarize_thread(
        self, user_id: str, thread_id: str, recent_k: int | None = None, kind: SummaryKind | None = None
    ) -> int:
        """Queue a summary of the thread and return the job's id; ``recent_k`` limits the messages that it reads.

        ``kind`` is thread (of all its messages) or rolling (what a context shows in place of messages that do not fit);
        None is the one that the policy makes by itself.
        """
        return await self._value(
            int, "summarize_thread", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k, kind=kind
        )

    async def compress_thread(self, user_id: str, thread_id: str) -> int:
        """Queue a summary that takes the place of the thread's older messages and return the job's id."""
        return await self._value(int, "compress_thread", {"user_id": user_id, "thread_id": thread_id})

    async def extract_memories(self, user_id: str, thread_id: str, recent_k: int | None = None) -> int:
        """Queue the extraction of memories from the thread and return the job's id."""
        return await self._value(
            int, "extract_memories", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k
        )

    async def summarize_user(self, user_id: str, recent_k: int | None = None) -> int:
        """Queue the user's profile and return the job's id; ``recent_k`` limits the messages that it reads."""
        return await self._value(int, "summarize_user", {"user_id": user_id}, recent_k=recent_k)

    async def reconcile_memories(self, user_id: str, n: int | None = 50) -> int:
        """Queue a search for duplicates and contradictions among the ``n`` newest facts and return the job's id."""
        return await self._value(int, "reconcile_memories", {"user_id": user_id}, n=n)

    async def consolidate(self, user_id: str) -> int:
        """Queue the merging of old short-term memories into articles and return the job's id."""
        return await self._value(int, "consolidate", {"user_id": user_id})

    async def get_job(self, user_id: str, job_id: int) -> Job:
        """Return a job; NotFoundError when there is none."""
        return await self._row(Job, "get_job", {"user_id": user_id, "job_id": job_id})

    async def retry_job(self, user_id: str, job_id: int) -> None:
        """Queue a dead job again."""
        await self._select("retry_job", {"user_id": user_id, "job_id": job_id})
