"""The parts of a payload that is too large for a model: smaller payloads, and how their results become one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ..payload import Payload, Result
from .prompts import MAX_CONTENT_CHARACTERS, cut

SHORTEST_CHARACTERS = 200
"""A text is not cut to less: what is still too large then is not a matter of the text."""
SHORT_ROWS, SHORT_TEXT = 5, 2000
"""Rows, and their characters, about which no model has to write more than a reply may have."""


class Parts(NamedTuple):
    """How payloads of a kind are made smaller.

    Attributes:
        rows: the member whose rows are divided; None where there are none.
        text: the member of a row that has its text.
        beside: further members, texts or lists, of which less is given where one of them is larger than all rows.
        continues: whether each part continues the summary of the part before, which makes the last result the whole
            one; otherwise the lists of all results are joined.
    """

    rows: str | None
    text: str = "content"
    beside: Sequence[str] = ()
    continues: bool = False

    def of(self, payload: Payload) -> list[Payload]:
        """The payload in two halves, or as one with less text; empty where it cannot be made smaller."""
        rows, sizes = self._rows(payload)
        widest = max(self.beside, key=lambda name: _size(payload.get(name)), default=None)
        if widest and (size := _size(payload.get(widest))) > max(sum(sizes), 0 if rows else SHORTEST_CHARACTERS):
            given = payload[widest]
            return [{**payload, widest: cut(given, size // 2) if isinstance(given, str) else given[: len(given) // 2]}]
        if len(rows) > 1:
            first = next(at for at, size in enumerate(accumulate(sizes), 1) if 2 * size >= sum(sizes))
            first = min(first, len(rows) - 1)
            return [self._with(payload, rows[:first]), self._with(payload, rows[first:])]
        if sizes and sizes[0] > SHORTEST_CHARACTERS:
            return [self._with(payload, [{**rows[0], self.text: cut(rows[0][self.text], sizes[0] // 2)}])]
        return []

    def is_short(self, payload: Payload) -> bool:
        """Whether a long reply to the payload has another reason than the number of its rows or their length."""
        rows, sizes = self._rows(payload)
        return len(rows) <= SHORT_ROWS and sum(sizes) <= SHORT_TEXT

    def after(self, payload: Payload, made: Result) -> Payload:
        """The payload of a part, after the part before has made this result."""
        if not self.continues:
            return payload
        return {**payload, "previous_summary": made["summary"], "previous_metadata": made.get("metadata")}

    def joined(self, results: Sequence[Result]) -> Result:
        """The result of all parts."""
        if self.continues or len(results) == 1:
            return results[-1]
        return {name: [row for made in results for row in made[name]] for name in results[0]}

    def _rows(self, payload: Payload) -> tuple[list[Payload], list[int]]:
        """The rows that are divided, and the size of each."""
        rows = payload[self.rows] if self.rows else []
        return rows, [_size(row.get(self.text)) for row in rows]

    def _with(self, payload: Payload, rows: list[Payload]) -> Payload:
        is_first = "end_seq" in payload and rows[-1]["seq"] < payload[str(self.rows)][-1]["seq"]
        return {**payload, str(self.rows): rows, **({"end_seq": rows[-1]["seq"]} if is_first else {})}


def _size(given: object) -> int:
    """The characters of a text that a prompt shows, or of all texts of a list."""
    if isinstance(given, list):
        return sum(_size(row.get("content")) for row in given)
    return min(len(given), MAX_CONTENT_CHARACTERS) if isinstance(given, str) else 0
