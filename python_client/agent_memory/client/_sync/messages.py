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
    def list_threads(
        self,
        user_id: str,
        row_limit: int | None = 50,
        row_offset: int | None = 0,
        search: str | None = None,
        filter: Mapping[str, Any] | None = None,
        active_after: datetime | None = None,
        active_before: datetime | None = None,
    ) -> list[Thread]:
        """Return the user's threads, most recently used first.

        Args:
            user_id: the user.
            row_limit: how many at most.
            row_offset: how many of the first to leave out.
            search: words, all of which are in the title of a thread or in one of its messages.
            filter: a part of the metadata of a thread.
            active_after: only threads with a later message.
            active_before: only threads whose latest message is earlier.
        """

    @sql_function
    def get_thread(self, user_id: str, thread_id: str) -> Thread:
        """Return a thread. Raise NotFoundError when the user has no such thread."""

    @sql_function
    def set_thread(
        self, user_id: str, thread_id: str, title: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Set the title and metadata of a thread, which need not exist yet.

        None leaves what is there, an empty text or dict clears it.
        """

    @sql_function
    def copy_thread(self, user_id: str, thread_id: str, new_thread_id: str, upto_seq: int | None = None) -> int:
        """Copy a thread to a new one, up to and with the message ``upto_seq``, and return the number of messages.

        They keep their numbers, times, embeddings and artifacts, and no memory is extracted from them again. Raise
        ConflictError when the user has a thread ``new_thread_id``, NotFoundError when there is none to copy.
        """

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
    def delete_messages(
        self,
        user_id: str,
        thread_id: str | None = None,
        seqs: Sequence[int] | None = None,
        roles: Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        dry_run: bool | None = False,
    ) -> dict[str, Any]:
        """Hide the messages of these numbers or under the filters of ``get_messages``, of a thread or of all.

        As ``delete_message`` does, all or none. Return ``count``, ``sample`` (the first ten ids, thread_id/seq) and
        ``dry_run``, with which nothing is deleted. Raise InvalidValueError without any condition.
        """

    @sql_function
    def get_thread_summary(self, user_id: str, thread_id: str, kind: SummaryKind | None = None) -> Summary | None:
        """Return the latest completed summary of a thread, or None while there is none.

        ``kind`` is thread (all its messages) or rolling (the newest ones); None takes the first of these that exists.
        """

    @sql_function
    def get_user_summary(self, user_id: str) -> Summary | None:
        """Return the profile of a user, drawn from all threads, or None while there is none."""
