# Generated from _async/messages.py by generate_sync.py; do not edit.
"""The methods for messages, threads and their summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...calls import SyncMethods, sql_function
from ...choices import Fate, Role, SummaryKind
from ...types import Message, StoredMessage, Summary, Thread


class SyncMessages(SyncMethods):
    """The methods for messages, threads and their summaries."""

    @sql_function
    def add_message(
        self,
        user_id: str,
        thread_id: str,
        role: Role | str,
        content: str,
        agent_id: str | None = "default",
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> StoredMessage:
        """Append one message to a thread. The same ``idempotency_key`` again returns the message already stored."""

    @sql_function
    def add_messages(
        self, user_id: str, thread_id: str, messages: Sequence[Mapping[str, Any]], agent_id: str | None = "default"
    ) -> list[StoredMessage]:
        """Append OpenAI chat messages, all or none, in order.

        Each may also carry ``created_at``, ``metadata`` and ``idempotency_key``; ``tool_calls``, ``tool_call_id`` and
        ``name`` (the speaker) are kept.
        """

    @sql_function
    def get_messages(
        self,
        user_id: str,
        thread_id: str,
        recent_k: int | None = None,
        after_seq: int | None = None,
        before_seq: int | None = None,
        agent_id: str | None = None,
        include_inactive: bool | None = False,
        roles: Sequence[Role] | None = None,
        filter: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
    ) -> list[Message]:
        """Return a thread's messages, oldest first; ``recent_k`` returns only so many of the newest that match.

        ``filter`` is a part of the metadata that they must have; ``created_after`` and ``created_before`` leave out the
        moment itself.
        """

    @sql_function
    def list_threads(self, user_id: str, row_limit: int | None = 50, row_offset: int | None = 0) -> list[Thread]:
        """Return the user's threads, most recently used first."""

    @sql_function
    def clear_thread(self, user_id: str, thread_id: str, agent_id: str | None = None) -> int:
        """Hide a thread's messages (soft delete), with ``agent_id`` only that agent's, and return how many it were.

        An archived conversation stays in the knowledge base.
        """

    @sql_function
    def delete_thread(self, user_id: str, thread_id: str, memories: Fate | None = "keep") -> int:
        """Delete a thread with the memories extracted from it, and return how many messages were deleted.

        Memories that were stated in the thread stay, unless ``memories`` is "forget".
        """

    @sql_function
    def delete_message(self, user_id: str, thread_id: str, seq: int) -> bool:
        """Hide one message of a thread (soft delete) and return whether it was there.

        Summaries that cover it are dropped; it may be one that compression put away.
        """

    @sql_function
    def get_thread_summary(self, user_id: str, thread_id: str, kind: SummaryKind | None = None) -> Summary | None:
        """Return the latest completed summary of a thread, or None while there is none.

        ``kind`` is thread (all its messages) or rolling (the newest ones); None takes the first of these that exists.
        """

    @sql_function
    def get_user_summary(self, user_id: str) -> Summary | None:
        """Return the profile of a user, drawn from all threads, or None while there is none."""
