# Generated from _async/memories.py by generate_sync.py; do not edit.
"""The methods for long-term memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ...calls import SyncMethods, sql_function
from ...choices import OnConflict, Outcome
from ...types import AddedMemory, MemoryRecord, MemoryVersion, Space


class SyncMemories(SyncMethods):
    """The methods for long-term memories."""

    @sql_function
    def add_memory(
        self,
        user_id: str,
        content: str,
        memory_type: str | None = "fact",
        agent_id: str | None = "default",
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = 1.0,
        importance: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        embedding_text: str | None = None,
        source: str | None = "user",
        on_conflict: OnConflict | None = "ignore",
        memory_id: UUID | str | None = None,
    ) -> AddedMemory:
        """Store a memory.

        Args:
            user_id: whose memory it is.
            content: what is remembered, in a sentence.
            memory_type: fact, preference, context, procedural, episodic, or another of the table memory_types.
            agent_id: the agent that stores it.
            thread_id: the thread that it comes from.
            metadata: anything; ``tags``, ``confidence`` and ``importance`` are taken from here where they are left out.
            tags: words to find it by.
            confidence: how sure it is, 0 to 1.
            importance: how much it matters, 0 to 1 (0.5 where nobody says it); what matters least is evicted first.
            valid_from: since when it holds.
            valid_to: until when it holds.
            expires_at: when it is forgotten; None is the policy's memories.expires_after.
            embedding_text: what is embedded in place of the content.
            source: where it comes from.
            on_conflict: what to do where the same content is stored already: ignore, replace or error.
            memory_id: the id that it is to have; a call that is repeated with one stores once, and the memory of this
                id stays as it is.

        Raises:
            ConflictError: the same content is stored already, with ``on_conflict="error"``.
        """

    @sql_function
    def add_memories(
        self,
        user_id: str,
        memories: Sequence[Mapping[str, Any]],
        agent_id: str | None = "default",
        on_conflict: OnConflict | None = "ignore",
    ) -> list[AddedMemory]:
        """Store memories in one call, all or none, and return them in order.

        Each is a mapping with the arguments of ``add_memory`` except ``user_id`` and ``on_conflict``; a memory without
        ``agent_id`` is stored for the argument. The results are those of ``add_memory`` called for one after the other.
        An error names the place in the list, from 0.
        """

    @sql_function
    def get_memory(self, user_id: str, memory_id: UUID | str) -> MemoryRecord:
        """Return one memory; NotFoundError when there is none."""

    @sql_function
    def list_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        search: str | None = None,
        tags_all: Sequence[str] | None = None,
        row_limit: int | None = 50,
        row_offset: int | None = 0,
        as_of: datetime | None = None,
        include_superseded: bool | None = False,
        thread_id: str | None = None,
        filter: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        include_quarantined: bool | None = False,
        spaces: Sequence[str] | None = None,
    ) -> list[MemoryRecord]:
        """Return memories, newest first; each row's ``total_count`` is the size of the whole match.

        ``filter`` is a part of the metadata that they must have; ``created_after`` and ``created_before`` leave out the
        moment itself. ``include_quarantined`` adds the memories in quarantine, ``spaces`` those of spaces that are
        granted to the user; ``space`` of a row says which. Raises NotFoundError for a space that is not granted.
        """

    @sql_function
    def list_spaces(self, user_id: str | None = None) -> list[Space]:
        """Return the spaces that are granted to a user, or without a user all spaces, for administrators."""

    @sql_function
    def count_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        search: str | None = None,
        tags_all: Sequence[str] | None = None,
        as_of: datetime | None = None,
        include_superseded: bool | None = False,
        thread_id: str | None = None,
        filter: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        include_quarantined: bool | None = False,
    ) -> int:
        """Return how many memories ``list_memories`` has under the same filters, on all its pages."""

    @sql_function
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
        """Change the given parts and return the new version; RetryableError or ConflictError if others changed it.

        ``tags``, ``confidence`` and ``importance`` that are left out are taken from ``metadata`` where it changes them.
        """

    @sql_function
    def delete_memory(self, user_id: str, memory_id: UUID | str) -> bool:
        """Delete a memory and return whether it existed."""

    @sql_function
    def delete_memories(
        self,
        user_id: str,
        memory_ids: Sequence[UUID | str] | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        memory_type: str | None = None,
        tags_all: Sequence[str] | None = None,
        search: str | None = None,
        filter: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        dry_run: bool | None = False,
    ) -> dict[str, Any]:
        """Delete the memories with these ids or under the filters of ``list_memories``, all or none.

        Superseded ones and those in quarantine go as well. ``restore_memory`` brings back each. Return ``count``,
        ``sample`` (the ids of the ten newest) and ``dry_run``, with which nothing is deleted. Raise InvalidValueError
        without any condition.
        """

    @sql_function
    def supersede_memory(self, user_id: str, old_memory_id: UUID | str, new_memory_id: UUID | str, reason: str) -> None:
        """Hide the old memory behind the new one; ``include_superseded`` still shows it."""

    @sql_function
    def restore_memory(self, user_id: str, memory_id: UUID | str, version: int | None = None) -> int:
        """Undo a supersede, a delete or later changes, and return the new version."""

    @sql_function
    def get_memory_history(self, user_id: str, memory_id: UUID | str) -> list[MemoryVersion]:
        """Return every version of a memory."""

    @sql_function
    def record_use(
        self,
        user_id: str,
        memory_ids: Sequence[UUID | str],
        outcome: Outcome | None = "used",
        thread_id: str | None = None,
    ) -> None:
        """Count that these memories were used, helpful or wrong; ids of no memory of the user count nothing.

        ``thread_id`` is the conversation: a call that repeats the last outcome of a memory there counts nothing. Where
        policy ``search.use_weight`` is above 0, memories that were wrong fall in rankings.
        """
