"""Clearing the messages of one agent, and deleting what compression put away."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api


def say_as(api: Api, agent_id: str, rounds: int = 3) -> None:
    api.talk(**ANA, rounds=rounds, agent_id=agent_id)


@pytest.mark.feature("A11")
def test_only_the_messages_of_the_agent_are_cleared(api: Api) -> None:
    say_as(api, "planner")
    say_as(api, "writer", 2)
    assert api.clear_thread(**ANA, agent_id="planner") == 6
    assert [message.agent_id for message in api.get_messages(**ANA)] == ["writer"] * 4
    assert api.clear_thread(**ANA, agent_id="planner") == 0
    assert api.clear_thread(**ANA) == 4


@pytest.mark.feature("A11")
def test_a_summary_that_read_the_agent_goes_and_what_it_covered_of_others_is_summarised_anew(api: Api) -> None:
    say_as(api, "writer")
    say_as(api, "planner")
    say_as(api, "writer", 10)
    api.compress_thread(**ANA)
    complete(api, claim(api, "compress_thread"), summary="They planned and wrote.")
    api.clear_thread(**ANA, agent_id="planner")
    assert api.get_thread_summary(**ANA) == []
    job = claim(api, "summarize_thread")
    assert [message["seq"] for message in job.payload["messages"]][:8] == [0, 1, 2, 3, 4, 5, 12, 13]


@pytest.mark.feature("A2")
def test_expired_messages_are_neither_counted_nor_exported(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    api.query("update memory.messages set expires_at = now() - interval '1 minute' where seq < 3 returning seq")
    memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
    api.query("update memory.memories set expires_at = now() - interval '1 minute' returning memory_id")
    [thread] = api.list_threads(user_id="ana")
    [loaded] = api.load_user(user_id="ana")["threads"]
    counted = "select message_count, active_tokens from memory.thread_stats"
    [stats] = api.query(counted)
    assert (thread.message_count, loaded["message_count"], stats.message_count) == (1, 1, 1)
    assert thread.active_tokens == loaded["active_tokens"] == stats.active_tokens == 2
    export = api.export_user(user_id="ana")
    assert [message["seq"] for message in export["messages"]] == [3]
    assert (export["memories"], export["memory_history"]) == ([], []), memory_id
    api.sweep()
    assert api.query(counted)[0].message_count == 1
