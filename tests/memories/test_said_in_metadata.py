"""Tags, confidence and importance that stand in the metadata of a memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api

# What applications store that keep memories as JSON.
SAID = {"source": "conversation", "confidence": 0.95, "importance": 0.8, "tags": ["communication", "preference"]}
BUILT_IN: tuple[Any, ...] = ([], 1.0, 0.5)


def columns(api: Api, memory_id: Any) -> tuple[Any, ...]:
    row = api.get_memory(user_id="ana", memory_id=memory_id)
    return (row.tags, pytest.approx(row.confidence), pytest.approx(row.importance))


@pytest.mark.feature("B2")
def test_what_is_left_out_is_taken_from_the_metadata_which_stays_whole(api: Api) -> None:
    memory_id = add(api, "Prefers email", metadata=SAID)
    assert columns(api, memory_id) == (["communication", "preference"], 0.95, 0.8)
    row = api.get_memory(user_id="ana", memory_id=memory_id)
    assert (row.metadata, row.source) == (SAID, "user")
    assert contents(api, tags_all=["preference"]) == ["Prefers email"]
    found = {"user_id": "ana", "query": "email", "mode": "keyword", "tags_any": ["communication"]}
    assert [len(api.search(**found, min_confidence=limit)) for limit in (0.9, 0.99)] == [1, 0]


@pytest.mark.feature("B2")
def test_an_argument_wins_over_the_metadata(api: Api) -> None:
    memory_id = add(api, "Prefers email", metadata=SAID, tags=["mine"], confidence=0.25, importance=0.75)
    assert columns(api, memory_id) == (["mine"], 0.25, 0.75)
    memory_id = add(api, "Prefers tea", metadata=SAID, confidence=0.25)
    assert columns(api, memory_id) == (["communication", "preference"], 0.25, 0.8)
    memory_id = add(api, "Prefers trains", metadata=SAID, importance=0.5)
    assert columns(api, memory_id) == (["communication", "preference"], 0.95, 0.5)


OTHER_VALUES: list[dict[str, Any]] = [
    *({"confidence": value} for value in ("high", "0.9", 95, -0.1, None, True, [0.5], {"value": 0.5})),
    *({"importance": value} for value in ("high", 7, -1, None, False, ["a"])),
    *({"tags": value} for value in (7, "a", None, {"a": 1}, ["a", 7], ["a", None], [["a"]])),
    {"tags": ["a"] * 101},
    {"tags": ["a" * 256]},
    {"about": {"confidence": 0.3, "tags": ["a"]}},
]


@pytest.mark.feature("B2")
def test_other_values_are_metadata_like_any_other(api: Api) -> None:
    for number, said in enumerate(OTHER_VALUES):
        memory_id = add(api, f"x {number}", metadata=said)
        assert columns(api, memory_id) == BUILT_IN, said
        assert api.get_memory(user_id="ana", memory_id=memory_id).metadata == said
    assert columns(api, add(api, "edge", metadata={"confidence": 0, "importance": 1, "tags": []})) == ([], 0, 1)


@pytest.mark.feature("B2")
def test_an_update_takes_what_it_changes_in_the_metadata(api: Api) -> None:
    memory_id = add(api, "Likes tea", metadata=SAID)
    update = {"user_id": "ana", "memory_id": memory_id}
    api.update_memory(**update, confidence=0.3)
    api.update_memory(**update, metadata={**SAID, "channel": "mail"})  # the metadata as read, with one more key
    assert columns(api, memory_id) == (["communication", "preference"], 0.3, 0.8)
    api.update_memory(**update, metadata={**SAID, "confidence": 0.6, "tags": ["new"]}, importance=0.1)
    assert columns(api, memory_id) == (["new"], 0.6, 0.1)
    api.update_memory(**update, metadata={**SAID, "confidence": 0.7, "tags": 7}, confidence=0.2)
    assert columns(api, memory_id) == (["new"], 0.2, 0.1)
    api.update_memory(**update, metadata={})
    assert columns(api, memory_id) == (["new"], 0.2, 0.1)
    api.restore_memory(**update, version=2)
    assert columns(api, memory_id) == (["communication", "preference"], 0.3, 0.8)
