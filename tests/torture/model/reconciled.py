"""The contract of reconciliation: which memories a model's word may hide, and what the winner keeps of them."""

from __future__ import annotations

from typing import Any

from tests.torture.model.memory_rows import MemoryRows
from tests.torture.model.remembered import Remembered
from tests.torture.model.values import plain

LEAST_TRUST = 0.5
"""With less, a memory hides nothing that is trusted more."""


class ReconciledRows(MemoryRows):
    """The memories of one user, and what jobs that reconcile them do."""

    def facts(self) -> list[Remembered]:
        """What a reconciliation is given, in its order: those said last first.

        The built-in model also gets extracted facts that a job has hidden.
        """
        found = [m for m in self.current() if not m.is_expired]
        for row in found:
            found += [
                m
                for m in self._hidden_by(row.memory_id)
                if m.supersede_reason in ("duplicate", "contradict", "stated")
                and not (m.counts_as_stated or m.is_expired)
            ]
        return sorted(found, key=_said_last, reverse=True)

    def reconcile(self, entry: list[Remembered], content: str | None, is_believed: bool | None) -> list[Remembered]:
        """Hide what one entry of a reply allows; which those are. Without ``content`` the entry is a contradiction.

        ``is_believed``: whether messages say what an extracted memory says against a stated one, which only the
        database reads.
        """
        if len(entry) < 2 or len({m.agent_id for m in entry}) > 1:
            return []
        if content is not None and not any(plain(m.content) == plain(content) for m in entry):
            return []
        newest = self._newest(entry)
        winner = self._newest([m for m in entry if m.counts_as_stated] or entry)
        if content is None and is_believed:
            winner = newest
        losers = []
        for m in entry:
            is_protected = m.counts_as_stated and not winner.counts_as_stated
            may_hide = winner.trust >= LEAST_TRUST or winner.trust >= m.trust
            if content is not None:
                may_hide = may_hide and not is_protected and plain(m.content) == plain(winner.content)
            elif is_protected:
                may_hide = may_hide and bool(is_believed)
            if m is not winner and may_hide:
                losers.append(m)
        reason = "duplicate" if content is not None else "contradict" if winner is newest else "stated"
        for loser in losers:
            self._hide(loser, winner, reason)
        if losers and content is not None:
            self._keep_the_best(winner, losers)
        return losers

    def _newest(self, entry: list[Remembered]) -> Remembered:
        return max(entry, key=lambda m: (max(map(_when, self._duplicates_behind(m))), *_said_last(m)[1:]))

    def _duplicates_behind(self, winner: Remembered) -> list[Remembered]:
        """A memory with the duplicates that it hides, which count as the memory said again."""
        found = [winner]
        for row in found:
            found += [
                m
                for m in self._hidden_by(row.memory_id)
                if m.supersede_reason in ("duplicate", "near-duplicate") and m not in found
            ]
        return found

    def _hide(self, loser: Remembered, winner: Remembered, reason: str) -> None:
        loser.change(
            self.clock.now, "supersede", superseded_by=winner.memory_id, superseded_at=self.clock.now,
            supersede_reason=reason,
        )  # fmt: skip

    def _keep_the_best(self, winner: Remembered, losers: list[Remembered]) -> None:
        tags = {tag for m in [winner, *losers] for tag in m.tags}
        best: dict[str, Any] = {
            "tags": winner.tags if tags <= set(winner.tags) else sorted(tags),
            "importance": max(m.importance for m in [winner, *losers]),
        }
        if any(getattr(winner, name) != value for name, value in best.items()):
            winner.change(self.clock.now, "update", **best)

    def _win_again(self, loser: Remembered) -> None:
        """A memory that lost a contradiction and is said later changes places with the extracted memory that won."""
        winner = self.rows.get(loser.superseded_by) if loser.superseded_by else None
        if loser.supersede_reason != "contradict" or winner is None or not winner.is_current:
            return
        if winner.counts_as_stated or _when(loser) <= _when(winner):
            return
        if self.duplicate_of(*loser.key) is None:
            loser.change(self.clock.now, "restore", superseded_by=None, superseded_at=None, supersede_reason=None)
        self._hide(winner, loser, "contradict")


def _when(m: Remembered) -> tuple[int, int, float]:
    """Of two memories the greater one was said later."""
    return m.when_said, max(m.source_seqs or [-1]), m.confidence


def _said_last(m: Remembered) -> tuple[Any, ...]:
    return _when(m), m.thread_id is None, m.thread_id or "", m.created_at, m.memory_id.int
