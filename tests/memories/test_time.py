"""Memories of any age, extreme times and numbers, and lists as of a time."""

from __future__ import annotations

import pytest

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("F1", "B10")
@pytest.mark.parametrize(
    "times",
    [
        {"valid_from": "2014-06-01"},
        {"valid_from": "0001-06-01"},
        {"valid_from": "-infinity"},
        {"valid_from": "-infinity", "valid_to": "infinity"},
        {"expires_at": "infinity"},
    ],
    ids=str,
)
def test_a_memory_of_any_age_is_read(api: Api, times: dict[str, str]) -> None:
    memory_id = add(api, "Lived in Oslo", **times)
    assert "Lived in Oslo" in api.render_memories(user_id="ana", query="oslo")
    assert "Lived in Oslo" in api.render_memories(user_id="ana")
    [part] = api.get_context(user_id="ana", thread_id="t1", query="oslo")
    assert "Lived in Oslo" in part.content
    [hit] = api.search(user_id="ana", query="oslo", mode="keyword")
    assert hit.content == "Lived in Oslo"
    never = [name for name, value in times.items() if value.endswith("infinity")]
    [row] = api.list_memories(user_id="ana")
    for memory in (row, api.get_memory(user_id="ana", memory_id=memory_id)):
        assert all(getattr(memory, name) is None for name in never)


@pytest.mark.feature("F1")
@pytest.mark.parametrize("moment", ["0044-03-15 BC", "20000-01-01"])
def test_a_time_that_clients_cannot_read_is_refused(api: Api, moment: str) -> None:
    for argument in ("valid_from", "valid_to", "expires_at"):
        with refused(argument):
            add(api, "Lived in Oslo", **{argument: moment})
    with refused("expires_at"):
        api.add_message(user_id="ana", thread_id="t1", role="user", content="x", expires_at=moment)
    with refused("expires_at"):
        api.store_artifact(user_id="ana", content="x", expires_at=moment)


@pytest.mark.feature("F1", "B10")
def test_infinite_times_that_no_trigger_saw_are_read_as_null(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo")
    api.connection.execute("alter table memory.memories disable trigger user")
    api.connection.execute("""
        update memory.memories set valid_from = '-infinity', valid_to = 'infinity', expires_at = '20000-01-01'
    """)
    memory = api.get_memory(user_id="ana", memory_id=memory_id)
    assert (memory.valid_from, memory.valid_to, memory.expires_at) == (None, None, None)
    assert api.list_memories(user_id="ana") == [memory]


SMALL = 1e-50
"""Less than a real can hold."""


@pytest.mark.feature("B12")
def test_the_smallest_numbers_break_no_read(api: Api) -> None:
    context = {"relevance_weight": SMALL, "importance_weight": SMALL, "recency_weight": SMALL, "memories_share": SMALL}
    add(api, "Lives in Oslo", confidence=SMALL, importance=SMALL)
    api.search(user_id="ana", query="oslo", min_score=SMALL, min_confidence=0)
    for key, value in context.items():
        api.set_policy(settings={"context": {key: value}})
        assert "Lives in Oslo" in api.render_memories(user_id="ana", query="oslo")
        api.get_context(user_id="ana", thread_id="t1", query="oslo")
    api.connection.execute("""
        select memory.set_policy('{"context": {"recency_weight": 1e-400},
          "knowledge_base": {"relevance_threshold": 1e-400, "enable_cross_session_context": true}}')
    """)
    api.get_context(user_id="ana", thread_id="t1", query="what did we discuss about oslo last time")
    assert api.search(user_id="ana", query="oslo", min_confidence=SMALL) != []


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2019-06-01", []),
        ("2020-01-01", ["Lives in Oslo"]),
        ("2021-12-31", ["Lives in Oslo"]),
        ("2022-01-01", ["Lives in Bergen"]),
        ("2023-06-01", ["Works at Acme", "Lives in Bergen"]),
    ],
)
def test_as_of_shows_the_memories_that_held_then(api: Api, as_of: str, expected: list[str]) -> None:
    add(api, "Lives in Oslo", valid_from="2020-01-01Z", valid_to="2022-01-01Z")
    add(api, "Lives in Bergen", valid_from="2022-01-01Z")
    add(api, "Works at Acme", valid_from="2023-01-01Z", valid_to="2024-01-01Z")
    assert contents(api, as_of=f"{as_of}Z") == expected
    hits = api.search(user_id="ana", query="Lives Works", mode="keyword", as_of=f"{as_of}Z")
    assert {hit.content for hit in hits} == set(expected)


def test_as_of_shows_what_was_superseded_later(api: Api) -> None:
    before = api.value("select clock_timestamp()")
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Bergen")
    between = api.value("select clock_timestamp()")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    assert contents(api, as_of=before) == []
    assert contents(api, as_of=between) == ["Lives in Bergen", "Lives in Oslo"]
    assert contents(api, as_of=api.value("select clock_timestamp()")) == ["Lives in Bergen"]


@pytest.mark.feature("F1")
def test_what_was_imported_later_held_from_its_own_time(api: Api) -> None:
    old, new = (add(api, f"I live in {town}", valid_from=f"2026-0{month}-10Z") for town, month in (("A", 1), ("B", 5)))
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    for as_of, expected in (("2026-03-10Z", "I live in A"), ("2026-05-10Z", "I live in B")):
        found = api.search(user_id="ana", query="I live", sources=["memory"], as_of=as_of)
        assert contents(api, as_of=as_of) == [row.content for row in found] == [expected]
