"""Memories that were merged or hidden, when a thread they come from is deleted."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.kinds.facts import assert_counter_is_exact, consolidated, current, know, reconcile, short_term
from tests.support.protocol import ANA, say
from tests.support.sqlapi import Api


def learn(api: Api, thread_id: str, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted from a thread; their ids."""
    say(api, "Hello", thread_id=thread_id)
    return know(api, *contents, thread_id=thread_id, source="extraction", **arguments)


@pytest.mark.feature("D11", "E10")
@pytest.mark.parametrize(
    ("deleted", "left"), [("t1", ["Likes green tea"]), ("t2", ["Likes tea"])], ids=["the loser's", "the winner's"]
)
def test_a_duplicate_holds_again_when_the_thread_of_the_other_one_is_deleted(
    api: Api, deleted: str, left: list[str]
) -> None:
    learn(api, "t1", "Likes tea")
    learn(api, "t2", "Likes green tea")
    reconcile(api, (("Likes tea", "Likes green tea"),))
    api.delete_thread(user_id="ana", thread_id=deleted)
    assert current(api, include_superseded=True) == left
    assert_counter_is_exact(api)


@pytest.mark.feature("D11", "C14")
def test_an_article_made_of_the_memories_of_a_thread_goes_with_it(api: Api) -> None:
    learn(api, "t1", "Was in Oslo")
    short_term(api, "Was in Rome", "Was in Porto", "Had tea", "Had coffee")
    api.connection.execute("update memory.memories set memory_type = 'episodic'")
    consolidated(
        api,
        ("Travels", "...", ("Was in Oslo", "Was in Rome", "Was in Porto")),
        ("Drinks", "...", ("Had tea", "Had coffee")),
    )
    assert current(api) == []
    api.delete_thread(**ANA)
    assert [row.title for row in api.list_documents(user_id="ana")] == ["Drinks"]
    assert current(api) == ["Was in Rome", "Was in Porto"]
    assert_counter_is_exact(api)
