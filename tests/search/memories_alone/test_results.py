"""Search among memories alone finds what comparing everything finds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.search.memories_alone.steps import HIDE, MODES, _update, found, remember, search
from tests.support.search_world import embed
from tests.support.sqlapi import Api

BRING_BACK: dict[str, Callable[[Api, UUID], Any]] = {
    "deleted": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "superseded": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "expired by hand": _update("expires_at = 'infinity'"),
    "no longer valid": _update("valid_to = null"),
    "deleted by hand": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
}


@pytest.mark.feature("E4", "A3")
@pytest.mark.parametrize(("how", "model"), [*((how, "three") for how in HIDE), ("deleted", "other")])
def test_a_hidden_memory_is_not_found_until_it_is_brought_back(api: Api, how: str, model: str) -> None:
    """This holds for every model that has embedded the memory."""
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    embed(api, memory_id, [1, 0, 0], model="other")
    api.activate_model(name=model)
    tea = functools.partial(found, api, "tea", [1, 0, 0])
    assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]
    HIDE[how](api, memory_id)
    assert [text for mode in MODES for text in tea(mode=mode) if text == "Likes tea"] == []
    # What takes no place among the best, either.
    assert (
        api.query("select from memory.texts where model is not null and valid_until > now() and source = 'memory'")
        == []
    )
    if how in BRING_BACK:
        BRING_BACK[how](api, memory_id)
        assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]


def test_a_memory_that_ends_later_is_found_and_its_text_has_that_end(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0], expires_at="2090-01-01")
    remember(api, "Owns a boat", [1, 0, 1], valid_to="2090-01-01")
    assert found(api, None, [1, 0, 0]) == ["Likes tea", "Owns a boat"]
    ends = api.query("select valid_until from memory.texts where model is not null")
    assert {end.valid_until.year for end in ends} == {2090}


def test_a_changed_memory_is_found_by_its_words_until_it_is_embedded(api: Api) -> None:
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    api.update_memory(user_id="ana", memory_id=memory_id, content="Likes cocoa")
    assert found(api, "cocoa", [1, 0, 0]) == ["Likes cocoa"]
    assert found(api, None, [1, 0, 0]) == []
    embed(api, memory_id, [0, 1, 0])
    assert found(api, None, [1, 0, 0]) == ["Likes cocoa"]


def test_a_later_time_of_storing_moves_a_memory_before_its_equals(api: Api) -> None:
    for content in ("first", "second"):
        remember(api, content, [1, 0, 0])
    assert found(api, None, [1, 0, 0]) == ["second", "first"]
    api.connection.execute("update memory.memories set created_at = '2090-01-01' where content = 'first'")
    assert found(api, None, [1, 0, 0]) == ["first", "second"]


@pytest.mark.parametrize("source", ["summary", "document"])
def test_other_sources_are_found_together_with_memories(api: Api, source: str) -> None:
    """A search of several sources takes other steps than a search of memories alone, and finds the same memories."""
    remember(api, "Likes tea", [1, 0, 0])
    everything = functools.partial(search, api, "tea", [1, 0, 0], sources=["memory", "summary", "document"])
    alone = everything()
    assert [result.content for result in alone] == ["Likes tea"]
    if source == "document":
        api.add_document(user_id="ana", content="All about tea")
    else:
        api.connection.execute(
            """
            insert into memory.summaries (user_id, thread_id, kind, summary_id, start_seq, end_seq, status, summary)
            values ('ana', 't1', 'rolling', gen_random_uuid(), 0, 9, 'completed', 'All about tea')
            """
        )
    assert {(result.source, result.content) for result in everything()} == {
        ("memory", "Likes tea"),
        (source, "All about tea"),
    }
    assert [result.id for result in everything(sources=["memory"])] == [alone[0].id]
