"""What the tests of contexts do again and again: read a context, and store memories."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import ANA
from tests.support.sqlapi import Api


def parts(api: Api, **arguments: Any) -> list[tuple[str, str]]:
    return [(part.source, part.content) for part in api.get_context(**{**ANA, **arguments})]


def messages(api: Api, **arguments: Any) -> list[str]:
    return [content for source, content in parts(api, **arguments) if source == "message"]


def said(part: Any) -> dict[str, Any]:
    """The metadata of a part without what every part has."""
    return {name: value for name, value in part.metadata.items() if name != "cache"}


def remembered_before(api: Api) -> None:
    """All that is remembered stands before the thread, chosen for the question."""
    api.set_policy(settings={"context": {"layout": "before"}})


def rewrite_summaries(api: Api, summary: str, token_count: int | None = None, **scope: Any) -> None:
    """Give stored summaries of a thread another text, such as no job may store of so few messages."""
    condition = "true" if not scope else "thread_id = %(thread_id)s"
    api.connection.execute(
        f"update memory.summaries set summary = %(summary)s, token_count = %(tokens)s where {condition}",
        {"summary": summary, "tokens": token_count, **scope},
    )


def remember(api: Api, *contents: str, memory_type: str = "fact", **arguments: Any) -> None:
    for content in contents:
        api.add_memory(user_id="ana", content=content, memory_type=memory_type, **arguments)


def estimate(text: str) -> int:
    return (len(text.encode()) + 3) // 4


def at_most(api: Api, text: str) -> int:
    """The tokens that a context reserves for a text that nobody has counted."""
    tokens: int = api.value("select memory._tokens_at_most(%(text)s)", text=text)
    return tokens


def without_recall(api: Api) -> None:
    """Contexts hold what the test is about; test_recall.py tests what recall adds."""
    api.set_policy(settings={"context": {"recall": False}})
