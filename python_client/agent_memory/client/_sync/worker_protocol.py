# Generated from _async/worker_protocol.py by generate_sync.py; do not edit.
"""The methods for workers, which claim jobs and hand in their results (docs/jobs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.pq import TransactionStatus

from ...errors import AgentMemoryError, NotSupportedError
from ...types import ClaimedJob
from ..arguments import parameters
from ..notices import Notices
from ..statements import statement
from .caller import SyncCaller, translated


class SyncWorkerProtocol(SyncCaller):
    """The methods for workers, which claim jobs and hand in their results (docs/jobs.md)."""

    def claim_jobs(
        self,
        worker: str,
        kinds: Sequence[str] | None = None,
        max_jobs: int | None = 1,
        lease: timedelta | None = None,
        user_id: str | None = None,
    ) -> list[ClaimedJob]:
        """Lease up to ``max_jobs`` jobs to a worker, of all users or of one."""
        return self._rows(
            ClaimedJob,
            "claim_jobs",
            {"worker": worker},
            kinds=kinds,
            max_jobs=max_jobs,
            lease=lease,
            user_id=user_id,
        )

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
        self._select(
            "complete_job",
            {"user_id": user_id, "job_id": job_id, "lease_token": lease_token, "result": result},
            calls=calls,
        )

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
        return self._value(
            str,
            "fail_job",
            {"user_id": user_id, "job_id": job_id, "lease_token": lease_token, "error": error},
            retry_after=retry_after,
            calls=calls,
        )

    def release_job(
        self,
        user_id: str,
        job_id: int,
        lease_token: UUID | str,
        retry_after: timedelta | None = None,
        calls: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Give a job back; the attempt is not counted."""
        self._select(
            "release_job",
            {"user_id": user_id, "job_id": job_id, "lease_token": lease_token},
            retry_after=retry_after,
            calls=calls,
        )

    def record_calls(self, user_id: str, job_id: int, calls: Sequence[Mapping[str, Any]]) -> None:
        """Enter model calls of a job that is no longer leased to the caller, because somebody has paid for them."""
        self._select("record_calls", {"user_id": user_id, "job_id": job_id, "calls": calls})

    def extend_job(self, user_id: str, job_id: int, lease_token: UUID | str, lease: timedelta) -> None:
        """Make the lease end ``lease`` from now; LeaseLostError when it is gone."""
        self._select("extend_job", {"user_id": user_id, "job_id": job_id, "lease_token": lease_token, "lease": lease})

    def run_jobs(self, max_jobs: int | None = 100, max_seconds: int | None = 60) -> None:
        """Run queued jobs inside the database; needs plpython3u there and no open transaction here.

        Raises:
            AgentMemoryError: the connection is inside a transaction.
            NotSupportedError: the server has no PL/Python, which an embedded one never has.
        """
        if self._store is not None:
            raise NotSupportedError(
                "run_jobs() needs PL/Python, which an embedded store does not have",
                hint="The store's own worker does this work: leave the call out. get_job() says when it is done.",
            )
        arguments = parameters(self._senders["run_jobs"], {}, {"max_jobs": max_jobs, "max_seconds": max_seconds})
        query = statement("call", "run_jobs", tuple(arguments))
        with self._borrowed(Notices(self._warned)) as connection:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                raise AgentMemoryError(
                    "run_jobs commits between jobs and cannot run inside a transaction",
                    hint="Commit first, or use a connection of its own.",
                )
            # Without autocommit, psycopg would open a transaction around the call.
            autocommit = connection.autocommit
            connection.set_autocommit(True)
            try:
                with translated(connection, "run_jobs"):
                    connection.execute(query, arguments)
            finally:
                if not connection.closed:
                    connection.set_autocommit(autocommit)
