"""How many model calls run at the same time, over all workers of one process."""

from __future__ import annotations

from collections.abc import Callable


class Room:
    """Room for model calls, which the workers of one process share in turns.

    A worker that finds none gets the next that is given back. Without turns the worker of a node with much work would
    take it each time, because its own calls end most often.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: dict[Callable[[], None], None] = {}

    def take(self, most: int, wake: Callable[[], None]) -> int:
        """Take room for up to ``most`` calls, and return for how many.

        If there is none, the worker queues, and ``wake`` is called when its turn comes.
        """
        if most <= 0:
            return 0
        if self._free <= 0 or next(iter(self._waiting), wake) != wake:
            self._waiting.setdefault(wake)
            return 0
        self._waiting.pop(wake, None)
        taken = min(most, self._free)
        self.give(-taken)
        return taken

    def give(self, number: int) -> None:
        """Give room back."""
        self._free += number
        if self._free > 0 and self._waiting:
            next(iter(self._waiting))()

    def leave(self, wake: Callable[[], None]) -> None:
        """Wait no more: the worker stops, or its node is out of reach."""
        self._waiting.pop(wake, None)
        self.give(0)
