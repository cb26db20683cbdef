"""The contract of summaries: which messages a rolling one and a profile of the user are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from tests.torture.model.messages import Said, Thread

WINDOW = 14
"""Messages that a rolling summary covers at least, by the built-in policy."""


@dataclass
class Summary:
    """A completed summary of a whole thread, of its newest messages (rolling), or of the user (a profile)."""

    summary_id: UUID
    text: str
    end_seq: int
    base_id: UUID | None
    start_seq: int = 0
    agents: frozenset[str] = frozenset()
    """Whose messages were read, for this one and those before."""
    made_at: int = 0
    """When the job was handed out, by the clock of statements."""


def to_roll(thread: Thread, recent_k: int | None) -> tuple[list[int], int, int, Summary | None]:
    """What a rolling summary reads, as seqs, which range it covers, and which summary it continues."""
    current = [m for m in thread.messages.values() if m.is_current]
    if not current:
        return [], 0, 0, None
    end = ([m for m in current if m.role == "assistant"] or current)[-1].seq
    first = thread.after_opening
    if end < first:
        return [], 0, 0, None
    window = max(first, end - WINDOW + 1)
    window = min(window + (window - first) % 2, end)  # a question keeps its answer
    unsummarized = thread.summaries[-1].end_seq + 1 if thread.summaries else 0
    readable = [m.seq for m in thread.messages.values() if m.is_readable]
    start = min(seq for seq in readable if seq >= max(first, min(window, unsummarized)))
    across = [s for s in thread.rolling if s.start_seq <= start <= s.end_seq]
    base = max(across, key=lambda s: s.end_seq, default=None)
    begin = next_seq = base.end_seq + 1 if base else start
    if recent_k is not None:
        begin = max(begin, end - recent_k + 1)
    return [seq for seq in readable if begin <= seq <= end], begin if begin > next_seq else start, end, base


@dataclass
class Profiles:
    """The summaries of a user across threads, each made from the one before."""

    made: list[Summary] = field(default_factory=list)

    def recall(self, thread_id: str, threads: dict[str, Thread]) -> None:
        """A thread is cleared or deleted; profiles that were made of it alone go."""
        threads[thread_id].profiled_to = None
        if all(thread.profiled_to is None for thread in threads.values()):
            self.made.clear()

    def forget(self, threads: dict[str, Thread]) -> None:
        """Start anew with all that is left."""
        self.made.clear()
        for thread in threads.values():
            thread.profiled_to = None

    def renew(self, thread_id: str, first_seq: int, threads: dict[str, Thread]) -> int:
        """Drop those that may have read a message, and let the next read the threads again; how many they were."""
        read_to = threads[thread_id].profiled_to
        if read_to is None or read_to < first_seq:
            return 0
        since = min(m.at for m in threads[thread_id].messages.values() if m.seq >= first_seq)
        for thread in threads.values():
            if thread.last_at >= since:
                thread.profiled_to = None
        kept = [s for s in self.made if s.made_at < since]
        dropped = len(self.made) - len(kept)
        self.made = kept
        return dropped


def to_profile(threads: dict[str, Thread]) -> tuple[list[Said], dict[str, int]]:
    """What the next profile reads, and how far it will have read each thread; others have nothing for it."""
    given: list[Said] = []
    through: dict[str, int] = {}
    for thread_id, thread in threads.items():
        begin = 0 if thread.profiled_to is None else thread.profiled_to + 1
        rows = [m for m in thread.messages.values() if m.seq >= begin]
        heard = [m for m in rows if m.is_readable and m.role in ("user", "assistant") and m.content]
        given += heard
        if heard:
            through[thread_id] = rows[-1].seq
    return given, through
