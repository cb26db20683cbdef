"""The memories of a user, and the rules that hold whatever is called: who hides whom, and the limit of an agent."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.torture.model.remembered import Remembered
from tests.torture.model.stores import Document
from tests.torture.model.values import LATER, Clock, Policies, RefusedError, plain


@dataclass
class MemoryRows:
    """The memories of one user."""

    user_id: str
    clock: Clock
    policies: Policies
    rows: dict[UUID, Remembered] = field(default_factory=dict)
    places: int = 0
    forgotten: set[str] = field(default_factory=set)
    """Statements, spelled plainly, that no model may bring back."""
    documents: dict[UUID, Document] = field(default_factory=dict)
    """Those of the user's stores; articles among them hide memories."""

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

    def duplicate_of(self, agent_id: str, content: str) -> Remembered | None:
        """The current memory with this content, which a call to store that content finds."""
        return next((m for m in self.current() if m.key == (agent_id, plain(content))), None)

    def _insert(self, memory_id: UUID, **values: Any) -> Remembered:
        self.places += 1
        now = self.clock.now
        new = self.rows[memory_id] = Remembered(memory_id, self.places, updated_at=now, created_at=now, **values)
        self._keep_limit(new.agent_id)
        return new

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
        self._remove_expired_duplicate(row.agent_id, content, row)
        other = self.duplicate_of(row.agent_id, content)
        if other not in (None, row):
            raise RefusedError("23505")

    def _remove_expired_duplicate(self, agent_id: str, content: str, but: Remembered | None) -> None:
        other = self.duplicate_of(agent_id, content)
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
        is_undone = winner.operation != "evict" and not winner.is_expired
        self._release_hidden_by(winner.memory_id, winner.superseded_by, is_undone)

    def _release_hidden_by(self, winner: UUID, heir: UUID | None, is_undone: bool = True) -> None:
        for row in sorted(self._hidden_by(winner), key=lambda m: m.place, reverse=True):
            if row.superseded_by != winner or row.deleted_at is not None:
                continue
            duplicate = self.duplicate_of(*row.key)
            new_winner = heir or (duplicate and duplicate.memory_id)
            if not is_undone and heir is None and row.supersede_reason in ("replaced", "corrected"):
                row.change(self.clock.now, "end", superseded_by=None)
            elif new_winner is not None:
                reason = row.supersede_reason if heir else "duplicate"
                row.change(self.clock.now, "supersede", superseded_by=new_winner, supersede_reason=reason)
            else:
                row.change(self.clock.now, "restore", superseded_by=None, superseded_at=None, supersede_reason=None)
                self._keep_limit(row.agent_id)

    def _is_present(self, winner: UUID) -> bool:
        """Whether a memory or an article still hides others."""
        row, article = self.rows.get(winner), self.documents.get(winner)
        return (row is not None and row.deleted_at is None) or (article is not None and article.quarantined_at is None)

    def _hide_released(self, winner: UUID, deleted_at: int) -> None:
        for row in list(self.rows.values()):
            before = next((v for v in row.history if v.version == row.version - 1), None)
            if (
                before is not None
                and before.superseded_by == winner
                and row.operation == "restore"
                and row.updated_at >= deleted_at
            ):
                row.change(
                    self.clock.now, "supersede", superseded_by=winner, superseded_at=self.clock.now,
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
