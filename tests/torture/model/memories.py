"""The contract of long-term memories: what each call does."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from tests.torture.model.consolidated import ConsolidatedRows
from tests.torture.model.messages import Said
from tests.torture.model.reconciled import ReconciledRows
from tests.torture.model.remembered import EXTRACTED, EXTRACTED_TRUST, FOR_EVER, Remembered
from tests.torture.model.values import RefusedError, plain


class Memories(ReconciledRows, ConsolidatedRows):
    """The memories of one user, and the calls that concern them."""

    def add(self, memory_id: UUID, on_conflict: str, **values: Any) -> tuple[UUID | None, bool]:
        """``memory_id`` is the id that the database has chosen, or the caller."""
        key = values["agent_id"], values["content"]
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
        states = values["source"] not in EXTRACTED
        changes: dict[str, Any] = {}
        if states and not existing.is_stated:
            changes = {"source": values["source"], "trust": existing.trust if existing.source_seqs else 1.0}
        if states or on_conflict == "replace" or not existing.is_stated:
            finer = existing.finer_type(values["memory_type"])
            changes |= {"memory_type": finer} if finer != existing.memory_type else {}
        if on_conflict == "replace":
            changes |= {name: values[name] for name in values if name not in ("agent_id", "memory_type")}
            changes["expires"] = values["expires"] or existing.expires
        existing.said_at = self.clock.now
        if changes:  # what is only said again is no new version
            existing.change(self.clock.now, "update", **changes)
        return existing.memory_id, False

    def extract(self, memory_id: UUID, content: str, agent_id: str, thread_id: str, said: list[Said]) -> bool:
        """A model draws a memory from messages; whether it is stored."""
        seqs, said_at = sorted(m.seq for m in said), max(m.at for m in said)
        trust = min(m.trust for m in said)
        key = agent_id, content
        if (known := self._said_before(*key, said_at)) is not None:
            self._say_again(known, thread_id, seqs, said_at, trust)
            self._take_place_again(known, said, trust)
            return False
        if self.stays_out(*key, trust):
            return False
        self._remove_expired_duplicate(*key, None)
        self._insert(
            memory_id, trust=trust, content=content, agent_id=agent_id, memory_type="fact", thread_id=thread_id,
            metadata={}, tags=[], confidence=1.0, importance=0.5, source="extraction", expires=None, is_over=False,
            source_seqs=seqs, said_at=said_at, valid_from=said_at,
        )  # fmt: skip
        self._take_place_again(self.rows[memory_id], said, trust)
        return True

    def _take_place_again(self, row: Remembered, said: list[Said], trust: float) -> None:
        """What had taken the place of the same words gives way to them."""
        for old in [m for m in self.rows.values() if m.key == row.key and m.supersede_reason == "replaced"]:
            winner = self.rows.get(old.superseded_by) if old.superseded_by else None
            if old.deleted_at is not None or winner is None or winner is row or not winner.is_current:
                continue
            may_end = (not winner.counts_as_stated and trust >= winner.trust) or any(
                m.role == "user" and m.trust >= winner.trust for m in said
            )
            first_said = winner.created_at if winner.said_at is None else winner.said_at
            if may_end and first_said <= max(m.at for m in said):
                self._hide(winner, row, "replaced")

    def _said_before(self, agent_id: str, content: str, said_at: int) -> Remembered | None:
        """The memory that has these words, or hides them, or they gave way to it when it was said later."""
        same = [
            m
            for m in self.rows.values()
            if m.key == (agent_id, plain(content)) and m.deleted_at is None and not m.is_expired
        ]
        if current := next((m for m in same if m.is_current), None):
            return current
        for row in sorted(same, key=lambda m: m.superseded_at or 0, reverse=True):
            winner = self.rows.get(row.superseded_by) if row.superseded_by else None
            if winner is not None and winner.is_current:
                if row.supersede_reason == "duplicate":
                    return winner
                if winner.last_said > said_at:
                    return row
        return None

    def _say_again(self, known: Remembered, thread_id: str, seqs: list[int], said_at: int, trust: float) -> None:
        """It counts as said at the last time, and names the messages of the thread where that was."""
        if known.counts_as_stated:
            return
        is_later = said_at > known.last_said
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

    def stays_out(self, agent_id: str, content: str, trust: float) -> bool:
        """Whether what a model says was forgotten, or is in quarantine by somebody's word."""
        key = agent_id, plain(content)
        return plain(content) in self.forgotten or any(
            m.key == key and m.quarantined_with is None and m.trust >= trust for m in self.quarantined()
        )

    def quarantined_like(self, agent_id: str, content: str) -> Remembered | None:
        """The memory with this content that went into quarantine last."""
        key = agent_id, plain(content)
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
        if changes.get("content", row.content) != row.content:
            changes["said_at"] = self.clock.now
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
        row.change(self.clock.now, "restore", is_repeated=True, **changes)
        restored = row.version
        if becomes_current:
            self._keep_limit(row.agent_id)
        if deleted_at is not None:
            self._hide_released(memory_id, deleted_at)
        return restored

    def quarantine(self, memory_id: UUID) -> str:
        row = self._locked(memory_id)
        if row.quarantined_at is None:
            self.quarantine_all([row], None)
        else:  # what went with a poisoned source stays in quarantine when the source is released
            row.change(self.clock.now, "quarantine", is_repeated=True, quarantined_with=None)
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
        self._hide_released(row.memory_id, since)
        winner = row.superseded_by
        while winner is not None and not self._is_present(winner):
            winner = self.rows[winner].superseded_by if winner in self.rows else None
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
                row.change(self.clock.now, "quarantine", is_repeated=True, quarantined_with=other)
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
        self.delete_articles(set(same))
        self.forgotten |= statements
        return gone, statements

    def leave_out(self) -> bool:
        """What an import does to memories that say what was forgotten; whether there were any."""
        gone = {row.memory_id for row in self.rows.values() if plain(row.content) in self.forgotten}
        for row in self.rows.values():
            row.history = [v for v in row.history if plain(v.content) not in self.forgotten]
        for memory_id in gone:
            del self.rows[memory_id]
        for document_id in [i for i, document in self.documents.items() if document.memory_ids & gone]:
            del self.documents[document_id]
        return bool(gone)

    def drop_expired(self) -> None:
        """What has expired is in no export."""
        self.rows = {memory_id: row for memory_id, row in self.rows.items() if not row.is_expired}

    def left_hidden(self) -> list[UUID]:
        """Winners that an import has left out; what they hide stays hidden until a sweep."""
        winners = {m.superseded_by for m in self.rows.values() if m.superseded_by and m.deleted_at is None}
        return [w for w in winners if w not in self.documents and not self._is_present(w)]

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
        for winner in self.left_hidden():
            self._release_hidden_by(winner, None)
        self._remove([
            m
            for m in self.rows.values()
            if m.is_expired or (m.deleted_at not in (None, FOR_EVER) and m.operation != "evict")
        ])  # fmt: skip
