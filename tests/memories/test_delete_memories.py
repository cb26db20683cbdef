"""Memories that are deleted by ids or filters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from agent_memory import Memory

from tests.memories.steps import add, contents, supersede
from tests.support.protocol import age
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F25")


def delete(api: Api, **arguments: Any) -> dict[str, Any]:
    deleted: dict[str, Any] = api.delete_memories(**{"user_id": "ana", **arguments})
    return deleted


def test_ids_name_what_goes_and_unknown_ones_nothing(api: Api) -> None:
    ids = [add(api, f"Fact {number}") for number in range(3)]
    other = add(api, "Fact 0", user_id="bob")
    assert delete(api, memory_ids=[ids[2], ids[0], ids[0], uuid4(), other]) == {
        "count": 2,
        "sample": [str(ids[2]), str(ids[0])],
        "dry_run": False,
    }
    assert contents(api) == ["Fact 1"]
    assert contents(api, user_id="bob") == ["Fact 0"]


@pytest.mark.parametrize(
    ("condition", "stays"),
    [
        ({"agent_id": "b"}, ["Fact", "Preference", "Tagged", "Filtered", "In a thread", "Old"]),
        ({"tags_all": ["x"]}, ["Fact", "Preference", "Of b", "Filtered", "In a thread", "Old"]),
        ({"thread_id": "t"}, ["Fact", "Preference", "Of b", "Tagged", "Filtered", "Old"]),
        ({"search": "FACT"}, ["Preference", "Of b", "Tagged", "Filtered", "In a thread", "Old"]),
        ({"memory_type": "preference"}, ["Fact", "Of b", "Tagged", "Filtered", "In a thread", "Old"]),
        ({"created_before": "2020-01-01"}, ["Fact", "Preference", "Of b", "Tagged", "Filtered", "In a thread"]),
        ({"created_after": "2020-01-01"}, ["Old"]),
        ({"agent_id": "b", "filter": {"k": 1}}, ...),
    ],
)
def test_filters_are_those_of_the_list(api: Api, condition: dict[str, Any], stays: Any) -> None:
    add(api, "Old")
    age(api, days=4000)
    add(api, "Fact")
    add(api, "Preference", memory_type="preference")
    add(api, "Of b", agent_id="b")
    add(api, "Tagged", tags=["x", "y"])
    add(api, "Filtered", metadata={"k": 1, "l": 2})
    add(api, "In a thread", thread_id="t")
    listed = [row.memory_id for row in api.list_memories(user_id="ana", **condition)]
    everything = sorted(contents(api))
    would = delete(api, **condition, dry_run=True)
    assert would == {"count": len(listed), "sample": [str(each) for each in listed], "dry_run": True}
    assert sorted(contents(api)) == everything
    assert delete(api, **condition) == {**would, "dry_run": False}
    assert sorted(contents(api)) == (everything if stays is ... else sorted(stays))


def test_an_empty_list_deletes_nothing_and_what_is_hidden_goes_too(api: Api) -> None:
    old, new = add(api, "Lives in Oslo", tags=["home"]), add(api, "Lives in Bergen", tags=["home"])
    supersede(api, old, new)
    planted = add(api, "Lives on Mars", tags=["home"])
    api.quarantine_memory(user_id="ana", memory_id=planted, reason="planted")
    assert delete(api, memory_ids=[], tags_all=["home"])["count"] == 0
    assert delete(api, tags_all=["home"])["count"] == 3
    assert contents(api, include_superseded=True, include_quarantined=True) == []


@pytest.mark.parametrize("condition", [{}, {"filter": {}}, {"search": ""}, {"tags_all": []}])
def test_without_a_condition_it_is_refused(api: Api, condition: dict[str, Any]) -> None:
    add(api, "Fact")
    for dry_run in (True, False):
        with refused("memory_ids"):
            delete(api, **condition, dry_run=dry_run)
    assert contents(api) == ["Fact"]


@pytest.mark.feature("F3")
def test_each_can_be_restored_and_its_history_says_that_it_was_deleted(api: Api) -> None:
    ids = [add(api, f"Fact {number}") for number in range(3)]
    delete(api, search="Fact")
    assert contents(api) == []
    for memory_id in ids:
        history = api.get_memory_history(user_id="ana", memory_id=memory_id)
        assert {row.operation for row in history} == {"insert", "delete"}
        api.restore_memory(user_id="ana", memory_id=memory_id)
    assert sorted(contents(api)) == ["Fact 0", "Fact 1", "Fact 2"]


def test_two_that_delete_the_same_delete_each_memory_once(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as threads:
        for agent in ("a", "b"):
            memory.add_memories("ana", [{"content": f"Fact {number}"} for number in range(200)], agent_id=agent)
        deleted = list(threads.map(lambda _: memory.delete_memories("ana", search="Fact")["count"], range(4)))
        assert sum(deleted) == 400
        assert memory.count_memories("ana") == 0


def test_a_memory_that_an_update_by_hand_takes_out_of_the_filter_stays(sessions: Sessions) -> None:
    api = sessions.api
    ids = [add(api, f"Fact {number}", tags=["x"]) for number in range(2)]
    hand = sessions.new()
    with hand.connection.transaction():
        hand.connection.execute("update memory.memories set tags = '{y}' where memory_id = %s", [ids[1]])
        call = sessions.start("delete_memories", user_id="ana", tags_all=["x"])
    assert call.result(PATIENCE) == {"count": 1, "sample": [str(ids[0])], "dry_run": False}
    assert contents(api) == ["Fact 1"]
