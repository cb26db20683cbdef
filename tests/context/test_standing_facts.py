"""What was said long ago, holds since long ago, or no longer holds: which memories come first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.context.steps import parts, remember, remembered_before
from tests.support.protocol import activate, age, claim, complete, say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("B12", "F1")


@pytest.fixture
def one(api: Api) -> Callable[..., str]:
    """Returns the memory that a context with room for one chooses."""
    remembered_before(api)
    # The newest message is what a context is about: what matters here are importance and recency.
    api.set_policy(settings={"context": {"max_memories": 1, "recall": False, "relevance_weight": 0}})

    def chosen(**arguments: Any) -> str:
        return next(
            line.split(". ", 1)[1].partition(" (since ")[0]
            for source, content in parts(api, **arguments)
            if source == "memories"
            for line in content.splitlines()
            if line[:3] == "1. "
        )

    return chosen


def ago(days: int) -> str:
    return f"now() - interval '{days} days'"


def hear(api: Api, said: str, *, days: int, event_days: int | None = None) -> None:
    """A model draws this memory from a message so many days old, which tells of an event so many days ago."""
    time = 'select to_char(now() - make_interval(days => %(days)s), \'YYYY-MM-DD"T"HH24:MI:SS"Z"\')'
    [seq] = say(api, said, created_at=api.value(time, days=days), expires_at="infinity")
    api.extract_memories(user_id="ana", thread_id="t1")
    event = {} if event_days is None else {"event_time": api.value(time, days=event_days)}
    memory = {"content": said, "memory_type": "fact", "seqs": [seq], **event}
    complete(api, claim(api, "extract_memories"), memories=[memory])


@pytest.mark.parametrize(
    ("stale", "stale_days", "fresh", "since_days"),
    [
        ("I work in Porto", 90, "I moved to Lisbon last year", 365),
        ("Wohnt zur Miete in Graz", 100, "Ist seit 2001 verheiratet", 9000),
    ],
)
@pytest.mark.parametrize("is_heard", [True, False], ids=["heard", "stated"])
def test_age_counts_from_when_a_fact_was_said_not_since_when_it_holds(
    api: Api, one: Callable[..., str], is_heard: bool, stale: str, stale_days: int, fresh: str, since_days: int
) -> None:
    if is_heard:
        activate(api)
        hear(api, stale, days=stale_days)
        hear(api, fresh, days=1, event_days=since_days)
    else:
        remember(api, stale)
        age(api, stale_days)
        remember(api, fresh, valid_from=api.value(f"select {ago(since_days)}"))
    assert one() == fresh
    # Both are shown where there is room, and what was said last stands last.
    api.set_policy(settings={"context": {"max_memories": 2}})
    shown = dict(parts(api))["memories"]
    assert stale in shown
    assert fresh in shown
    if is_heard:
        assert shown.index(stale) < shown.index(fresh)


@pytest.mark.parametrize("again", ["add", "replace", "reword", "hear"])
def test_a_fact_that_is_confirmed_is_as_fresh_as_a_new_one(api: Api, one: Callable[..., str], again: str) -> None:
    activate(api)
    if again == "hear":
        hear(api, "Plays the cello", days=300)
    else:
        remember(api, "Plays the cello")
    memory_id: UUID = api.list_memories(user_id="ana")[0].memory_id
    age(api, 200)
    remember(api, "Is reading Dune")
    age(api, 20)
    assert one() == "Is reading Dune"
    if again == "add":
        remember(api, "plays the  cello")
    elif again == "replace":
        remember(api, "Plays the cello", on_conflict="replace")
    elif again == "reword":
        api.update_memory(user_id="ana", memory_id=memory_id, content="Plays the cello well")
    else:
        hear(api, "Plays the cello", days=0)
    assert one().startswith("Plays the cello")
