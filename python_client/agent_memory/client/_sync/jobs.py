# Generated from _async/jobs.py by generate_sync.py; do not edit.
"""The methods that queue model work."""

from __future__ import annotations

from ...choices import SummaryKind
from ...types import Job
from .caller import SyncCaller


class SyncJobs(SyncCaller):
    """The methods that queue model work."""

    def summarize_thread(
        self, user_id: str, thread_id: str, recent_k: int | None = None, kind: SummaryKind | None = None
    ) -> int:
        """Queue a summary of the thread and return the job's id; ``recent_k`` limits the messages that it reads.

        ``kind`` is thread (of all its messages) or rolling (what a context shows in place of messages that do not fit);
        None is the one that the policy makes by itself.
        """
        return self._value(
            int, "summarize_thread", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k, kind=kind
        )

    def compress_thread(self, user_id: str, thread_id: str) -> int:
        """Queue a summary that takes the place of the thread's older messages and return the job's id."""
        return self._value(int, "compress_thread", {"user_id": user_id, "thread_id": thread_id})

    def extract_memories(self, user_id: str, thread_id: str, recent_k: int | None = None) -> int:
        """Queue the extraction of memories from the thread and return the job's id."""
        return self._value(int, "extract_memories", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k)

    def summarize_user(self, user_id: str, recent_k: int | None = None) -> int:
        """Queue the user's profile and return the job's id; ``recent_k`` limits the messages that it reads."""
        return self._value(int, "summarize_user", {"user_id": user_id}, recent_k=recent_k)

    def reconcile_memories(self, user_id: str, n: int | None = 50) -> int:
        """Queue a search for duplicates and contradictions among the ``n`` newest facts and return the job's id."""
        return self._value(int, "reconcile_memories", {"user_id": user_id}, n=n)

    def consolidate(self, user_id: str) -> int:
        """Queue the merging of old short-term memories into articles and return the job's id."""
        return self._value(int, "consolidate", {"user_id": user_id})

    def get_job(self, user_id: str, job_id: int) -> Job:
        """Return a job; NotFoundError when there is none."""
        return self._row(Job, "get_job", {"user_id": user_id, "job_id": job_id})

    def retry_job(self, user_id: str, job_id: int) -> None:
        """Queue a dead job again."""
        self._select("retry_job", {"user_id": user_id, "job_id": job_id})
