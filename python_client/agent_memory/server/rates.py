"""Limits how often somebody may call."""

from __future__ import annotations

import time
from collections.abc import Hashable

_MOST = 100_000
"""Callers that are remembered before those are dropped whose time is over: about 20 MB."""


class Rates:
    """Limits the calls of each caller a minute; they may come at once (the generic cell rate algorithm)."""

    def __init__(self, per_minute: int | None) -> None:
        self._pause = 60 / per_minute if per_minute else 0.0
        self._window = 60.0 - self._pause
        self._due: dict[Hashable, float] = {}
        """For each caller when all its calls so far would be over if they came one after the other."""

    def seconds_to_wait(self, caller: Hashable) -> float:
        """Count a call and return 0; or return how many seconds too early it comes, and do not count it."""
        if not self._pause:
            return 0.0
        now = time.monotonic()
        due = max(self._due.get(caller, now), now)
        if due - now > self._window:
            return due - now - self._window
        if len(self._due) >= _MOST:
            self._due = {known: until for known, until in self._due.items() if until > now}
        self._due[caller] = due + self._pause
        return 0.0
