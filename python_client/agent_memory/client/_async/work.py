"""The methods that queue model work, look at a job, and run jobs inside the database."""

from __future__ import annotations

from ...calls import AsyncMethods, Function, sql_function
from ...choices import SummaryKind
from ...errors import NotSupportedError
from ...types import Job


class AsyncWork(AsyncMethods):
    """The methods that queue model work, look at a job, and run jobs inside the database."""

    @sql_function
    async def summarize_thread(
        self, user_id: str, thread_id: str, recent_k: int | None = None, kind: SummaryKind | None = None
    ) -> int:
        """Queue a summary of the thread and return the job's id; ``recent_k`` limits the messages that it reads.

        ``kind`` is thread (of all its messages) or rolling (what a context shows in place of messages that do not fit);
        None is the one that the policy makes by itself.
        """

    @sql_function
    async def compress_thread(self, user_id: str, thread_id: str) -> int:
        """Queue a summary that takes the place of the thread's older messages and return the job's id."""

    @sql_function
    async def extract_memories(self, user_id: str, thread_id: str, recent_k: int | None = None) -> int:
        """Queue the extraction of memories from the thread and return the job's id."""

    @sql_function
    async def summarize_user(self, user_id: str, recent_k: int | None = None) -> int:
        """Queue the user's profile and return the job's id; ``recent_k`` limits the messages that it reads."""

    @sql_function
    async def reconcile_memories(self, user_id: str, n: int | None = 50) -> int:
        """Queue a search for duplicates and contradictions among the ``n`` newest facts and return the job's id."""

    @sql_function
    async def consolidate(self, user_id: str) -> int:
        """Queue the merging of old short-term memories into articles and return the job's id."""

    @sql_function
    async def get_job(self, user_id: str, job_id: int) -> Job:
        """Return a job; NotFoundError when there is none."""

    @sql_function
    async def retry_job(self, user_id: str, job_id: int) -> None:
        """Queue a dead job again."""

    async def run_jobs(self, max_jobs: int | None = 100, max_seconds: int | None = 60) -> None:
        """Run queued jobs inside the database; needs plpython3u there and no open transaction here.

        Raises:
            AgentMemoryError: the connection is inside a transaction.
            NotSupportedError: the server has no PL/Python, which an embedded one never has.
        """
        if self.caller.store is not None:
            raise NotSupportedError(
                "run_jobs() needs PL/Python, which an embedded store does not have",
                hint="The store's own worker does this work: leave the call out. get_job() says when it is done.",
            )
        function = Function(AsyncWork.run_jobs)
        await self.caller.call_procedure(function, {"max_jobs": max_jobs, "max_seconds": max_seconds})
