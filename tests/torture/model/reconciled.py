"""The contract of reconciliation: which memories a model's word may hide.

All contents of the model differ in one of several words, so that no two are duplicates.
"""

from __future__ import annotations

from typing import Any

from tests.torture.model.memory_rows import MemoryRows
from tests.torture.model.remembered import Remembered

LEAST_TRUST = 0.5
"""With less, a memory hides nothing that is trusted more."""


class ReconciledRows(MemoryRows):
    """The memories of one user, and what jobs that reconcile them do."""

    def facts(self) -> list[Remembered]:
        """What a reconciliation is given, in its order: those said last first."""
        return sorted((m for m in self.current() if not m.is_expired), key=_said_last, reverse=True)

    def contradict(self, entry: list[Remembered], is_believed: bool) -> list[Remembered]:
        """Hide what one contradiction of a reply allows; which those are.

        ``is_believed``: whether a message of the user stands behind the newest memory, which only the database reads.
        """
        if len(entry) < 2 or len({m.agent_id for m in entry}) > 1:
            return []
        newest, *others = sorted(entry, key=_said_last, reverse=True)
        protected = [] if is_believed else [m for m in others if not _may_end(newest, m)]
        winner = protected[0] if protected else newest
        losers = [m for m in entry if m is not winner and (winner is newest or _may_end(winner, m))]
        for loser in losers:
            self._hide(loser, winner, "replaced" if winner is newest else "stated")
        return losers

    def _hide(self, loser: Remembered, winner: Remembered, reason: str) -> None:
        loser.change(
            self.clock.now, "supersede", superseded_by=winner.memory_id, superseded_at=self.clock.now,
            supersede_reason=reason,
        )  # fmt: skip


def _may_end(memory: Remembered, other: Remembered) -> bool:
    """By what is known of the two alone, whatever messages say."""
    if memory.counts_as_stated == other.counts_as_stated:
        return memory.trust >= other.trust
    return memory.counts_as_stated and (memory.trust >= LEAST_TRUST or memory.trust >= other.trust)


def _said_last(m: Remembered) -> tuple[Any, ...]:
    """Of two memories the greater one was said later."""
    said = m.last_said, max(m.source_seqs or [-1]), m.confidence
    return *said, m.thread_id is None, m.thread_id or "", m.created_at, m.memory_id.int
