"""What the tests of memories do again and again: add, list, expire and limit."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from tests.support.sqlapi import Api

LATER = datetime.now(timezone.utc) + timedelta(days=1)
JAN, FEB, MAR, APR = (datetime(2024, month, 1, tzinfo=timezone.utc) for month in (1, 2, 3, 4))


def add(api: Api, content: str, **arguments: Any) -> UUID:
    stored: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    return stored


def contents(api: Api, **arguments: Any) -> list[str]:
    return [row.content for row in api.list_memories(**{"user_id": "ana", **arguments})]


def home(api: Api, content: str, **arguments: Any) -> UUID:
    return add(api, content, **{"attribute": "home", **arguments})


def states(api: Api, **arguments: Any) -> dict[str, str]:
    """The state of each memory by its content."""
    rows = api.list_memories(**{"user_id": "ana", "include_superseded": True, **arguments})
    return {row.content: row.state for row in rows}


def expire(api: Api, memory_id: UUID) -> None:
    """Let the time run out that a memory had."""
    api.update_memory(user_id="ana", memory_id=memory_id, expires_at=datetime.now(timezone.utc) - timedelta(seconds=1))


def supersede(api: Api, *chain: UUID) -> None:
    """Each gives way to the next."""
    for old, new in itertools.pairwise(chain):
        by = {"old_memory_id": old, "new_memory_id": new, "reason": "newer"}
        api.supersede_memory(user_id="ana", **by)
