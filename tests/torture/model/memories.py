"""The contract of long-term memories: duplicates, versions, superseding, and the limit of an agent."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.torture.model.messages import Said
from tests.torture.model.values import LATER, Clock, Policies, RefusedError, plain

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
    def when_said(self) -> int:
        return next(t for t in (self.said_at, self.valid_from, self.created_at) if t is not None)

    @property
    def key(self) -> tuple[str, str, str]:
        """Current memories of one user differ in this."""
        return self.agent_id, self.memory_type, plain(self.content)

    def change(self, now: int, operation: str, **changes: Any) -> None:
        if operation == self.operation:
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


@dataclass
class Memories:
    """The memories of one user."""

    user_id: str
    clock: Clock
    policies: Policies
    rows: dict[UUID, Remembered] = field(default_factory=dict)
    places: int = 0
    forgotten: set[str] = field(default_factory=set)
    """Statements, spelled plainly, that no model may bring back."""

    # What the calls do -----------------------------------------------------------------------------------------------

    def duplicate_of(self, agent_id: str, memory_type: str, content: str) -> Remembered | None:
        """The current memory with this content, which a call to store that content finds."""
        return next((m for m in self.current() if m.key == (agent_id, memory_type, plain(content))), None)

    def add(self, memory_id: UUID, on_conflict: str, **values: Any) -> tuple[UUID | None, bool]:
        """``memory_id`` is the id that the database has chosen, or the caller."""
        key = values["agent_id"], values["memory_type"], values["content"]
        trust = EXTRACTED_TRUST if values["source"] in EXTRACTED else 1.0
        stays_out = values["source"] in EXTRACTED and self.stays_out(*key, trust)
        if not stays_out:
            self._remove_expired_duplicate(*key, None)
        found = self.duplicate_of(*key)
        if found is None and stays_out:
            quarantined = self.quarantined_like(*key)
            return (quarantined.memory_id if quarantined else None), False
        if found is None:
            return memory_id, self._insert(memory_id, trust=trust, **values).deleted_at is None
        existing = found
        if on_conflict == "error":
            raise RefusedError("23505")
        changes: dict[str, Any] = {}
        if values["source"] not in EXTRACTED and not existing.is_stated:
            changes["trust"] = existing.trust if existing.source_seqs else 1.0
        if on_conflict == "replace":
            changes |= {name: values[name] for name in values if name not in ("agent_id", "memory_type")}
            changes["expires"] = values["expires"] or existing.expires
            existing.change(self.clock.now, "update", **changes)
        elif not existing.is_stated and values["source"] not in EXTRACTED:
            existing.change(self.clock.now, "update", source=values["source"], **changes)
        return existing.memory_id, False

    def _insert(self, memory_id: UUID, **values: Any) -> Remembered:
        self.places += 1
        now = self.clock.now
        new = self.rows[memory_id] = Remembered(memory_id, self.places, updated_at=now, created_at=now, **values)
        self._keep_limit(new.agent_id)
        return new

    def extract(self, memory_id: UUID, content: str, agent_id: str, thread_id: str, said: list[Said]) -> bool:
        """A model draws a memory from messages; whether it is stored."""
        seqs, said_at = sorted(m.seq for m in said), max(m.at for m in said)
        trust = min(m.trust for m in said)
        key = agent_id, "fact", content
        if (known := self._said_before(*key)) is not None:
            self._say_again(known, thread_id, seqs, said_at, trust)
            return False
        if self.stays_out(*key, trust):
            return False
        self._remove_expired_duplicate(*key, None)
        self._insert(
            memory_id, trust=trust, content=content, agent_id=agent_id, memory_type="fact", thread_id=thread_id,
            metadata={}, tags=[], confidence=1.0, importance=0.5, source="extraction", expires=None, is_over=False,
            source_seqs=seqs, said_at=said_at, valid_from=said_at,
        )  # fmt: skip
        return True

    def _said_before(self, agent_id: str, memory_type: str, content: str) -> Remembered | None:
        same = [
            m
            for m in self.rows.values()
            if m.key == (agent_id, memory_type, plain(content)) and m.deleted_at is None and not m.is_expired
        ]
        hidden = [
            m
            for m in same
            if m.superseded_at is not None and m.supersede_reason == "duplicate" and not m.is_stated
            and not m.is_reworded
        ]  # fmt: skip
        last = max(
            hidden,
            key=lambda m: (m.when_said, max(m.source_seqs or [-1]), m.confidence, m.memory_id.int),
            default=None,
        )
        return next((m for m in same if m.is_current), last)

    def _say_again(self, known: Remembered, thread_id: str, seqs: list[int], said_at: int, trust: float) -> None:
        """It counts as said at the last time, and names the messages of the thread where that was."""
        if known.is_stated or known.is_reworded:
            return
        is_later = said_at > known.when_said
        is_earlier = known.valid_from is not None and said_at < known.valid_from
        if known.thread_id == thread_id:
            sources: list[int] | None = sorted({*(known.source_seqs or []), *seqs})
        else:
            sources = seqs if is_later else known.source_seqs
        if not is_later and not is_earlier and known.source_seqs and sources and set(sources) <= set(known.source_seqs):
            return
        known.change(
            self.clock.now, "update",
            said_at=said_at if is_later else known.said_at,
            valid_from=said_at if known.valid_from is None else min(known.valid_from, said_at),
            thread_id=thread_id if is_later else known.thread_id,
            trust=known.trust if sources == known.source_seqs else min(known.trust, trust),
            source_seqs=sources,
        )  # fmt: skip

    def stays_out(self, agent_id: str, memory_type: str, content: str, trust: float) -> bool:
        """Whether what a model says was forgotten, or is in quarantine by somebody's word."""
        key = agent_id, memory_type, plain(content)
        return plain(content) in self.forgotten or any(
            m.key == key and m.quarantined_with is None and m.trust >= trust for m in self.quarantined()
        )

    def quarantined_like(self, agent_id: str, memory_type: str, content: str) -> Remembered | None:
        """The memory with this content that went into quarantine last."""
        key = agent_id, memory_type, plain(content)
        found = [m for m in self.quarantined() if m.key == key]
        return max(found, key=lambda m: m.quarantined_at or 0, default=None)

    def update(self, memory_id: UUID, expected_version: int | None, **changes: Any) -> int:
        row = self._known(memory_id)
        if row.deleted_at is not None:
            raise RefusedError("P0002")
        if expected_version not in (None, row.version):
            raise RefusedError("40001")
        changes = {name: value for name, value in changes.items() if value is not None}
        if row.is_current:
            self._make_room(row, changes.get("content", row.content))
        row.change(self.clock.now, "update", **changes)
        return row.version

    def delete(self, memory_id: UUID) -> bool:
        row = self.rows.get(memory_id)
        if row is None or row.is_expired or (row.deleted_at is not None and row.quarantined_at is None):
            return False
        row.change(self.clock.now, "delete", deleted_at=self.clock.now, quarantined_at=None, quarantined_with=None)
        self._release_hidden(row)
        return True

    def supersede(self, old: UUID, new: UUID) -> str:
        if old == new:
            raise RefusedError("22023")
        for memory_id in (old, new):
            row = self.rows.get(memory_id)
            if row is None or not row.is_current or row.is_expired:
                raise RefusedError("P0002")
        self.rows[old].change(
            self.clock.now, "supersede", superseded_by=new, superseded_at=self.clock.now, supersede_reason="newer"
        )
        return ""  # as void comes out

    def restore(self, memory_id: UUID, version: int | None) -> int:
        row = self._known(memory_id)
        if row.quarantined_at is not None:
            raise RefusedError("23505")
        was_current, deleted_at = row.is_current, row.deleted_at
        earlier = next((v for v in row.history if v.version == version), None)
        if earlier is None and version not in (None, row.version):
            raise RefusedError("P0002")
        if not was_current:
            self._keep_limit(row.agent_id, coming=1)
        content = earlier.content if earlier else row.content
        self._make_room(row, content)
        changes: dict[str, Any] = {
            "superseded_by": None, "superseded_at": None, "supersede_reason": None, "deleted_at": None,
        }  # fmt: skip
        if earlier:
            for name in ("content", "metadata", "tags", "confidence", "importance", "expires"):
                changes[name] = getattr(earlier, name)
        becomes_current = not row.is_current
        row.change(self.clock.now, "restore", **changes)
        restored = row.version
        if becomes_current:
            self._keep_limit(row.agent_id)
        if deleted_at is not None:
            self._hide_released(row, deleted_at)
        return restored

    def quarantine(self, memory_id: UUID) -> str:
        row = self._locked(memory_id)
        if row.quarantined_at is None:
            self.quarantine_all([row], None)
        else:  # what went with a poisoned source stays in quarantine when the source is released
            row.change(self.clock.now, "quarantine", quarantined_with=None)
        return ""

    def quarantine_all(self, rows: list[Remembered], origin: str | None) -> None:
        """What was superseded by these is current again."""
        for row in rows:
            row.change(
                self.clock.now, "quarantine", deleted_at=FOR_EVER, quarantined_at=self.clock.now,
                quarantined_with=origin,
            )  # fmt: skip
        for row in self._in_turn(rows):
            self._release_hidden(row)

    def release(self, memory_id: UUID) -> str:
        row = self._locked(memory_id)
        if row.quarantined_at is None:
            raise RefusedError("P0002")
        self.release_row(row)
        return ""

    def release_row(self, row: Remembered) -> None:
        """It hides again what it hid before, and stays hidden itself as long as its winner is there."""
        since = row.quarantined_at
        assert since is not None
        if row.superseded_at is None:
            self._keep_limit(row.agent_id, coming=1)
            self._make_room(row, row.content)
        row.change(self.clock.now, "release", deleted_at=None, quarantined_at=None, quarantined_with=None)
        if row.superseded_at is None:
            self._keep_limit(row.agent_id)
        self._hide_released(row, since)
        winner = row.superseded_by
        while winner is not None and ((found := self.rows.get(winner)) is None or found.deleted_at is not None):
            winner = found.superseded_by if found else None
        if row.superseded_by is not None and winner != row.superseded_by:
            self._release_hidden_by(row.superseded_by, winner)

    def derived_from(self, thread_id: str, seqs: list[int]) -> list[Remembered]:
        return [
            m
            for m in self.rows.values()
            if m.thread_id == thread_id and m.deleted_at is None and set(seqs).intersection(m.source_seqs or [])
        ]

    def release_derived(self, origin: str, poisoned: dict[str, set[int]]) -> int:
        """What went into quarantine with a source; what another message in quarantine states stays with that."""
        released = 0
        derived = [m.memory_id for m in self.quarantined() if m.quarantined_with == origin]
        for memory_id in sorted(derived, key=lambda i: i.int):
            row = self.rows[memory_id]
            others = poisoned.get(row.thread_id or "", set()).intersection(row.source_seqs or [])
            if others:
                other = f"message {row.thread_id}/{min(others)}"
                row.change(self.clock.now, "quarantine", quarantined_with=other)
                continue
            with suppress(RefusedError), self.all_or_nothing():
                self.release_row(row)
                released += 1
        return released

    def forget(self, memory_id: UUID) -> tuple[list[Remembered], set[str]]:
        """The memories that say the same, which go, and what they ever said."""
        if memory_id not in self.rows:
            raise RefusedError("P0002")
        same = {memory_id: self.rows[memory_id]}
        while further := [o for o in self.rows.values() if o.memory_id not in same and self._is_same(o, same)]:
            same |= {row.memory_id: row for row in further}
        gone = list(same.values())
        statements = {plain(text) for row in gone for text in (row.content, *(v.content for v in row.history))}
        for row in self.rows.values():
            row.history = [v for v in row.history if row.memory_id in same or plain(v.content) not in statements]
        self._remove(gone)
        self.forgotten |= statements
        return gone, statements

    @staticmethod
    def _is_same(row: Remembered, same: dict[UUID, Remembered]) -> bool:
        return (
            plain(row.content) in {plain(m.content) for m in same.values()}
            or (row.supersede_reason == "duplicate" and row.superseded_by in same)
            or any(m.supersede_reason == "duplicate" and m.superseded_by == row.memory_id for m in same.values())
        )

    def delete_extracted_from(self, thread_id: str) -> None:
        """What ``delete_thread`` does to memories."""
        self._remove([m for m in self.rows.values() if m.thread_id == thread_id and not m.is_stated])

    def sweep(self) -> None:
        self._remove([
            m
            for m in self.rows.values()
            if m.is_expired or (m.deleted_at not in (None, FOR_EVER) and m.operation != "evict")
        ])  # fmt: skip

    # What they show ---------------------------------------------------------------------------------------------------

    def shown(self, include_superseded: bool = False, include_quarantined: bool = False) -> list[Remembered]:
        """Newest first."""
        found = [
            m
            for m in self.rows.values()
            if not m.is_expired
            and (
                (include_quarantined and m.quarantined_at is not None)
                or (m.deleted_at is None and (include_superseded or (m.superseded_at is None and not m.is_over)))
            )
        ]
        return sorted(found, key=lambda m: m.place, reverse=True)

    def quarantined(self) -> list[Remembered]:
        return [m for m in self.rows.values() if m.quarantined_at is not None]

    def current(self, agent_id: str | None = None) -> list[Remembered]:
        """Those that count against the limit; expired ones do until a sweep."""
        return [m for m in self.rows.values() if m.is_current and agent_id in (None, m.agent_id)]

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """A refused call changes nothing."""
        before = {memory_id: copy.copy(row) for memory_id, row in self.rows.items()}
        for row in before.values():
            row.history = list(row.history)
        try:
            yield
        except RefusedError:
            self.rows = before
            raise

    # Rules ------------------------------------------------------------------------------------------------------------

    def _known(self, memory_id: UUID) -> Remembered:
        row = self.rows.get(memory_id)
        if row is None or row.is_expired:
            raise RefusedError("P0002")
        return row

    def _locked(self, memory_id: UUID) -> Remembered:
        row = self._known(memory_id)
        if row.deleted_at is not None and row.quarantined_at is None:
            raise RefusedError("P0002")
        return row

    def _make_room(self, row: Remembered, content: str) -> None:
        """Before a memory is current with a content: no other current one may have the content."""
        self._remove_expired_duplicate(row.agent_id, row.memory_type, content, row)
        other = self.duplicate_of(row.agent_id, row.memory_type, content)
        if other not in (None, row):
            raise RefusedError("23505")

    def _remove_expired_duplicate(self, agent_id: str, memory_type: str, content: str, but: Remembered | None) -> None:
        other = self.duplicate_of(agent_id, memory_type, content)
        if other is not None and other is not but and other.is_expired:
            self._remove([other])

    def _remove(self, gone: list[Remembered]) -> None:
        for row in gone:
            del self.rows[row.memory_id]
        for row in self._in_turn(gone):
            if row.operation != "evict":
                self._release_hidden(row)

    @staticmethod
    def _in_turn(rows: list[Remembered]) -> list[Remembered]:
        return sorted(rows, key=lambda m: (m.superseded_at is None, m.superseded_at or 0, -m.memory_id.int))

    def _hidden_by(self, winner: UUID) -> list[Remembered]:
        return [m for m in self.rows.values() if m.superseded_by == winner and m.deleted_at is None]

    def _release_hidden(self, winner: Remembered) -> None:
        self._release_hidden_by(winner.memory_id, winner.superseded_by)

    def _release_hidden_by(self, winner: UUID, heir: UUID | None) -> None:
        for row in sorted(self._hidden_by(winner), key=lambda m: m.place, reverse=True):
            if row.superseded_by != winner or row.deleted_at is not None:
                continue
            duplicate = self.duplicate_of(*row.key)
            new_winner = heir or (duplicate and duplicate.memory_id)
            if new_winner is not None:
                reason = row.supersede_reason if heir else "duplicate"
                row.change(self.clock.now, "supersede", superseded_by=new_winner, supersede_reason=reason)
            else:
                row.change(self.clock.now, "restore", superseded_by=None, superseded_at=None, supersede_reason=None)
                self._keep_limit(row.agent_id)

    def _hide_released(self, winner: Remembered, deleted_at: int) -> None:
        for row in list(self.rows.values()):
            before = next((v for v in row.history if v.version == row.version - 1), None)
            if (
                before is not None
                and before.superseded_by == winner.memory_id
                and row.operation == "restore"
                and row.updated_at >= deleted_at
            ):
                row.change(
                    self.clock.now, "supersede", superseded_by=winner.memory_id, superseded_at=self.clock.now,
                    supersede_reason=before.supersede_reason,
                )  # fmt: skip

    def _keep_limit(self, agent_id: str, coming: int = 0) -> None:
        settings = self.policies.get(agent_id, self.user_id)
        rows = self.current(agent_id)
        surplus = len(rows) + coming - settings["max_per_agent"]
        if surplus <= 0:
            return
        by_age = settings["eviction"] == "fifo"
        expired = sorted((m for m in rows if m.is_expired), key=lambda m: m.expires or LATER)
        others = [m for m in rows if not m.is_expired]
        others.sort(key=lambda m: (() if by_age else m.rank, m.place))
        for victim in [*expired, *others][:surplus]:
            if victim.is_current:
                self._evict([victim])

    def _evict(self, victims: list[Remembered]) -> None:
        for victim in victims:
            operation = "delete" if victim.is_expired and victim.superseded_at is None else "evict"
            victim.change(self.clock.now, operation, deleted_at=self.clock.now)
        for victim in self._in_turn(victims):
            if victim.operation == "evict":
                hidden = self._hidden_by(victim.memory_id)
                with_it = [m for m in hidden if m.agent_id == victim.agent_id and m.rank <= victim.rank]
                if with_it:
                    self._evict(with_it)
            self._release_hidden(victim)
