"""What an agent stores and recalls without the resource memory, and without the resource knowledge_base."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sqlapi import Api, result_of

DUMB: dict[str, Any] = {"agent_id": "dumb"}
ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t1"}
STORED = ("messages", "threads", "memories", "artifacts", "jobs", "idempotency_keys", "marks")

pytestmark = pytest.mark.feature("A19")


@pytest.fixture
def forgets(api: Api) -> Api:
    """Agent dumb has neither resource."""
    api.set_policy(settings={"agent_id": "dumb", "resources": []})
    return api


def take_away(api: Api, *resources: str) -> None:
    api.set_policy(settings={"agent_id": "dumb", "resources": list(resources)})
    api.notices.clear()


def rows(api: Api) -> dict[str, int]:
    return {table: api.value(f"select count(*) from memory.{table}") for table in STORED}


class TestNothingIsStored:
    def test_by_any_call(self, forgets: Api) -> None:
        before = rows(forgets)
        stored = forgets.add_message(**ANA, **DUMB, role="user", content="Hello there")
        assert (stored.seq, stored.content, stored.memory_ref) == (None, "Hello there", None)
        assert stored.token_count > 0
        for key in (None, "k"):
            messages = [{"role": "user", "content": f"m {n}", "idempotency_key": key and f"{key}{n}"} for n in range(3)]
            many = forgets.add_messages(**ANA, **DUMB, messages=messages)
            assert [(m.seq, m.content) for m in many] == [(None, "m 0"), (None, "m 1"), (None, "m 2")]
        assert forgets.add_memory(user_id="ana", content="Likes tea", **DUMB) == (None, False)
        assert forgets.notices == ['degraded: nothing is stored, agent "dumb" has no resource "memory"'] * 4
        assert rows(forgets) == before

    def test_store_artifact(self, forgets: Api) -> None:
        stored = forgets.store_artifact(user_id="ana", content="a long text", key="k", **DUMB)
        assert (stored.key, stored.memory_ref) == (None, None)
        assert forgets.list_artifacts(user_id="ana") == []

    def test_rows_inserted_directly(self, forgets: Api) -> None:
        before = rows(forgets)
        insert = "insert into memory.messages (user_id, thread_id, agent_id, role, content) values"
        forgets.connection.execute(f"{insert} ('ana', 't1', 'dumb', 'user', 'Hello')")
        forgets.connection.execute(
            "insert into memory.memories (user_id, agent_id, content) values ('ana', 'dumb', 'x')"
        )
        assert len(forgets.notices) == 2
        assert rows(forgets) == before

    def test_others_in_the_same_thread_are_stored(self, forgets: Api) -> None:
        forgets.add_message(**ANA, role="user", content="Hello")
        forgets.add_message(**ANA, **DUMB, role="assistant", content="Hi")
        assert forgets.add_message(**ANA, role="user", content="Who are you?").seq == 1
        threads = """
            select next_seq, message_count, active_tokens, tokens_since_summary, first_at, last_at from memory.threads
            """
        [before] = forgets.query(threads)
        assert before.message_count == 2
        for created_at in ("2020-01-01", "2040-01-01"):
            forgets.add_message(**ANA, **DUMB, role="assistant", content="Hi", created_at=created_at)
        assert forgets.query(threads) == [before]

    def test_the_policy_of_the_agent_for_one_user_wins(self, forgets: Api) -> None:
        forgets.set_policy(settings={"resources": ["memory"]}, agent_id="dumb", user_id="bob")
        assert forgets.add_message(**{**ANA, "user_id": "bob"}, **DUMB, role="user", content="Hello").seq == 0
        assert forgets.add_message(**ANA, **DUMB, role="user", content="Hello").seq is None

    def test_the_resource_comes_back(self, forgets: Api) -> None:
        forgets.set_policy(settings={"agent_id": "dumb", "resources": ["memory"]})
        assert forgets.add_message(**ANA, **DUMB, role="user", content="Hello").seq == 0
        forgets.set_policy(settings={"agent_id": "dumb", "resources": None})
        assert forgets.add_message(**ANA, **DUMB, role="user", content="Hello").seq == 1


class TestNothingIsRecalled:
    """The agent had memory once, and what it stored is still there."""

    @pytest.fixture
    def lost(self, api: Api) -> Api:
        api.add_message(**ANA, **DUMB, role="user", content="My cat is called Tom")
        api.add_memory(user_id="ana", content="Has a cat called Tom", **DUMB)
        api.add_document(user_id="ana", content="All about the cat")
        take_away(api)
        return api

    def test_contexts_messages_and_memories(self, lost: Api) -> None:
        assert lost.get_context(**ANA, **DUMB) == []
        assert lost.get_context(**ANA, **DUMB, query="cat") == []
        assert set(lost.notices) == {'degraded: the context is empty, agent "dumb" has no resource "memory"'}
        assert len(lost.get_context(**ANA)) > 0
        assert lost.get_messages(**ANA, **DUMB) == []
        assert len(lost.get_messages(**ANA)) == 1
        assert lost.render_memories(user_id="ana", **DUMB) == ""
        assert "Tom" in lost.render_memories(user_id="ana")

    @pytest.mark.parametrize("sources", [["message", "memory"], ["document"]])
    def test_search(self, lost: Api, sources: list[str]) -> None:
        assert lost.search(user_id="ana", query="cat", mode="keyword", sources=sources, **DUMB) == []
        missing = {"document": 'no documents are searched, agent "dumb" has no resource "knowledge_base"'}
        said = missing.get(sources[0], 'nothing is recalled, agent "dumb" has no resource "memory"')
        assert lost.notices == [f"degraded: {said}"]
        assert lost.search(user_id="ana", query="cat", mode="keyword", sources=sources) != []

    def test_no_model_reads_what_it_stored(self, api: Api) -> None:
        api.talk(**ANA, rounds=20, **DUMB)
        take_away(api)
        for kind in ("extract_memories", "summarize_thread", "compress_thread"):
            getattr(api, kind)(**ANA)
        assert api.claim_jobs(worker="w", max_jobs=10) == []
        assert api.value("select count(*) from memory.summaries") == 0
        assert api.value("select count(*) from memory.jobs where status <> 'completed'") == 0

    def test_an_extraction_under_way_stores_nothing(self, api: Api) -> None:
        api.talk(**ANA, rounds=5, **DUMB)
        [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
        take_away(api)
        lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        api.complete_job(**lease, result=result_of(job, memory="Has a cat"))
        assert api.list_memories(user_id="ana") == []


class TestWithoutTheKnowledgeBase:
    @pytest.fixture
    def memory_only(self, api: Api) -> Api:
        on = {"archive_conversations": True, "recent_messages_to_keep": 2}
        api.set_policy(settings={"compression": on, "knowledge_base": {"enable_cross_session_context": True}})
        take_away(api, "memory")
        return api

    def test_the_policy_shows_what_is_off(self, memory_only: Api) -> None:
        policy = memory_only.get_policy(**DUMB)
        assert policy["compression"]["archive_conversations"] is False
        assert policy["compression"]["recent_messages_to_keep"] == 2
        assert policy["knowledge_base"]["enable_cross_session_context"] is False
        assert memory_only.get_policy()["compression"]["archive_conversations"] is True

    def test_a_compressed_conversation_is_not_archived(self, memory_only: Api) -> None:
        for agent in ("dumb", "default"):
            memory_only.talk("ana", f"of {agent}", rounds=5, agent_id=agent)
            memory_only.compress_thread(user_id="ana", thread_id=f"of {agent}")
        while memory_only.finish_jobs():
            pass
        assert [document.thread_id for document in memory_only.list_documents(user_id="ana")] == ["of default"]
