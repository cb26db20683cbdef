"""What the tests of search among memories alone do again and again: store memories, and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.support.search_world import embed
from tests.support.sqlapi import Api

ALONE: dict[str, Any] = {"sources": ["memory"]}
MODES = ["hybrid", "vector", "keyword"]


def remember(api: Api, content: str, vector: list[int], **arguments: Any) -> UUID:
    memory_id: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    embed(api, memory_id, vector)
    return memory_id


def search(api: Api, query: str | None, vector: Any, **arguments: Any) -> list[Any]:
    target = None if vector is None else str(vector)
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "query_embedding": target, **ALONE, **arguments})
    return found


def found(api: Api, query: str | None, vector: Any, **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, vector, **arguments)]


def _supersede(api: Api, memory_id: UUID) -> None:
    other = api.add_memory(user_id="ana", content="Drinks coffee").memory_id
    api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=other, reason="contradict")


def _update(assignment: str) -> Callable[[Api, UUID], None]:
    """Update a memory by plain SQL, as an administrator may."""

    def update(api: Api, memory_id: UUID) -> None:
        statement = f"update memory.memories set {assignment} where memory_id = %s"
        assert api.connection.execute(statement, [memory_id]).rowcount == 1

    return update


PAST = "'2020-01-01'"
HIDE: dict[str, Callable[[Api, UUID], Any]] = {
    "deleted": lambda api, memory_id: api.delete_memory(user_id="ana", memory_id=memory_id),
    "superseded": _supersede,
    "expired": lambda api, memory_id: api.update_memory(user_id="ana", memory_id=memory_id, expires_at="2020-01-01"),
    "expired by hand": _update(f"expires_at = {PAST}"),
    "no longer valid": _update(f"valid_to = {PAST}"),
    "deleted by hand": _update("deleted_at = now()"),
    "removed": lambda api, _: api.connection.execute("delete from memory.memories"),
}
