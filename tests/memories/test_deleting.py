"""Memories that are deleted, superseded and restored, and those that come back when another goes."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.memories.steps import add, contents, expire, supersede
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("B4", "A3")
def test_deleting_says_whether_there_was_one(api: Api) -> None:
    memory_id = add(api, "Likes tea")
    assert not api.delete_memory(user_id="bob", memory_id=memory_id)
    assert not api.delete_memory(user_id="ana", memory_id=uuid4())
    assert contents(api) == ["Likes tea"]
    assert api.delete_memory(user_id="ana", memory_id=memory_id)
    assert not api.delete_memory(user_id="ana", memory_id=memory_id)
    assert contents(api) == []


def test_a_deleted_memory_can_be_restored_until_it_is_swept(api: Api) -> None:
    memory_id = add(api, "Likes tea")
    api.delete_memory(user_id="ana", memory_id=memory_id)
    assert api.restore_memory(user_id="ana", memory_id=memory_id) == 3
    assert contents(api) == ["Likes tea"]
    api.delete_memory(user_id="ana", memory_id=memory_id)
    assert api.sweep()["memories"] == 1
    with refused("memory_id", "P0002"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


@pytest.mark.parametrize(
    ("old", "new", "reason", "argument", "code"),
    [
        ("one", "one", "same", "new_memory_id", "22023"),
        ("none", "one", "unknown", "old_memory_id", "P0002"),
        ("one", "of_bob", "not ours", "new_memory_id", "P0002"),
        ("one", "gone", "by one that is superseded", "new_memory_id", "P0002"),
    ],
)
def test_a_supersede_that_makes_no_sense_is_refused(
    api: Api, old: str, new: str, reason: str, argument: str, code: str
) -> None:
    ids = {"one": add(api, "one"), "two": add(api, "two"), "gone": add(api, "gone"), "none": uuid4()}
    ids["of_bob"] = add(api, "of bob", user_id="bob")
    api.supersede_memory(user_id="ana", old_memory_id=ids["gone"], new_memory_id=ids["two"], reason="first")
    with refused(argument, code):
        api.supersede_memory(user_id="ana", old_memory_id=ids[old], new_memory_id=ids[new], reason=reason)


@pytest.mark.feature("F3")
def test_an_earlier_version_can_be_restored(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", tags=["home"], importance=0.25)
    api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen", tags=[], importance=0.5)
    assert api.restore_memory(user_id="ana", memory_id=memory_id, version=1) == 3
    read = api.get_memory(user_id="ana", memory_id=memory_id)
    assert (read.content, read.tags, read.importance) == ("Lives in Oslo", ["home"], 0.25)
    assert [hit.id for hit in api.search(user_id="ana", query="oslo", mode="keyword")] == [str(memory_id)]


@pytest.mark.parametrize("fate", ["deleted", "superseded"])
def test_nothing_is_restored_beside_the_same_words_stored_since(api: Api, fate: str) -> None:
    memory_id = add(api, "Likes tea")
    if fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=memory_id)
    else:
        newer = add(api, "Likes coffee")
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=newer, reason="changed")
    add(api, "likes tea")
    with refused("memory_id", "23505"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B8", "F3")
@pytest.mark.parametrize("fate", ["deleted", "superseded", "evicted"])
@pytest.mark.parametrize("eviction", ["importance", "fifo"])
def test_a_memory_restored_at_the_limit_stays_and_another_goes(api: Api, fate: str, eviction: str) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 2, "eviction": eviction}})
    memory_id = add(api, "oldest")
    if fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=memory_id)
    elif fate == "superseded":
        by = {"new_memory_id": add(api, "newer"), "reason": "newer"}
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, **by)
    add(api, "second")
    add(api, "third")
    assert contents(api) == ["third", "second"]
    api.restore_memory(user_id="ana", memory_id=memory_id)
    assert contents(api) == ["third", "oldest"]


@pytest.mark.feature("E11", "F3")
@pytest.mark.parametrize("goes_by", ["deletion", "sweep", "expiry", "direct deletion", "direct update"])
def test_a_hidden_memory_comes_back_when_the_memory_that_hid_it_goes(api: Api, goes_by: str) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    if goes_by in ("deletion", "sweep"):
        api.delete_memory(user_id="ana", memory_id=new)
    elif goes_by == "expiry":
        expire(api, new)
    elif goes_by == "direct deletion":
        api.connection.execute("delete from memory.memories where memory_id = %s", (new,))
    else:
        api.connection.execute("update memory.memories set deleted_at = now() where memory_id = %s", (new,))
    if goes_by in ("sweep", "expiry"):
        api.sweep()
    assert contents(api) == ["Lives in Oslo"]
    memory = api.get_memory(user_id="ana", memory_id=old)
    assert (memory.superseded_by, memory.supersede_reason, memory.superseded_at) == (None, None, None)
    history = api.get_memory_history(user_id="ana", memory_id=old)
    assert [version.operation for version in history] == ["insert", "supersede", "restore"]
    assert api.query("select * from memory.memories where superseded_by is not null") == []


@pytest.mark.feature("E11", "F3")
def test_undoing_a_deletion_hides_again_the_memory_it_brought_back(api: Api) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    api.delete_memory(user_id="ana", memory_id=new)
    api.restore_memory(user_id="ana", memory_id=new)
    assert contents(api) == ["Lives in Rome"]
    assert api.get_memory(user_id="ana", memory_id=old).supersede_reason == "newer"


@pytest.mark.feature("F3")
@pytest.mark.parametrize("when", ["before", "after"])
def test_undoing_a_deletion_leaves_alone_a_memory_that_the_user_has_touched(api: Api, when: str) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    if when == "before":
        api.restore_memory(user_id="ana", memory_id=old)
    api.delete_memory(user_id="ana", memory_id=new)
    if when == "after":
        api.update_memory(user_id="ana", memory_id=old, importance=1)
    api.restore_memory(user_id="ana", memory_id=new)
    assert sorted(contents(api)) == ["Lives in Oslo", "Lives in Rome"]


@pytest.mark.feature("E11")
@pytest.mark.parametrize("gone", [(1, 2), (2, 1)])
def test_the_next_member_of_a_chain_goes_on_hiding_the_rest(api: Api, gone: tuple[int, ...]) -> None:
    chain = [add(api, f"Lives in no. {number}") for number in range(4)]
    supersede(api, *chain)
    for number in gone:
        api.delete_memory(user_id="ana", memory_id=chain[number])
    assert contents(api) == ["Lives in no. 3"]
    api.delete_memory(user_id="ana", memory_id=chain[3])
    left = [number for number in (2, 1, 0) if number not in gone]
    assert contents(api) == [f"Lives in no. {left[0]}"]


@pytest.mark.feature("E11")
def test_members_of_a_chain_deleted_in_one_statement_pass_on_the_memory_they_hid(api: Api) -> None:
    chain = [add(api, f"Lives in no. {number}") for number in range(4)]
    supersede(api, *chain)
    api.connection.execute("delete from memory.memories where memory_id = any (%s)", (chain[1:3],))
    assert contents(api) == ["Lives in no. 3"]
    assert api.get_memory(user_id="ana", memory_id=chain[0]).superseded_by == chain[3]


@pytest.mark.feature("E11", "E12")
def test_a_memory_comes_back_for_its_own_agent_and_not_beside_the_same_words_stored_since(api: Api) -> None:
    old, new = add(api, "Lives in Oslo", agent_id="a"), add(api, "Lives in Rome", agent_id="b")
    supersede(api, old, new)
    api.delete_memory(user_id="ana", memory_id=new)
    assert contents(api, agent_id="a") == ["Lives in Oslo"]
    assert api.query("select agent_id, memory_count from memory.memory_scopes order by 1") == [("a", 1), ("b", 0)]
    supersede(api, old, newer := add(api, "Lives in Bonn"))
    again = add(api, "lives in Oslo", agent_id="a")
    api.delete_memory(user_id="ana", memory_id=newer)
    assert contents(api) == ["lives in Oslo"]
    hidden = api.get_memory(user_id="ana", memory_id=old)
    assert (hidden.superseded_by, hidden.supersede_reason) == (again, "duplicate")
