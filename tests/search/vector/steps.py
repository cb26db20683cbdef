"""What the tests of search by meaning do again and again: store texts with embeddings, and search."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.support.search_world import embed, insert
from tests.support.sqlapi import Api


def remember(api: Api, content: str, vector: Any = None, **arguments: Any) -> UUID:
    """Add a memory, embedded when there is a vector for it."""
    memory_id: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    if vector is not None:
        embed(api, memory_id, vector)
    return memory_id


def say(api: Api, content: str, vector: Any = None, **arguments: Any) -> None:
    message = api.add_message(**{"user_id": "ana", "thread_id": "t1", "role": "user", "content": content, **arguments})
    if vector is not None:
        embed(api, f"t1/{message.seq}", vector, source="message")


def search(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[Any]:
    target = None if vector is None else str(vector)
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "query_embedding": target, **arguments})
    return found


def found(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, vector, **arguments)]


def keep_query(api: Api, query: str, vector: list[int]) -> None:
    query_hash = api.value(
        "select memory._query_hash(m, %(q)s) from memory.models as m where m.name = 'three'", q=query
    )
    insert(
        api, "query_embeddings", "model", user_id="ana", model="three", query_hash=query_hash, embedding=str(vector)
    )  # fmt: skip
