"""One call takes back everything that derives from a poisoned source, and leaves everything else as it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memories.steps import contents
from tests.support.sqlapi import Api
from tests.trust.test_quarantine import everywhere, extracted, said

SOURCES = 10


def summarize(api: Api, thread: str, kind: str, end_seq: int, text: str) -> None:
    api.query(
        """insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq, status, summary,
             metadata, agent_ids)
           values ('ana', memory._uuid_v7(), %(kind)s, %(thread)s, 0, %(end)s, 'completed', %(text)s,
             '{}', '{default}') returning 1 as done""",
        kind=kind,
        thread=thread,
        end=end_seq,
        text=text,
    )


def article(api: Api, content: str, memory_ids: list[Any]) -> None:
    """Store an article as a consolidation does."""
    api.query(
        """with stored as (
             insert into memory.documents (user_id, document_id, namespace, doc_type, title, content, source, metadata)
             values ('ana', memory._uuid_v7(), 'memories', 'article', 'Notes', %(content)s, 'consolidation',
                     jsonb_build_object('memory_ids', %(ids)s::uuid[])) returning document_id)
           select memory._end_memories('ana', %(ids)s::uuid[], document_id, 'consolidated') from stored""",
        content=content,
        ids=memory_ids,
    )


@pytest.mark.feature("F10")
def test_nothing_of_many_poisoned_sources_is_left_and_everything_honest_is(api: Api) -> None:
    for number in range(SOURCES):
        thread = f"t{number}"
        said(api, "user", f"Honest question {number}", thread)
        said(api, "tool", f"Mallory writes poison {number}", thread)
        said(api, "assistant", f"Honest answer {number}", thread)
        honest = extracted(api, f"Honest fact {number}", 0, thread=thread)
        poisoned = extracted(api, f"Poison fact {number}", 1, thread=thread)
        match number % 5:
            case 0:  # merged
                api.supersede_memory(user_id="ana", old_memory_id=honest, new_memory_id=poisoned, reason="contradict")
            case 1:  # consolidated
                article(api, f"Poison article {number}", [honest, poisoned])
            case 2:  # summarised
                summarize(api, thread, "rolling", 2, f"Poison summary {number}")
                summarize(api, thread, "thread", 2, f"Poison summary of all {number}")
            case 3:  # half of it is honest
                extracted(api, f"Poison half {number}", 0, 1, thread=thread)
                api.query(
                    """insert into memory.marks (user_id, scope, kind, position)
                       values ('ana', %(thread)s, 'extract_memories', 2) returning 1 as done""",
                    thread=thread,
                )
            case 4:
                summarize(api, "", "user", number, f"Poison profile {number}")
                api.query(
                    """insert into memory.marks (user_id, scope, kind, position)
                       values ('ana', %(thread)s, 'summarize_user', 2) returning 1 as done""",
                    thread=thread,
                )
    api.query("select memory._finish_unread_messages(10000)")
    before = set(contents(api, row_limit=1000))
    assert any("Poison" in content for content in before)
    for number in range(SOURCES):
        counts = api.quarantine_source(user_id="ana", source="message", id=f"t{number}/1", reason="planted")
        assert (counts["messages"], counts["memories"]) == (1, 2 if number % 5 == 3 else 1)
        assert counts["documents"] == (number % 5 == 1)
        if number % 5 == 2:
            assert counts["summaries"] == 2
    honest_facts = {f"Honest fact {number}" for number in range(SOURCES)}
    assert set(contents(api, row_limit=1000)) == honest_facts
    for query in ("poison", "Mallory writes poison 7", "poison article", "poison summary", "poison profile"):
        seen = everywhere(api, query)
        assert "Poison" not in seen
        assert "Mallory" not in seen
    assert "Honest answer 7" in everywhere(api, "honest answer 7")
    assert api.get_user_summary(user_id="ana") == []
    queued = {(job.kind, job.scope) for job in api.query("select kind, scope from memory.jobs")}
    assert {("summarize_thread", "t2"), ("extract_memories", "t3"), ("summarize_user", "")} <= queued
    # Once more finds nothing new.
    again = api.quarantine_source(user_id="ana", source="message", id="t0/1", reason="planted")
    assert sum(again.values()) == 0

    for number in range(SOURCES):
        api.release_source(user_id="ana", source="message", id=f"t{number}/1")
    assert set(contents(api, row_limit=1000)) == before
    assert api.list_quarantined(user_id="ana") == []


@pytest.mark.feature("F10")
def test_a_memory_of_two_poisoned_messages_stays_until_both_are_released(api: Api) -> None:
    first, second = said(api, "tool", "One"), said(api, "tool", "Two")
    extracted(api, "Three", first, second)
    for seq in (first, second):
        api.quarantine_source(user_id="ana", source="message", id=f"t/{seq}", reason="planted")
    api.release_source(user_id="ana", source="message", id=f"t/{first}")
    assert contents(api) == []
    api.release_source(user_id="ana", source="message", id=f"t/{second}")
    assert contents(api) == ["Three"]


@pytest.mark.feature("F10")
def test_a_poisoned_memory_takes_its_articles_along(api: Api) -> None:
    poisoned, honest = extracted(api, "Poison"), extracted(api, "Honest")
    article(api, "Both", [poisoned, honest])
    counts = api.quarantine_source(user_id="ana", source="memory", id=str(poisoned), reason="planted")
    assert (counts["memories"], counts["documents"]) == (1, 1)
    assert contents(api) == ["Honest"]
    assert api.list_documents(user_id="ana") == []
    api.release_source(user_id="ana", source="memory", id=str(poisoned))
    assert contents(api) == []
    assert len(api.list_documents(user_id="ana")) == 1


@pytest.mark.feature("F10")
def test_a_poisoned_thread_and_artifact_take_everything_along(api: Api) -> None:
    long_output = "\n".join(f"row {number} of the table of Mallory" for number in range(2000))
    said(api, "user", "Show me the table")
    said(api, "tool", long_output)
    [artifact] = api.list_artifacts(user_id="ana")
    extracted(api, "Poison", 1)
    counts = api.quarantine_source(user_id="ana", source="artifact", id=artifact.key, reason="planted")
    assert (counts["artifacts"], counts["messages"], counts["memories"]) == (1, 1, 1)
    api.sweep()
    assert "Mallory" not in everywhere(api, "table of Mallory")
    assert api.list_artifacts(user_id="ana") == []
    api.release_source(user_id="ana", source="artifact", id=artifact.key)
    assert [row.key for row in api.list_artifacts(user_id="ana")] == [artifact.key]
    assert contents(api) == ["Poison"]
    counts = api.quarantine_source(user_id="ana", source="thread", id="t", reason="planted")
    assert (counts["messages"], counts["memories"]) == (2, 1)
    assert contents(api) == []


@pytest.mark.feature("F10")
def test_a_running_job_that_has_read_the_source_starts_again(api: Api) -> None:
    api.register_model(name="words", kind="chat", provider="local", model="rules")
    api.activate_model(name="words")
    said(api, "user", "I live in Oslo.")
    api.extract_memories(user_id="ana", thread_id="t")
    [claimed] = api.claim_jobs(worker="w", kinds=["extract_memories"])
    api.quarantine_source(user_id="ana", source="message", id="t/0", reason="planted")
    assert api.get_job(user_id="ana", job_id=claimed.job_id).status == "pending"


@pytest.mark.usefixtures("db")
@pytest.mark.feature("F10")
def test_a_thread_is_taken_back_and_released_in_one_statement(api: Api) -> None:
    """Of 12,000 messages each by itself took 30 s, and a join of messages with their texts four minutes."""
    api.talk("ana", "long", 150)
    updates = "select pg_stat_get_xact_tuples_updated('memory.threads'::regclass)"
    thread = {"user_id": "ana", "source": "thread", "id": "long"}
    for call in (lambda: api.quarantine_source(**thread, reason="planted"), lambda: api.release_source(**thread)):
        before = api.value(updates)
        assert api.entries_read(call) < 300 * 40
        assert api.value(updates) - before <= 2
    assert len({message.content for message in api.get_messages(user_id="ana", thread_id="long")}) == 300
