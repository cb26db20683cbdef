# Generated from _async.py by generate_sync.py; do not edit.
"""The client: one thin method for each SQL function."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ._arguments import argument_senders, parameters
from ._calls import TimeLoader, records, statement
from ._notices import Notices
from .errors import QUESTIONS, AgentMemoryError, from_psycopg
from .types import (
    AddedMemory,
    Artifact,
    Backfill,
    Check,
    ClaimedJob,
    ContextPart,
    Document,
    Job,
    MemoryRecord,
    MemoryVersion,
    Message,
    SearchResult,
    StoredArtifact,
    StoredMessage,
    Summary,
    Thread,
)

Row = TypeVar("Row")
Value = TypeVar("Value")


class Memory:
    """The functions of schema ``memory``, one method each, with the same names and arguments.

    Built from an open connection, every call joins the caller's transaction; nothing is committed, rolled back or
    closed here. Built from a pool, every call borrows a connection and is a transaction of its own. Built from a
    connection string, the client opens a pool for itself and closes it in ``close()`` or at the end of ``with``.

    An optional argument left at None takes the database's default. Arguments are of the types that the signatures name;
    times have a time zone. A time of ``datetime.max`` is sent as infinity and means never. In a result None means
    never, and stands for a time that datetime cannot hold.

    Every method raises the exceptions of ``agent_memory.errors`` for what the SQL API refuses, and psycopg's own for
    everything else. As with any statement, an error that the server raises leaves the caller's transaction to be rolled
    back. Notices of the server go to the logger ``agent_memory``; what makes an answer less than it could be is
    also warned of once, as ``DegradedWarning``.

    Args:
        source: a psycopg connection, a psycopg pool or a connection string.
        pool_size: how many connections the client's own pool may open.
    """

    def __init__(self, source: Connection[Any] | ConnectionPool[Any] | str, *, pool_size: int = 10) -> None:
        self._connection: Connection[Any] | None = None
        self._pool: ConnectionPool[Any] | None = None
        self._conninfo = source if isinstance(source, str) else ""
        self._owns_pool = isinstance(source, str)
        self._is_closed = False
        self._one_at_a_time = threading.Lock()
        if isinstance(source, Connection):
            self._connection = source
        elif isinstance(source, ConnectionPool):
            self._pool = source
        elif isinstance(source, str):
            self._pool = ConnectionPool(source, min_size=1, max_size=pool_size, open=False, kwargs={"autocommit": True})
        else:
            accepted = ", ".join(kind.__name__ for kind in (Connection, ConnectionPool, str))
            raise TypeError(
                f"source must be one of {accepted}, not {type(source).__name__}"
                " (AsyncMemory takes the asynchronous ones, Memory the others)"
            )

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the client's own pool. A connection or pool that was passed in stays open."""
        self._is_closed = True
        if self._owns_pool and self._pool is not None:
            self._pool.close()

    # Conversation

    def add_message(
        self,
        user_id: str,
        thread_id: str,
        role: str,
        content: str,
        agent_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> StoredMessage:
        """Append one message to a thread. The same ``idempotency_key`` again returns the message already stored."""
        return self._row(
            StoredMessage,
            "add_message",
            {"user_id": user_id, "thread_id": thread_id, "role": role, "content": content},
            agent_id=agent_id,
            metadata=metadata,
            created_at=created_at,
            expires_at=expires_at,
            idempotency_key=idempotency_key,
        )

    def add_messages(
        self, user_id: str, thread_id: str, messages: Sequence[Mapping[str, Any]], agent_id: str | None = None
    ) -> list[StoredMessage]:
        """Append OpenAI chat messages, all or none, in order.

        Each may also carry ``created_at``, ``metadata`` and ``idempotency_key``; ``tool_calls``, ``tool_call_id`` and
        ``name`` (the speaker) are kept.
        """
        return self._rows(
            StoredMessage,
            "add_messages",
            {"user_id": user_id, "thread_id": thread_id, "messages": messages},
            agent_id=agent_id,
        )

    def get_messages(
        self,
        user_id: str,
        thread_id: str,
        recent_k: int | None = None,
        after_seq: int | None = None,
        before_seq: int | None = None,
        agent_id: str | None = None,
        include_inactive: bool | None = None,
    ) -> list[Message]:
        """Return a thread's messages, oldest first; ``recent_k`` keeps only the newest that many."""
        return self._rows(
            Message,
            "get_messages",
            {"user_id": user_id, "thread_id": thread_id},
            recent_k=recent_k,
            after_seq=after_seq,
            before_seq=before_seq,
            agent_id=agent_id,
            include_inactive=include_inactive,
        )

    def get_context(
        self,
        user_id: str,
        thread_id: str,
        query: str | None = None,
        agent_id: str | None = None,
        max_tokens: int | None = None,
        query_embedding: Sequence[float] | None = None,
    ) -> list[ContextPart]:
        """Build the messages to send to a model: memories, summary and recent messages within ``max_tokens``.

        ``query`` is the user's newest message unless given, ``max_tokens`` the policy's context.max_tokens. The newest
        message is there even when it is longer than that.
        """
        return self._rows(
            ContextPart,
            "get_context",
            {"user_id": user_id, "thread_id": thread_id},
            query=query,
            agent_id=agent_id,
            max_tokens=max_tokens,
            query_embedding=query_embedding,
        )

    def list_threads(self, user_id: str, row_limit: int | None = None, row_offset: int | None = None) -> list[Thread]:
        """Return the user's threads, most recently used first."""
        return self._rows(Thread, "list_threads", {"user_id": user_id}, row_limit=row_limit, row_offset=row_offset)

    def clear_thread(self, user_id: str, thread_id: str) -> int:
        """Hide a thread's messages (soft delete) and return how many were cleared."""
        return self._value(int, "clear_thread", {"user_id": user_id, "thread_id": thread_id})

    def delete_thread(self, user_id: str, thread_id: str) -> int:
        """Delete a thread with everything derived only from it and return how many messages that were."""
        return self._value(int, "delete_thread", {"user_id": user_id, "thread_id": thread_id})

    def get_thread_summary(self, user_id: str, thread_id: str, kind: str | None = None) -> Summary | None:
        """Return the latest completed summary of a thread, or None while there is none.

        ``kind`` is thread (all its messages) or rolling (the newest ones); None takes the first of these there is.
        """
        required = {"user_id": user_id, "thread_id": thread_id}
        rows = self._rows(Summary, "get_thread_summary", required, kind=kind)
        return rows[0] if rows else None

    def get_user_summary(self, user_id: str) -> Summary | None:
        """Return the profile of a user, drawn from all threads, or None while there is none."""
        rows = self._rows(Summary, "get_user_summary", {"user_id": user_id})
        return rows[0] if rows else None

    # Long-term memories

    def add_memory(
        self,
        user_id: str,
        content: str,
        memory_type: str | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        embedding_text: str | None = None,
        source: str | None = None,
        on_conflict: str | None = None,
    ) -> AddedMemory:
        """Store a memory; ``on_conflict`` (ignore, replace, error) decides about one with the same content.

        ``confidence`` and ``importance`` are between 0 and 1.
        """
        return self._row(
            AddedMemory,
            "add_memory",
            {"user_id": user_id, "content": content},
            memory_type=memory_type,
            agent_id=agent_id,
            thread_id=thread_id,
            metadata=metadata,
            tags=tags,
            confidence=confidence,
            importance=importance,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            embedding_text=embedding_text,
            source=source,
            on_conflict=on_conflict,
        )

    def get_memory(self, user_id: str, memory_id: UUID | str) -> MemoryRecord:
        """Return one memory; NotFoundError when there is none."""
        return self._row(MemoryRecord, "get_memory", {"user_id": user_id, "memory_id": memory_id})

    def list_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        search: str | None = None,
        tags_all: Sequence[str] | None = None,
        row_limit: int | None = None,
        row_offset: int | None = None,
        as_of: datetime | None = None,
        include_superseded: bool | None = None,
    ) -> list[MemoryRecord]:
        """Return memories, newest first; each row's ``total_count`` is the size of the whole match."""
        return self._rows(
            MemoryRecord,
            "list_memories",
            {"user_id": user_id},
            agent_id=agent_id,
            memory_type=memory_type,
            search=search,
            tags_all=tags_all,
            row_limit=row_limit,
            row_offset=row_offset,
            as_of=as_of,
            include_superseded=include_superseded,
        )

    def count_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        search: str | None = None,
        tags_all: Sequence[str] | None = None,
        as_of: datetime | None = None,
        include_superseded: bool | None = None,
    ) -> int:
        """Return how many memories ``list_memories`` has under the same filters, on all its pages."""
        return self._value(
            int,
            "count_memories",
            {"user_id": user_id},
            agent_id=agent_id,
            memory_type=memory_type,
            search=search,
            tags_all=tags_all,
            as_of=as_of,
            include_superseded=include_superseded,
        )

    def update_memory(
        self,
        user_id: str,
        memory_id: UUID | str,
        content: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        expires_at: datetime | None = None,
        expected_version: int | None = None,
    ) -> int:
        """Change what is given and return the new version; RetryableError or ConflictError if it changed meanwhile."""
        return self._value(
            int,
            "update_memory",
            {"user_id": user_id, "memory_id": memory_id},
            content=content,
            metadata=metadata,
            tags=tags,
            confidence=confidence,
            importance=importance,
            expires_at=expires_at,
            expected_version=expected_version,
        )

    def delete_memory(self, user_id: str, memory_id: UUID | str) -> bool:
        """Delete a memory and return whether it existed."""
        return self._value(bool, "delete_memory", {"user_id": user_id, "memory_id": memory_id})

    def supersede_memory(self, user_id: str, old_memory_id: UUID | str, new_memory_id: UUID | str, reason: str) -> None:
        """Mark the old memory as replaced by the new one; it stays readable on request."""
        self._select(
            "supersede_memory",
            {"user_id": user_id, "old_memory_id": old_memory_id, "new_memory_id": new_memory_id, "reason": reason},
        )

    def restore_memory(self, user_id: str, memory_id: UUID | str, version: int | None = None) -> int:
        """Undo a supersede, a delete or later changes, and return the new version."""
        return self._value(int, "restore_memory", {"user_id": user_id, "memory_id": memory_id}, version=version)

    def get_memory_history(self, user_id: str, memory_id: UUID | str) -> list[MemoryVersion]:
        """Return every version of a memory."""
        return self._rows(MemoryVersion, "get_memory_history", {"user_id": user_id, "memory_id": memory_id})

    def render_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        query: str | None = None,
        max_memories: int | None = None,
        max_tokens: int | None = None,
        query_embedding: Sequence[float] | None = None,
    ) -> str:
        """Return the "## Your Memories" block for a system prompt."""
        return self._value(
            str,
            "render_memories",
            {"user_id": user_id},
            agent_id=agent_id,
            query=query,
            max_memories=max_memories,
            max_tokens=max_tokens,
            query_embedding=query_embedding,
        )

    # Search

    def search(
        self,
        user_id: str,
        query: str | None = None,
        query_embedding: Sequence[float] | None = None,
        mode: str | None = None,
        sources: Sequence[str] | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        exclude_thread_id: str | None = None,
        memory_types: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        tags_any: Sequence[str] | None = None,
        exclude_tags: Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        as_of: datetime | None = None,
        include_superseded: bool | None = None,
        rerank: bool | None = None,
        explain: bool | None = None,
        top_k: int | None = None,
        doc_types: Sequence[str] | None = None,
        namespaces: Sequence[str] | None = None,
    ) -> list[SearchResult]:
        """Search what is stored about a user, best first; ``filter`` is containment on the metadata.

        ``mode`` is hybrid (the default), vector or keyword; ``sources`` are memory, summary and document unless given,
        message and artifact are others. The database embeds a query that comes without ``query_embedding`` where it
        can; if not, hybrid searches by keyword. ``query_embedding`` has as many numbers as the model has dimensions.
        ``top_k`` is 1 to 1000 (default 10), ``min_score`` is -1 to 1 and ``min_confidence`` 0 to 1. ``doc_types`` and
        ``namespaces`` select documents only.

        Raises InvalidValueError where there is neither ``query`` nor ``query_embedding``, or no embedding for mode
        vector.
        """
        return self._rows(
            SearchResult,
            "search",
            {"user_id": user_id},
            query=query,
            query_embedding=query_embedding,
            mode=mode,
            sources=sources,
            agent_id=agent_id,
            thread_id=thread_id,
            exclude_thread_id=exclude_thread_id,
            memory_types=memory_types,
            tags_all=tags_all,
            tags_any=tags_any,
            exclude_tags=exclude_tags,
            filter=filter,
            min_score=min_score,
            min_confidence=min_confidence,
            created_after=created_after,
            created_before=created_before,
            as_of=as_of,
            include_superseded=include_superseded,
            rerank=rerank,
            explain=explain,
            top_k=top_k,
            doc_types=doc_types,
            namespaces=namespaces,
        )

    # Knowledge base

    def add_document(
        self,
        user_id: str,
        content: str,
        title: str | None = None,
        namespace: str | None = None,
        doc_type: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> UUID:
        """Store a document and return its id; a long one is cut into pieces in the background.

        ``content`` holds 10 MiB at most, ``title`` 2,000 bytes; ``namespace`` and ``doc_type`` are "default" and
        "document" unless given.
        """
        return self._value(
            UUID,
            "add_document",
            {"user_id": user_id, "content": content},
            title=title,
            namespace=namespace,
            doc_type=doc_type,
            metadata=metadata,
        )

    def list_documents(
        self,
        user_id: str,
        namespace: str | None = None,
        doc_type: str | None = None,
        row_limit: int | None = None,
        row_offset: int | None = None,
    ) -> list[Document]:
        """Return documents, newest first; each row's ``total_count`` is the size of the whole match."""
        return self._rows(
            Document,
            "list_documents",
            {"user_id": user_id},
            namespace=namespace,
            doc_type=doc_type,
            row_limit=row_limit,
            row_offset=row_offset,
        )

    def delete_document(self, user_id: str, document_id: UUID | str) -> bool:
        """Delete a document and return whether it existed."""
        return self._value(bool, "delete_document", {"user_id": user_id, "document_id": document_id})

    # Detail memory

    def store_artifact(
        self,
        user_id: str,
        content: str,
        description: str | None = None,
        key: str | None = None,
        artifact_type: str | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
    ) -> StoredArtifact:
        """Keep a long text whole and return the placeholder that stands for it in a context.

        ``content`` holds 10 MiB at most, ``description`` one line of 500 characters. A ``key`` has letters and digits
        of ASCII and ``. _ : / @ # = + -``; without one, one is made. ``artifact_type`` is "command_output" unless
        given. The same content again under its ``key`` stays as it is, for the longer of both lives.

        Raises ConflictError where ``key`` names other content already.
        """
        return self._row(
            StoredArtifact,
            "store_artifact",
            {"user_id": user_id, "content": content},
            description=description,
            key=key,
            artifact_type=artifact_type,
            agent_id=agent_id,
            thread_id=thread_id,
            metadata=metadata,
            expires_at=expires_at,
        )

    def retrieve_artifact(
        self, user_id: str, key: str, from_token: int | None = None, max_tokens: int | None = None
    ) -> str:
        """Return the content of an artifact, or ``max_tokens`` of it from ``from_token`` on; beyond its end "".

        Raises NotFoundError where the user has no artifact of that key.
        """
        return self._value(
            str, "retrieve_artifact", {"user_id": user_id, "key": key}, from_token=from_token, max_tokens=max_tokens
        )

    def list_artifacts(
        self,
        user_id: str,
        artifact_type: str | None = None,
        thread_id: str | None = None,
        row_limit: int | None = None,
        row_offset: int | None = None,
    ) -> list[Artifact]:
        """Return artifacts without their contents, newest first; ``total_count`` is the size of the whole match."""
        return self._rows(
            Artifact,
            "list_artifacts",
            {"user_id": user_id},
            artifact_type=artifact_type,
            thread_id=thread_id,
            row_limit=row_limit,
            row_offset=row_offset,
        )

    def delete_artifact(self, user_id: str, key: str) -> bool:
        """Delete an artifact and return whether it existed."""
        return self._value(bool, "delete_artifact", {"user_id": user_id, "key": key})

    # Model work on demand

    def summarize_thread(self, user_id: str, thread_id: str, recent_k: int | None = None) -> int:
        """Queue a summary of the thread and return the job's id; ``recent_k`` limits what it reads."""
        return self._value(int, "summarize_thread", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k)

    def compress_thread(self, user_id: str, thread_id: str) -> int:
        """Queue a summary that takes the place of the thread's older messages and return the job's id."""
        return self._value(int, "compress_thread", {"user_id": user_id, "thread_id": thread_id})

    def extract_memories(self, user_id: str, thread_id: str, recent_k: int | None = None) -> int:
        """Queue the extraction of memories from the thread and return the job's id."""
        return self._value(int, "extract_memories", {"user_id": user_id, "thread_id": thread_id}, recent_k=recent_k)

    def summarize_user(self, user_id: str, recent_k: int | None = None) -> int:
        """Queue the user's profile and return the job's id; ``recent_k`` limits what it reads."""
        return self._value(int, "summarize_user", {"user_id": user_id}, recent_k=recent_k)

    def reconcile_memories(self, user_id: str, n: int | None = None) -> int:
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

    # Workers

    def claim_jobs(
        self,
        worker: str,
        kinds: Sequence[str] | None = None,
        max_jobs: int | None = None,
        lease: timedelta | None = None,
    ) -> list[ClaimedJob]:
        """Lease up to ``max_jobs`` jobs to a worker."""
        return self._rows(ClaimedJob, "claim_jobs", {"worker": worker}, kinds=kinds, max_jobs=max_jobs, lease=lease)

    def complete_job(
        self,
        user_id: str,
        job_id: int,
        lease_token: UUID | str,
        result: Mapping[str, Any],
        calls: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Hand in a result, which is applied whole; LeaseLostError or InvalidValueError when it is refused.

        Here and below, ``calls`` are the model calls that the attempt made, for the ledger (docs/jobs.md).
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
        """Enter model calls whose job is no longer leased to the caller: they were paid all the same."""
        self._select("record_calls", {"user_id": user_id, "job_id": job_id, "calls": calls})

    def extend_job(self, user_id: str, job_id: int, lease_token: UUID | str, lease: timedelta) -> None:
        """Make the lease end ``lease`` from now; LeaseLostError when it is gone."""
        self._select("extend_job", {"user_id": user_id, "job_id": job_id, "lease_token": lease_token, "lease": lease})

    def run_jobs(self, max_jobs: int | None = None, max_seconds: int | None = None) -> None:
        """Run queued jobs inside the database; needs plpython3u there and no open transaction here.

        Raises:
            AgentMemoryError: the connection is inside a transaction.
        """
        arguments = parameters(_SENDERS["run_jobs"], {}, {"max_jobs": max_jobs, "max_seconds": max_seconds})
        query = statement("call", "run_jobs", tuple(arguments))
        with self._borrowed(Notices()) as connection:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                raise AgentMemoryError(
                    "run_jobs commits between jobs and cannot run inside a transaction",
                    hint="Commit first, or use a connection of its own.",
                )
            # Otherwise psycopg would open a transaction around the call.
            autocommit = connection.autocommit
            connection.set_autocommit(True)
            try:
                with translated(connection, "run_jobs"):
                    connection.execute(query, arguments)
            finally:
                if not connection.closed:
                    connection.set_autocommit(autocommit)

    # Administration

    def set_policy(
        self, settings: Mapping[str, Any], agent_id: str | None = None, user_id: str | None = None
    ) -> dict[str, Any]:
        """Merge settings into a policy (global, per agent, per user) and return it. A null returns to the default."""
        return self._value(dict, "set_policy", {"settings": settings}, agent_id=agent_id, user_id=user_id)

    def get_policy(self, agent_id: str | None = None, user_id: str | None = None) -> dict[str, Any]:
        """Return the policy in effect: user over agent over global over built-in."""
        return self._value(dict, "get_policy", {}, agent_id=agent_id, user_id=user_id)

    def register_model(
        self, name: str, kind: str, provider: str, model: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Register a model that jobs may use; a key is not a setting, ``api_key_env`` names where a worker finds it."""
        self._select(
            "register_model",
            {"name": name, "kind": kind, "provider": provider, "model": model},
            settings=settings,
        )

    def activate_model(self, name: str) -> None:
        """Make a registered model the one that is used for its kind."""
        self._select("activate_model", {"name": name})

    def deactivate_model(self, name: str) -> None:
        """Switch a model off: it is asked for nothing until it is activated again. Its embeddings stay.

        Without an active embedding model searches go by keyword; without a chat model jobs wait.
        """
        self._select("deactivate_model", {"name": name})

    def backfill_status(self) -> list[Backfill]:
        """Return how far each embedding model is with what is stored."""
        return self._rows(Backfill, "backfill_status", {})

    def vector_index(self, model: str) -> list[str]:
        """Return the statements that make the approximate index of an embedding model.

        Execute them in autocommit mode as the owner of the schema, one after the other: they cannot run in a
        transaction. See "Users with very many memories" in docs/operations.md.

        Raises:
            InvalidValueError: the model has not embedded anything yet.
            NotFoundError: there is no such embedding model.
            RetryableError: the index is being built.
        """
        rows = self._select("vector_index", {"model": model})
        return [statement for row in rows for statement in row.values()]

    def drop_model(self, name: str) -> None:
        """Remove a model that is not active, with its embeddings and their index."""
        self._select("drop_model", {"name": name})

    def set_prompt(self, name: str, template: str) -> int:
        """Replace the prompt of a kind of job and return its new version; every variable it needs must stay."""
        return self._value(int, "set_prompt", {"name": name, "template": template})

    def reset_prompt(self, name: str) -> int:
        """Return to the built-in prompt, as a new version, and return that."""
        return self._value(int, "reset_prompt", {"name": name})

    def schedule_jobs(self, every: str | None = None, sweep_at: str | None = None) -> list[str]:
        """Let pg_cron run the jobs and the nightly sweep inside the database; return what was scheduled.

        ``every`` is an interval such as "10 seconds", ``sweep_at`` a time in the notation of cron.
        """
        rows = self._select("schedule_jobs", {}, every=every, sweep_at=sweep_at)
        return [value for row in rows for value in row.values()]

    def sweep(self, batch_size: int | None = None) -> dict[str, Any]:
        """Remove what is over, queue what is due and parse unread messages, up to ``batch_size`` of each.

        Return the counts by kind.
        """
        return self._value(dict, "sweep", {}, batch_size=batch_size)

    def version(self) -> str:
        """Return the version installed in the database."""
        return self._value(str, "version", {})

    def doctor(self) -> list[Check]:
        """Check the installation."""
        return self._rows(Check, "doctor", {})

    # One call

    def _rows(self, row_type: type[Row], function: str, required: Mapping[str, Any], **optional: Any) -> list[Row]:
        return records(row_type, self._select(function, required, **optional))

    def _row(self, row_type: type[Row], function: str, required: Mapping[str, Any], **optional: Any) -> Row:
        return (self._rows(row_type, function, required, **optional))[0]

    def _value(self, _: type[Value], function: str, required: Mapping[str, Any], **optional: Any) -> Value:
        [row] = self._select(function, required, **optional)
        [value] = row.values()
        result: Value = value
        return result

    def _select(self, function: str, required: Mapping[str, Any], **optional: Any) -> list[dict[str, Any]]:
        arguments = parameters(_SENDERS[function], required, optional)
        query = statement("select", function, tuple(arguments))
        notices = Notices()
        with self._borrowed(notices) as connection:
            # A cursor of its own type and row factory: the caller's connection may be set up differently.
            cursor = Cursor(connection, row_factory=dict_row)
            cursor.adapters.register_loader("timestamptz", TimeLoader)
            with translated(connection, function):
                cursor.execute(query, arguments)
                rows = cursor.fetchall()
        notices.warn()
        return rows

    @contextmanager
    def _borrowed(self, notices: Notices) -> Iterator[Connection[Any]]:
        """Yield the connection of one call, whose notices are heard."""
        if self._pool is None:
            assert self._connection is not None
            with self._one_at_a_time, self._heard(self._connection, notices) as connection:
                yield connection
        else:
            if self._owns_pool and self._pool.closed:
                if self._is_closed:
                    raise PoolClosed(f"this {type(self).__name__} was closed; make a new one")
                # A plain connection first: a pool goes on retrying for half a minute instead of reporting the error.
                with Connection.connect(self._conninfo):
                    pass
                self._pool.open()
            try:
                with self._pool.connection() as borrowed, self._heard(borrowed, notices) as connection:
                    yield connection
            except PoolTimeout as error:
                raise PoolTimeout(
                    f"{error}: all {self._pool.max_size} connections are in use, or the server is out of reach"
                ) from None

    @contextmanager
    def _heard(self, connection: Connection[Any], notices: Notices) -> Iterator[Connection[Any]]:
        hear = notices.of(connection.info)
        connection.add_notice_handler(hear)
        try:
            yield connection
        finally:
            connection.remove_notice_handler(hear)


@contextmanager
def translated(connection: Connection[Any], function: str | None = None) -> Iterator[None]:
    """Raise the errors of the SQL API as the exceptions of this package; the psycopg error is their ``__cause__``.

    Args:
        connection: where the statements inside run.
        function: the function of the SQL API that they call, if it is one.
    """
    try:
        yield
    except psycopg.Error as error:
        translation = from_psycopg(error, connection.info, function, _answer(connection, error))
        if translation is None:
            raise
        raise translation from error


def _answer(connection: Connection[Any], error: psycopg.Error) -> str | None:
    """Ask the server what helps to explain an error, unless the error ended the transaction that it was in."""
    question = QUESTIONS.get(error.sqlstate or "")
    if question is None or connection.info.transaction_status != TransactionStatus.IDLE:
        return None
    try:
        [answer] = (Cursor(connection).execute(question)).fetchone() or [None]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
        return ""
    except psycopg.Error:
        return None
    return str(answer)


_SENDERS = argument_senders(Memory)
