"""Listing and counting memories, and all calls through psql."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api

FILTERED: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a\\b", "100% sure", "snake_case", "Likes Tea", "Name is Ana"]),
    ({"memory_type": "preference"}, ["Likes Tea"]),
    ({"search": "tea"}, ["Likes Tea"]),
    ({"search": "BEVERAGE"}, ["Likes Tea"]),
    ({"search": "%"}, ["100% sure"]),
    ({"search": "_"}, ["snake_case"]),
    ({"search": "\\"}, ["a\\b"]),
    ({"search": "t%a"}, []),
    ({"search": "a", "memory_type": "fact"}, ["a\\b", "snake_case", "Name is Ana"]),
    ({"tags_all": ["x", "y"]}, ["Likes Tea"]),
    ({"agent_id": "other"}, ["100% sure"]),
    ({"user_id": "bob"}, ["Likes tea as well"]),
    ({"thread_id": "t1"}, ["snake_case", "Likes Tea"]),
    ({"filter": {"channel": "mail", "by": {"name": "Bo"}}}, ["a\\b"]),
    ({"filter": {"channel": "mail"}, "thread_id": "t1"}, ["Likes Tea"]),
]


@pytest.mark.feature("B3", "A3")
def test_lists_are_filtered_newest_first_and_counted(api: Api) -> None:
    add(api, "Name is Ana")
    tea = {"memory_type": "preference", "embedding_text": "favourite beverage", "tags": ["x", "y"]}
    add(api, "Likes Tea", **tea, thread_id="t1", metadata={"channel": "mail"})
    add(api, "snake_case", tags=["x"], thread_id="t1")
    add(api, "100% sure", agent_id="other")
    add(api, "a\\b", metadata={"channel": "mail", "by": {"name": "Bo", "id": 7}})
    add(api, "Likes tea as well", user_id="bob")
    for filters, expected in FILTERED:
        assert contents(api, **filters) == expected, filters
        assert api.count_memories(**{"user_id": "ana", **filters}) == len(expected)


@pytest.mark.feature("B3", "E3")
def test_lists_are_filtered_by_time_without_the_moment_itself(api: Api) -> None:
    for day, content in enumerate(["first", "second", "third"], start=1):
        statement = "insert into memory.memories (user_id, content, created_at) values ('ana', %s, %s)"
        api.connection.execute(statement, [content, f"2026-05-0{day}"])
    assert contents(api, created_after="2026-05-01") == ["third", "second"]
    assert contents(api, created_before="2026-05-02") == ["first"]
    assert contents(api, created_after="2026-05-01", created_before="2026-05-03") == ["second"]
    assert contents(api, created_after="-infinity", created_before="infinity") == ["third", "second", "first"]
    assert api.count_memories(user_id="ana", created_after="2026-05-01") == 2


@pytest.mark.usefixtures("db")
@pytest.mark.feature("B3")
def test_a_list_of_one_thread_reads_only_its_memories(api: Api) -> None:
    """Whatever was listed before in the session: one plan for all filters would read all memories of the user."""
    api.connection.execute("""
        insert into memory.memories (user_id, content, thread_id)
        select u, 'no. ' || n, 't' || n / 10 from unnest(array['ana', 'bob', 'cy', 'dan', 'eve']) as u,
          generate_series(1, 900) as n order by u""")
    api.connection.execute("analyze memory.memories")
    for _ in range(8):
        api.list_memories(user_id="ana")
        api.count_memories(user_id="ana")
    assert api.entries_read(lambda: api.list_memories(user_id="ana", thread_id="t7")) < 100
    assert api.entries_read(lambda: api.count_memories(user_id="ana", thread_id="t7")) < 50


@pytest.mark.feature("B3")
def test_pages_are_of_50_and_name_the_total_of_the_whole_match(api: Api) -> None:
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'no. ' || n from generate_series(1, 120) n"
    )
    add(api, "Something else", memory_type="context")
    first = api.list_memories(user_id="ana", memory_type="fact")
    third = api.list_memories(user_id="ana", memory_type="fact", row_offset=100)
    assert [row.content for row in first] == [f"no. {n}" for n in range(120, 70, -1)]
    assert [row.content for row in third] == [f"no. {n}" for n in range(20, 0, -1)]
    assert {row.total_count for row in first + third} == {120}
    assert len(api.list_memories(user_id="ana", row_limit=7)) == 7
