"""``add_memories`` at the limit, while other sessions change the same memories."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions, code

pytestmark = pytest.mark.feature("F2")


def memories(agent_id: str, *contents: str) -> list[dict[str, Any]]:
    return [{"content": content, "agent_id": agent_id} for content in contents]


def test_a_memory_that_somebody_changes_meanwhile_is_evicted_all_the_same(sessions: Sessions) -> None:
    api = sessions.api
    api.set_policy(settings={"memories": {"max_per_agent": 5}})
    api.add_memories(user_id="ana", memories=memories("default", *(f"Fact {n}" for n in range(5))))
    holding = sessions.hold(
        "update memory.memories set metadata = '{\"seen\": true}' where content = 'Fact 0' returning 1"
    )
    call: Future[Any] = sessions.start("add_memories", user_id="ana", memories=memories("default", "New 1", "New 2"))
    assert not call.done()
    holding.commit()
    call.result(PATIENCE)
    current = "select array_agg(content order by content) from memory.memories where deleted_at is null"
    assert api.value(current) == ["Fact 2", "Fact 3", "Fact 4", "New 1", "New 2"]
    assert api.count_memories(user_id="ana") == 5


def test_agents_are_locked_in_one_order_also_where_memories_are_stored_in_turn(sessions: Sessions) -> None:
    """The memory that is there already has the whole array stored in turn, which begins with agent b."""
    api = sessions.api
    api.set_policy(settings={"memories": {"max_per_agent": 3}})
    for agent in "ab":
        api.add_memories(user_id="ana", memories=memories(agent, "One", "Two", "Three"))
    holding = sessions.hold("select from memory.memory_scopes where agent_id = 'a' for update")
    first = sessions.start(
        "add_memories", user_id="ana", memories=[*memories("b", "Four"), *memories("a", "Four", "Three")]
    )
    second = sessions.start("add_memories", user_id="ana", memories=[*memories("a", "Five"), *memories("b", "Five")])
    holding.commit()
    assert [code(call) for call in (first, second)] == [None, None]
    assert [api.count_memories(user_id="ana", agent_id=agent) for agent in "ab"] == [3, 3]
