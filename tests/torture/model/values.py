"""What all parts of the model share: refusals, times, and the clock of statements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

Expiry = Literal["past", "future", "waiting"] | None
"""When something ends: long ago, long after the test, or never. Nothing in between, because it would race the clock.

``waiting``: an hour ago, after three days, so that a message waits for its extraction until long after the test.
"""

TIMES = {"past": "2020-01-01", "future": "2100-01-01", None: None}
AGED = 10**6
"""So much earlier is what was made older, by the clock of statements."""

WORD = re.compile(r"word(\d)", re.IGNORECASE)
LATER = datetime(2030, 1, 1, tzinfo=timezone.utc)


def moment(expires: Expiry, now: int) -> datetime | None:
    """A time of its own for each statement: of several memories that have expired the earliest goes first."""
    year = {"past": 2020, "future": 2100}.get(expires or "")
    return datetime(year, 1, 1, tzinfo=timezone.utc) + timedelta(minutes=now) if year else None


class RefusedError(Exception):
    """The call that the contract refuses with this SQLSTATE."""

    def __init__(self, code: str, what: str = "") -> None:
        super().__init__(f"{code} {what}")
        self.code = code


@dataclass
class Clock:
    """Counts statements: all that one call changes has the same time, as with ``statement_timestamp()``."""

    now: int = 0

    def tick(self) -> None:
        self.now += 1


@dataclass
class Policies:
    """The layers of the policy, each by (agent_id, user_id), from the weakest to the strongest."""

    built_in: dict[str, Any]
    layers: dict[tuple[str | None, str | None], dict[str, Any]] = field(default_factory=dict)

    def set(self, settings: dict[str, Any], agent_id: str | None, user_id: str | None) -> None:
        layer = self.layers.setdefault((agent_id, user_id), {})
        for key, value in settings.items():
            if value is None:
                layer.pop(key, None)
            else:
                layer[key] = value

    def get(self, agent_id: str | None, user_id: str | None) -> dict[str, Any]:
        effective = dict(self.built_in)
        for layer in ((None, None), (agent_id, None), (None, user_id), (agent_id, user_id)):
            effective |= self.layers.get(layer, {})
        return effective


def words(*texts: str) -> set[str]:
    """The numbered words of texts."""
    return set(WORD.findall(" ".join(texts)))


def plain(content: str) -> str:
    """The spelling in which two contents are compared: upper case and blanks make no difference."""
    return " ".join(content.lower().split())
