"""One memory of the model, with its history."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.torture.model.values import LATER, plain

EXTRACTED = ("extraction",)
"""Sources of memories that nobody stated."""
EXTRACTED_TRUST = 0.8
"""Of an extracted memory that names no messages."""
FOR_EVER = 10**9
"""When memories in quarantine were deleted: no sweep removes them."""


@dataclass
class Version:
    """What the history keeps of a memory before each change."""

    version: int
    operation: str
    content: str
    metadata: dict[str, Any]
    tags: list[str]
    confidence: float
    importance: float
    expires: datetime | None
    superseded_by: UUID | None
    supersede_reason: str | None


@dataclass
class Remembered:
    """One memory."""

    memory_id: UUID
    place: int
    """The order in which memories were stored."""
    agent_id: str
    memory_type: str
    content: str
    thread_id: str | None
    metadata: dict[str, Any]
    tags: list[str]
    confidence: float
    importance: float
    source: str
    expires: datetime | None
    is_over: bool
    """Whether valid_to has passed."""
    updated_at: int
    version: int = 1
    operation: str = "insert"
    superseded_by: UUID | None = None
    superseded_at: int | None = None
    deleted_at: int | None = None
    supersede_reason: str | None = None
    quarantined_at: int | None = None
    quarantined_with: str | None = None
    """The poisoned source that the memory derives from."""
    source_seqs: list[int] | None = None
    """The messages of its thread that an extracted memory was drawn from."""
    trust: float = 1.0
    created_at: int = 0
    said_at: int | None = None
    valid_from: int | None = None
    history: list[Version] = field(default_factory=list)

    @property
    def is_current(self) -> bool:
        return self.superseded_at is None and self.deleted_at is None

    @property
    def is_expired(self) -> bool:
        return self.expires is not None and self.expires < LATER

    @property
    def is_stated(self) -> bool:
        return self.source not in EXTRACTED

    @property
    def rank(self) -> tuple[bool, float]:
        """What matters least comes first."""
        return self.is_stated, self.importance

    @property
    def is_reworded(self) -> bool:
        contents = [*(v.content for v in self.history), self.content]
        return any(a != b for a, b in itertools.pairwise(contents))

    @property
    def counts_as_stated(self) -> bool:
        """Somebody who rewords what was extracted states it."""
        return self.is_stated or self.is_reworded

    @property
    def last_said(self) -> int:
        """What orders memories that disagree."""
        return next(t for t in (self.said_at, self.valid_from, self.created_at) if t is not None)

    @property
    def key(self) -> tuple[str, str]:
        """Current memories of one user differ in this, whatever their types."""
        return self.agent_id, plain(self.content)

    def finer_type(self, said: str) -> str:
        """The type after the memory was said again as another one: only a plain fact changes it."""
        return said if self.memory_type == "fact" else self.memory_type

    def change(self, now: int, operation: str, is_repeated: bool = False, **changes: Any) -> None:
        """``is_repeated``: the same operation twice in a row is told as such."""
        if operation == self.operation and not is_repeated:
            operation = self._seen_operation(changes)
        self.history.append(
            Version(
                self.version, self.operation, self.content, self.metadata, self.tags, self.confidence,
                self.importance, self.expires, self.superseded_by, self.supersede_reason,
            )
        )  # fmt: skip
        for name, value in changes.items():
            setattr(self, name, value)
        self.version += 1
        self.operation = operation
        self.updated_at = now

    def _seen_operation(self, changes: dict[str, Any]) -> str:
        """Of the second of two changes of one name in a row the history says what it sees, as of a plain UPDATE."""
        deleted_at = changes.get("deleted_at", self.deleted_at)
        superseded_at = changes.get("superseded_at", self.superseded_at)
        superseded_by = changes.get("superseded_by", self.superseded_by)
        if deleted_at is not None and self.deleted_at is None:
            return "delete"
        if superseded_by is not None and superseded_by != self.superseded_by:
            return "supersede"
        before, after = [self.deleted_at, self.superseded_at], [deleted_at, superseded_at]
        return "restore" if after.count(None) > before.count(None) else "update"
