"""Tags, confidence and importance that stand in the metadata of a memory."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api, refused

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


@pytest.mark.feature("B2")
def test_importance_is_a_half_where_nobody_says_it(api: Api) -> None:
    for content, given in (("Prefers email", {}), ("Prefers tea", {"importance": None})):
        assert columns(api, add(api, content, **given))[2] == 0.5
    assert api.value("select count(*) from memory.memories where importance = 0.5") == 2


@pytest.mark.feature("B2")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"confidence": 0, "importance": 1}, ([], 0, 1)),
        ({"tags": []}, BUILT_IN),
        ({"tags": ["größe", "a b"]}, (["größe", "a b"], 1.0, 0.5)),
    ],
)
def test_values_at_the_edge_are_taken(api: Api, said: dict[str, Any], expected: Any) -> None:
    assert columns(api, add(api, "x", metadata=said)) == expected


@pytest.mark.feature("B2")
def test_numbers_too_small_for_the_column_are_taken_as_0(api: Api) -> None:
    small = """'{"confidence": 1e-400, "importance": 1e-45}'"""
    [[stored]] = api.query(f"select (memory.add_memory('ana', 'x', metadata => {small})).memory_id")
    assert columns(api, stored) == ([], 0, 0)


@pytest.mark.feature("B2")
@pytest.mark.parametrize(
    "said",
    [
        *({"confidence": value} for value in ("high", "0.9", 95, -0.1, 1.01, None, True, [0.5], {"value": 0.5})),
        *({"importance": value} for value in ("high", 7, -1, None, False, ["a"])),
        *({"tags": value} for value in (7, "a", None, {"a": 1}, ["a", 7], ["a", None], [["a"]])),
        {"tags": ["a"] * 101},
        {"tags": ["a" * 256]},
        {"about": {"confidence": 0.3, "tags": ["a"]}},
    ],
    ids=lambda said: str(said)[:40],
)
def test_other_values_are_metadata_like_any_other(api: Api, said: dict[str, Any]) -> None:
    memory_id = add(api, "x", metadata=said)
    assert columns(api, memory_id) == BUILT_IN
    assert api.get_memory(user_id="ana", memory_id=memory_id).metadata == said


@pytest.mark.feature("B2")
@pytest.mark.parametrize("metadata", [Jsonb(["tags"]), Jsonb("confidence")])
def test_metadata_that_is_no_object_is_still_refused(api: Api, metadata: Any) -> None:
    with refused("metadata", "22023"):
        add(api, "x", metadata=metadata)


@pytest.mark.feature("B2")
def test_a_repetition_that_replaces_takes_them_too(api: Api) -> None:
    memory_id = add(api, "Likes tea", tags=["old"], confidence=0.1)
    add(api, "likes tea", metadata=SAID, on_conflict="ignore")
    assert columns(api, memory_id) == (["old"], 0.1, 0.5)
    add(api, "likes tea", metadata=SAID, on_conflict="replace")
    assert columns(api, memory_id) == (["communication", "preference"], 0.95, 0.8)


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


@pytest.mark.feature("B2")
def test_a_direct_insert_names_its_columns(api: Api) -> None:
    statement = "insert into memory.memories (user_id, content, metadata) values ('ana', 'x', %s) returning memory_id"
    [[memory_id]] = api.connection.execute(statement, [Jsonb(SAID)]).fetchall()
    assert columns(api, memory_id) == BUILT_IN
