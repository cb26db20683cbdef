"""What the tests of reconciliation and consolidation do again and again: store facts, claim, hand in, and look."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.support.protocol import age, claim, complete
from tests.support.sqlapi import Api

Pair = tuple[str, ...]


def know(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store facts, the newest last; their ids."""
    return [api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id for content in contents]


def about(subject: str) -> dict[str, Any]:
    return {"metadata": {"subject": subject}}


def current(api: Api, **arguments: Any) -> list[str]:
    """Contents that readers see, oldest first."""
    return [row.content for row in reversed(api.list_memories(**{"user_id": "ana", **arguments}))]


def superseded(api: Api) -> dict[str, tuple[str, str]]:
    """For each superseded memory, by content: the reason, and the content of the memory that superseded it."""
    rows = {row.memory_id: row for row in api.list_memories(user_id="ana", include_superseded=True)}
    return {
        row.content: (row.supersede_reason, rows[row.superseded_by].content)
        for row in rows.values()
        if row.superseded_at is not None
    }


def claimed(api: Api, **arguments: Any) -> Any:
    """A reconciliation on demand."""
    api.reconcile_memories(user_id="ana", **arguments)
    return claim(api, "reconcile_memories")


def numbers(job: Any, contents: Pair) -> list[int]:
    by_content = {fact["content"]: fact["number"] for fact in job.payload["facts"]}
    return [by_content[content] for content in contents]


def hand_in(api: Api, job: Any, duplicates: tuple[Pair, ...] = (), contradictions: tuple[Pair, ...] = ()) -> Any:
    """What a model finds, in contents instead of numbers; the job's result."""
    return complete(
        api,
        job,
        duplicates=[{"numbers": numbers(job, pair)} for pair in duplicates],
        contradictions=[{"numbers": numbers(job, pair)} for pair in contradictions],
    )


def reconcile(api: Api, duplicates: tuple[Pair, ...] = (), contradictions: tuple[Pair, ...] = ()) -> Any:
    return hand_in(api, claimed(api), duplicates, contradictions)


def counts(kept: int, merged: int = 0, contradicted: int = 0, refused: int = 0) -> dict[str, int]:
    return {"kept": kept, "merged": merged, "contradicted": contradicted, "refused": refused}


def assert_counter_is_exact(api: Api) -> None:
    stored = (
        "select agent_id, count(*) from memory.memories where superseded_at is null and deleted_at is null group by 1"
    )
    counted = "select agent_id, memory_count from memory.memory_scopes where memory_count > 0"
    assert sorted(api.query(counted)) == sorted(api.query(stored))


def short_term(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted a week ago."""
    ids = [
        memory_id
        for number, content in enumerate(contents)
        for memory_id in know(
            api, content, memory_type=("context", "episodic")[number % 2], **{"source": "extraction", **arguments}
        )
    ]
    age(api, days=8)
    return ids


def consolidated(api: Api, *articles: tuple[str, str, Pair], job: Any = None) -> Any:
    """Consolidate on demand into articles of a title, a text and the contents of their memories; the job's result."""
    if job is None:
        api.consolidate(user_id="ana")
        job = claim(api, "consolidate")
    by_content = {memory["content"]: memory["number"] for memory in job.payload["memories"]}
    entries = [
        {"title": title, "content": text, "numbers": [by_content[content] for content in contents]}
        for title, text, contents in articles
    ]
    return complete(api, job, articles=entries)
