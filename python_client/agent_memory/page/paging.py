"""Pages of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .asked import Asked
from .rendering import address

SIZE = 50


@dataclass(frozen=True)
class Paging:
    """Where a page of a list is.

    Attributes:
        first: the number of its first row, from 1.
        last: the number of its last row.
        total: rows on all pages.
        newer: the address of the page before, or None.
        older: the address of the page after, or None.
    """

    first: int
    last: int
    total: int
    newer: str | None
    older: str | None


def offset_of(asked: Asked) -> int:
    """Return how many rows come before the page that is asked for."""
    return asked.number("offset", most=2**31 - 1) or 0


def paging(view: str, asked: Asked, shown: int, total: int) -> Paging:
    """Return the place of a page among all rows."""
    offset = offset_of(asked)
    kept: dict[str, Any] = {name: values for name, values in asked.lists.items() if name != "offset"}
    newer = None if offset == 0 else address(view, **kept, offset=max(offset - SIZE, 0) or None)
    older = None if offset + shown >= total or not shown else address(view, **kept, offset=offset + SIZE)
    return Paging(offset + 1 if shown else 0, offset + shown, total, newer, older)
