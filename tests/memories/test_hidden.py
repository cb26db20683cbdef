"""Memories that another memory hid come back when that memory goes."""

from __future__ import annotations

import pytest

from tests.memories.steps import add, contents, expire, supersede
from tests.support.sqlapi import Api


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
