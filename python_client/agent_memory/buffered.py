"""The items of a buffer of messages and memories, and the result of a push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BufferedItem:
    """An item of a buffer.

    Attributes:
        item_id: its number in the buffer, in the order of arrival.
        kind: "message" or "memory".
        arguments: what was given, and what the buffer added: the time of a message, and what makes it unique.
        error: why the last push could not store it; None if no push has tried yet.
    """

    item_id: int
    kind: str
    arguments: dict[str, Any]
    error: str | None


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push.

    Attributes:
        messages: how many messages are stored now that were in the buffer.
        memories: the same for memories.
        expired: how many memories were dropped because their ``expires_at`` came before the push.
        failed: what the database refused; these items stay in the buffer, with their error.
        is_committed: False within a transaction of the caller's, which may still be rolled back. The items stay in the
            buffer then; a push after the commit removes them and stores nothing twice.
    """

    messages: int
    memories: int
    expired: int
    failed: list[BufferedItem]
    is_committed: bool
