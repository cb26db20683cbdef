"""Turns pydantic's errors into the words of this package's own errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_SAID = {"extra_forbidden": "there is no such argument", "missing": "is missing"}


@dataclass(frozen=True)
class Problem:
    """The first problem of arguments.

    Attributes:
        kind: pydantic's name for it.
        path: the names and indexes that lead to the value; empty where the arguments as a whole are wrong.
        said: what is wrong, to stand after the name of the argument.
    """

    kind: str
    path: tuple[int | str, ...]
    said: str

    @property
    def argument(self) -> str:
        """The path as text."""
        return ".".join(map(str, self.path))


def first_of(error: ValidationError) -> Problem:
    """Return the first problem that an error of pydantic tells."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    said = first["msg"].removeprefix("Value error, ")
    return Problem(first["type"], first["loc"], _SAID.get(first["type"], said[:1].lower() + said[1:]))
