"""Clearing and deleting threads, and the messages of one agent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages.steps import ANA, add, contents
from tests.support.protocol import activate, claim, complete, lease
from tests.support.sqlapi import Api, refused
from tests.support.summaries import each_round


class TestClearing:
    @pytest.mark.feature("A11")
    def test_returns_the_number_and_hides_the_messages(self, api: Api) -> None:
        api.talk(**ANA, rounds=2)
        add(api, thread_id="t2")
        assert api.clear_thread(**ANA) == 4
        assert contents(api) == []
        assert contents(api, thread_id="t2") == ["Hello"]
        assert api.clear_thread(**ANA) == 0

    @pytest.mark.feature("A16")
    def test_leaves_the_rows_readable_until_they_are_swept(self, api: Api) -> None:
        api.talk(**ANA, rounds=1)
        api.clear_thread(**ANA)
        assert [message.is_active for message in api.get_messages(**ANA, include_inactive=True)] == [False, False]
        assert api.value("select count(*) from memory.messages where not is_active") == 2
        assert api.sweep()["messages"] == 2
        assert api.value("select count(*) from memory.messages") == 0
        assert add(api).seq == 2
        api.delete_thread(**ANA)
        assert add(api).seq == 0

    @pytest.mark.feature("A11")
    def test_drops_the_summary_and_its_job(self, api: Api) -> None:
        each_round(api)
        api.talk(**ANA, rounds=3)
        api.finish_jobs(summary="Old news.")
        api.talk(**ANA, rounds=3)
        pending = "select count(*) from memory.jobs where kind = 'summarize_thread' and status = 'pending'"
        assert api.value(pending) == 1
        api.clear_thread(**ANA)
        assert api.get_context(**ANA) == []
        assert api.value(pending) == 0


ROWS_OF_THREADS = ("messages", "summaries", "jobs", "marks where scope <> ''")


class TestDeleting:
    @pytest.fixture
    def rich_thread(self, api: Api) -> None:
        """A thread with a summary, open jobs and an extracted memory, beside what the user wrote down in it."""
        each_round(api)
        activate(api)  # the built-in model would reconcile after each extraction
        api.talk(**ANA, rounds=5)
        api.finish_jobs(summary="They talked.", memory="Extracted")
        api.talk(**ANA, rounds=5)
        api.add_memory(**ANA, content="Written by hand")
        assert api.value("select count(*) from memory.summaries") == 1
        assert api.value("select count(*) from memory.jobs where status = 'pending'") == 2

    @pytest.mark.feature("D11")
    @pytest.mark.usefixtures("rich_thread")
    def test_removes_messages_summaries_jobs_and_extracted_memories(self, api: Api) -> None:
        job = claim(api, "extract_memories")
        assert api.delete_thread(**ANA) == 20
        with refused("lease_token", "AM001"):  # the worker still runs
            api.complete_job(**lease(job), result={"memories": []})
        assert [api.query(f"select from memory.{rows}") for rows in ("threads", *ROWS_OF_THREADS)] == [[]] * 5
        assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Written by hand"]
        assert api.value("select memory_count from memory.memory_scopes") == 1

    @pytest.mark.usefixtures("rich_thread")
    def test_spares_other_threads_and_users(self, api: Api) -> None:
        others: list[dict[str, Any]] = [{"user_id": "ana", "thread_id": "t2"}, {"user_id": "bob", "thread_id": "t1"}]
        for other in others:
            api.talk(**other, rounds=5)
        api.finish_jobs(summary="Others talked.", memory="From the others")
        api.delete_thread(**ANA)
        for other in others:
            assert len(api.get_messages(**other)) == 10
            assert api.get_thread_summary(**other)[0].summary == "Others talked."
        assert [memory.content for memory in api.list_memories(user_id="bob")] == ["From the others"]

    @pytest.mark.usefixtures("rich_thread")
    def test_of_the_threads_row_alone_does_the_same_to_what_hangs_on_it(self, api: Api) -> None:
        api.connection.execute("delete from memory.threads")
        assert [api.query(f"select from memory.{rows}") for rows in ROWS_OF_THREADS] == [[]] * 4
        assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Written by hand"]


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


@pytest.mark.feature("A11", "A8")
def test_a_summary_of_others_and_an_archived_conversation_stay_and_a_notice_names_that(api: Api) -> None:
    api.set_policy(settings={"compression": {"archive_conversations": True}})
    say_as(api, "writer", 10)
    api.compress_thread(**ANA)
    complete(api, claim(api, "compress_thread"), summary="They wrote.")
    [archive] = api.list_documents(user_id="ana", doc_type="conversations")
    say_as(api, "planner")
    api.clear_thread(**ANA, agent_id="planner")
    assert [summary.summary for summary in api.get_thread_summary(**ANA)] == ["They wrote."]
    api.clear_thread(**ANA)
    assert any(str(archive.document_id) in notice for notice in api.notices)
    assert len(api.list_documents(user_id="ana")) == 1


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
