"""The format of rolling summaries by any provider: a line for each point, marked with its messages.

    [seq 4] Ana: I moved to Lisbon last week.
    [seq 6-8] Ana and the assistant compared health insurers.

By the marks a later run, with any provider, drops the points that have left the window.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"\[seq (\d{1,18})(?:-(\d{1,18}))?\] (.+)")


class Point(NamedTuple):
    """One line of a summary, which rests on messages `first_seq` to `last_seq`."""

    first_seq: int
    last_seq: int
    text: str

    def __str__(self) -> str:
        seqs = f"{self.first_seq}" if self.first_seq == self.last_seq else f"{self.first_seq}-{self.last_seq}"
        return f"[seq {seqs}] {' '.join(self.text.split())}"


def points_in_window(summary: str | None, start_seq: int) -> list[Point]:
    """The marked lines of `summary` that still concern a message at or after `start_seq`."""
    points = (
        Point(int(match[1]), int(match[2] or match[1]), match[3])
        for match in map(_LINE.fullmatch, (summary or "").splitlines())
        if match
    )
    return [point for point in points if point.last_seq >= start_seq]
