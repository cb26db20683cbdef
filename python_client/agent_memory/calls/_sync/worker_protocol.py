# Generated from _async/worker_protocol.py by generate_sync.py; do not edit.
"""The methods for workers, which claim jobs, hand in their results, and embed queries (docs/jobs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from ...types import ClaimedJob, QueryToEmbed
from ...vectors import Embedding
from ..function import sql_function
from .caller import SyncMethods


class WorkerProtocol(SyncMethods):
    """The methods for workers, which claim jobs, hand in their results, and embed queries (docs/jobs.md)."""

    @sql_function
    def claim_jobs(
        self,
        worker: str,
        kinds: Sequence[str] | None = None,
        max_jobs: int | None = 1,
        lease: timedelta | None = None,
        user_id: str | None = None,
    ) -> list[ClaimedJob]:
        """Lease up to ``max_jobs`` jobs to a worker, of all users or of one."""

    @sql_function
    def complete_job(
        self,
        user_id: str,
        job_id: int,
        lease_token: UUID | str,
        result: Mapping[str, Any],
        calls: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Hand in a result, which is applied whole; LeaseLostError or InvalidValueError when it is refused.

        In this and the following methods, ``calls`` are the model calls that the attempt made (docs/jobs.md).
        """

    @sql_function
    def fail_job(
        self,
        user_id: str,
        job_id: int,
        lease_token: UUID | str,
        error: str,
        retry_after: timedelta | None = None,
        calls: Sequence[Mapping[str, Any]] | None = None,
    ) -> str:
        """Report a failed attempt and return the job's new status."""

    @sql_function
    def release_job(
        self,
        user_id: str,
        job_id: int,
        lease_token: UUID | str,
        retry_after: timedelta | None = None,
        calls: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Give a job back; the attempt is not counted."""

    @sql_function
    def record_calls(self, user_id: str, job_id: int, calls: Sequence[Mapping[str, Any]]) -> None:
        """Enter model calls of a job that is no longer leased to the caller, because somebody has paid for them."""

    @sql_function
    def extend_job(self, user_id: str, job_id: int, lease_token: UUID | str, lease: timedelta) -> None:
        """Make the lease end ``lease`` from now; LeaseLostError when it is gone."""

    @sql_function
    def query_to_embed(
        self,
        user_id: str,
        query: str | None = None,
        thread_id: str | None = None,
        agent_id: str | None = None,
        is_context: bool | None = False,
        probe: bool | None = False,
    ) -> QueryToEmbed | None:
        """Return the model and the text to embed before a search or context; None if no embedding model is active.

        With ``probe`` the server says whether it can call the model by itself.
        """

    @sql_function
    def keep_query_embedding(
        self,
        user_id: str,
        query: str,
        embedding_model: Mapping[str, Any],
        embedding: Embedding,
        calls: Sequence[Mapping[str, Any]] | None = None,
        agent_id: str | None = None,
    ) -> bool:
        """Keep the embedding of a query for the searches that follow; False if the model is another one by now."""
