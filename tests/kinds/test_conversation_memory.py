"""Memories of type conversation_summary: the summary of a whole thread as a memory, where the policy says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.support.protocol import ANA, claim, complete, lease
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api
from tests.support.summaries import each_round, only

pytestmark = pytest.mark.feature("B15")


POLICY: dict[str, Any] = {"summary": {"enabled": False, "as_memory": True}, "cadence": {"thread_summary_every_n": 4}}


@pytest.fixture
def api(api: Api) -> Api:
    only(api, **POLICY)
    return api


def summarized(api: Api, summary: str, rounds: int = 2, **arguments: Any) -> dict[str, Any]:
    """Some more rounds of the conversation, then a new summary of all of it."""
    api.talk(**{**ANA, **arguments}, rounds=rounds)
    return complete(api, claim(api, "summarize_thread"), summary=summary)


def memories(api: Api, **arguments: Any) -> list[Any]:
    found: list[Any] = api.list_memories(user_id="ana", memory_type="conversation_summary", **arguments)
    return found


def test_a_summary_of_a_whole_thread_becomes_a_memory(api: Api) -> None:
    outcome = summarized(api, "They talked about tea.", agent_id="helper")
    [memory] = memories(api)
    assert (memory.content, memory.agent_id, memory.thread_id) == ("They talked about tea.", "helper", "t1")
    assert memory.metadata == {"summary_id": outcome["summary_id"], "start_seq": 0, "end_seq": 3}
    assert memory.valid_from == api.get_messages(**ANA)[-1].created_at
    [stored] = api.query("select source, source_seqs, is_stated from memory.memories")
    assert stored == ("thread_summary", None, False)


def test_the_memory_changes_with_the_summary(api: Api) -> None:
    summarized(api, "They talked about tea.")
    [before] = memories(api)
    outcome = summarized(api, "They talked about tea and boats.")
    [after] = memories(api)
    assert (after.memory_id, after.content) == (before.memory_id, "They talked about tea and boats.")
    assert after.metadata == {"summary_id": outcome["summary_id"], "start_seq": 0, "end_seq": 7}
    assert [hit.id for hit in api.search(user_id="ana", query="boats", mode="keyword", sources=["memory"])] == [
        str(after.memory_id)
    ]


def test_nothing_becomes_a_memory_by_default_and_of_a_rolling_summary_or_a_profile(api: Api) -> None:
    api.set_policy(settings={"summary": {"as_memory": None}})
    summarized(api, "They talked about tea.")
    only(api, summary={"enabled": True, "as_memory": True}, cadence={"thread_summary_every_n": 0})
    each_round(api)
    api.talk(**{**ANA, "thread_id": "t2"}, rounds=3)
    complete(api, claim(api, "summarize_thread"), summary="They talked.")
    api.summarize_user(user_id="ana")
    complete(api, claim(api, "summarize_user"), summary="Talks.")
    assert memories(api) == []


@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_it_goes_with_its_conversation_and_a_job_that_ends_later_leaves_nothing(api: Api, function: str) -> None:
    summarized(api, "They talked about tea.")
    summarized(api, "They talked about boats.", thread_id="t2")
    assert {memory.thread_id for memory in memories(api)} == {"t1", "t2"}
    api.talk(**ANA, rounds=2)
    job = claim(api, "summarize_thread")
    getattr(api, function)(**ANA)
    with pytest.raises(Exception, match="not yours"):
        api.complete_job(**lease(job), result={"summary": "They talked about tea."})
    assert [memory.thread_id for memory in memories(api)] == ["t2"]


def test_what_several_agents_heard_is_no_memory_of_one(api: Api) -> None:
    summarized(api, "They talked about tea.", agent_id="one")
    assert len(memories(api)) == 1
    summarized(api, "They talked about tea and boats.", agent_id="two")
    assert memories(api) == []


def test_a_job_that_ends_while_its_conversation_goes_leaves_nothing(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, other = Api(db), Api(connect())
    only(api, **POLICY)
    api.talk(**ANA, rounds=2)
    job = claim(api, "summarize_thread")
    with ThreadPoolExecutor() as pool, other.connection.transaction():
        other.query("select from memory.threads for update")  # the first step of a deletion
        with api.connection.transaction():
            complete(api, job, summary="They talked about tea.")
            going = pool.submit(other.delete_thread, **ANA)
            while not api.value("select cardinality(pg_blocking_pids(%(pid)s))", pid=other.connection.info.backend_pid):
                assert not going.done()
        assert going.result(PATIENCE) == 4
    assert memories(api) == []
