"""The types in which an embedding may be passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasNumbers(Protocol):
    """An array of numpy."""

    def tolist(self) -> Any:
        """Return the numbers."""


@runtime_checkable
class HasToNumbers(Protocol):
    """A Vector or HalfVector of the package pgvector."""

    def to_list(self) -> list[float]:
        """Return the numbers."""


Embedding = Sequence[float] | HasNumbers | HasToNumbers
"""Numbers in a list, in an array of numpy, or in a Vector or HalfVector of the package pgvector."""
