"""What the tests of search by keyword do again and again: store texts of every source, and search."""

from __future__ import annotations

from typing import Any

from tests.support.sqlapi import Api

ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t1"}
EVERYWHERE = ["memory", "summary", "message"]


def search(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "mode": "keyword", **arguments})
    return found


def found(api: Api, query: str = "tea", **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, **arguments)]


def remember(api: Api, content: str, **arguments: Any) -> Any:
    return api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id


def summarize(api: Api, thread_id: str, summary: str) -> None:
    api.talk("ana", thread_id, rounds=3)
    api.summarize_thread(user_id="ana", thread_id=thread_id)
    api.finish_jobs(summary=summary)


def store(api: Api, source: str, text: str, thread_id: str = "t1") -> None:
    """Store one row of the given source with this text."""
    if source == "memory":
        remember(api, text)
    elif source == "message":
        api.add_message(user_id="ana", thread_id=thread_id, role="user", content=text)
    elif source == "document":
        api.add_document(user_id="ana", content=text)
    else:
        summarize(api, thread_id, text)
