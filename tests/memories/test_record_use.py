"""What applications say of the memories that they used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from agent_memory import Memory

from tests.memories.steps import LATER, add
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api


def record(api: Api, *memory_ids: UUID, **arguments: Any) -> None:
    api.record_use(**{"user_id": "ana", "memory_ids": list(memory_ids), **arguments})


def uses(api: Api, user_id: str = "ana") -> dict[UUID, tuple[int, int, int]]:
    """How often each memory of a user was used, helpful and wrong."""
    rows = api.query("select memory_id, used, helpful, wrong from memory.memory_uses where user_id = %(u)s", u=user_id)
    return {memory_id: tuple(counts) for memory_id, *counts in rows}


def test_each_outcome_is_counted_by_itself(api: Api) -> None:
    tea, milk = add(api, "Likes tea"), add(api, "Likes milk")
    record(api, tea, milk)
    record(api, tea, outcome="helpful")
    record(api, tea, outcome="used", thread_id="no such thread")
    record(api, milk, outcome="wrong")
    assert uses(api) == {tea: (2, 1, 0), milk: (1, 0, 1)}
    [last] = api.query("select outcome, thread_id from memory.memory_uses where memory_id = %(m)s", m=tea)
    assert tuple(last) == ("used", "no such thread")


def test_an_id_counts_once_and_what_is_no_memory_of_the_user_counts_nothing(api: Api) -> None:
    tea, of_bob = add(api, "Likes tea"), add(api, "Likes tea", user_id="bob")
    record(api, tea, uuid4(), tea, of_bob)
    record(api)
    assert uses(api) == {tea: (1, 0, 0)}
    assert uses(api, "bob") == {}


def test_a_call_that_is_repeated_in_its_thread_counts_once(api: Api) -> None:
    tea = add(api, "Likes tea")
    for _ in range(3):
        record(api, tea, thread_id="a")
    assert uses(api) == {tea: (1, 0, 0)}
    record(api, tea, thread_id="a", outcome="helpful")
    record(api, tea, thread_id="b", outcome="helpful")
    for _ in range(2):
        record(api, tea)  # of no thread
    assert uses(api) == {tea: (3, 2, 0)}


@pytest.mark.feature("F5")
def test_the_uses_go_with_the_memory(api: Api) -> None:
    swept, of_thread, forgotten, kept = (
        add(api, f"Drinks tea number {number}", expires_at=LATER, thread_id=f"t{number}") for number in range(4)
    )
    record(api, swept, of_thread, forgotten, kept)
    api.delete_memory(user_id="ana", memory_id=swept)
    assert len(uses(api)) == 4, "it can be restored"
    while api.sweep()["memories"]:
        pass
    assert set(uses(api)) == {of_thread, forgotten, kept}
    api.delete_thread(user_id="ana", thread_id="t1", memories="forget")
    assert set(uses(api)) == {forgotten, kept}
    receipt = api.forget_memory(user_id="ana", memory_id=forgotten)
    assert receipt["tables"]["memory_uses"] == 1
    assert set(uses(api)) == {kept}
    api.forget_user(user_id="ana")
    assert uses(api) == {}


def test_many_sessions_lose_no_use_and_do_not_deadlock(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(6) as threads:
        ids = [
            added.memory_id
            for agent in ("a", "b")
            for added in memory.add_memories("ana", [{"content": f"Fact {n}"} for n in range(20)], agent_id=agent)
        ]

        def use(number: int) -> None:
            memory.record_use("ana", ids[:: 1 if number % 2 else -1])
            memory.add_memory("ana", f"New {number}", agent_id="a")

        list(threads.map(use, range(60)))
        found = memory.export_user("ana")["memory_uses"]
        assert [each["used"] for each in found] == [60] * len(ids)


@pytest.mark.feature("F5")
@pytest.mark.parametrize("function", ["forget_user", "forget_memory", "delete_thread"])
def test_a_use_that_comes_while_the_memory_is_forgotten_leaves_nothing(sessions: Sessions, function: str) -> None:
    tea = add(sessions.api, "Likes tea", thread_id="t")
    add(sessions.api, "Likes milk")
    forgetting = sessions.new()
    with forgetting.connection.transaction():
        more: dict[str, dict[str, Any]] = {
            "forget_memory": {"memory_id": tea},
            "delete_thread": {"thread_id": "t", "memories": "forget"},
        }
        getattr(forgetting, function)(user_id="ana", **more.get(function, {}))
        call = sessions.start("record_use", user_id="ana", memory_ids=[tea])
        assert not call.done()
    call.result(PATIENCE)
    assert uses(sessions.api) == {}
