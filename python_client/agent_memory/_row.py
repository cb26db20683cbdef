"""Prints result rows short enough for a list of them in a terminal."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from uuid import UUID

from ._text import harmless

_LONGEST_REPR = 60
"""Characters of a value in repr()."""
_LONGEST_LINE = 200
"""Characters of a text in str()."""


class Row:
    """Prints short; the dataclasses of types.py say what each row has."""

    __slots__ = ()

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        shown = (f"{name}={_brief(value)}" for name, value in values if value is not None and value not in ("", [], {}))
        return f"{type(self).__name__}({', '.join(shown)})"


def _brief(value: object) -> str:
    if isinstance(value, (datetime, UUID)):
        return str(value)
    if isinstance(value, str):
        return repr(_cut(value, _LONGEST_REPR))
    return _cut(repr(value), _LONGEST_REPR)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def line(heading: str, text: str) -> str:
    """Return a text on one line under its heading, cut where it is long, and without effect on a terminal."""
    return f"{heading}: {_cut(harmless(' '.join(text.split())), _LONGEST_LINE)}"
