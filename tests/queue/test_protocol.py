"""The job protocol: claim, complete, leases, and workers that die."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.support.jobs import ANA, FACT, SUMMARY, claim, claim_and_die, queued, summary_only
from tests.support.protocol import lease
from tests.support.sqlapi import Api, refused

LOCAL = {"name": "local", "provider": "local", "model": "patterns", "settings": {}}


@pytest.mark.feature("F6")
def test_a_claim_brings_all_that_an_extraction_needs(api: Api) -> None:
    api.add_message(
        **ANA,
        role="user",
        content="I live in Oslo",
        metadata={"name": "Ana", "x": 1},
        created_at="2024-05-01T10:00:00Z",
    )
    api.add_message(**ANA, role="assistant", content="Noted.", created_at="2024-05-01T10:00:05Z")
    job_id = api.extract_memories(**ANA)
    job = claim(api)
    assert (job.job_id, job.kind, job.user_id, job.attempt) == (job_id, "extract_memories", "ana", 1)
    types = job.payload.pop("memory_types")
    assert {"memory_type": "fact", "description": "Something true about the user or their environment"} in types
    attributes = job.payload.pop("attributes")
    assert (attributes["address"], attributes["allergy"]) == ("one", "many")
    assert job.payload.pop("known") == []
    question, answer = job.payload.pop("messages")
    assert question == {
        "seq": 0,
        "role": "user",
        "name": "Ana",
        "content": "I live in Oslo",
        "created_at": "2024-05-01T10:00:00+00:00",
        "token_count": 4,
    }
    assert answer == {
        "seq": 1,
        "role": "assistant",
        "content": "Noted.",
        "created_at": "2024-05-01T10:00:05+00:00",
        "token_count": 2,
    }
    assert job.payload == {"model": LOCAL, "prompt": None, "thread_id": "t1", "earlier": []}


@pytest.mark.feature("F6")
def test_a_claim_brings_all_that_a_summary_needs(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    first = claim(api)
    assert first.kind == "summarize_thread"
    assert [message["seq"] for message in first.payload.pop("messages")] == [0, 1, 2, 3, 4, 5]
    assert first.payload == {
        "model": LOCAL,
        "prompt": None,
        "thread_id": "t1",
        "kind": "rolling",
        "start_seq": 0,
        "end_seq": 5,
        "previous_summary": None,
        "previous_metadata": None,
        "previous_end_seq": None,
    }
    api.complete_job(**lease(first), result={**SUMMARY, "metadata": {"topics": ["tea"]}})
    api.talk(**ANA, rounds=1)
    second = claim(api).payload
    assert [message["seq"] for message in second["messages"]] == [6, 7]
    assert (second["previous_summary"], second["previous_end_seq"]) == ("They talked.", 5)
    assert second["previous_metadata"] == {"topics": ["tea"]}


@pytest.mark.feature("F6", "E15")
def test_a_completed_job_has_stored_its_result_with_its_origin(api: Api) -> None:
    api.add_message(**ANA, role="user", content="I live in Oslo and prefer mail", agent_id="support")
    api.add_message(**ANA, role="user", content="Bye", agent_id="sales")
    job_id = api.extract_memories(**ANA)
    memories = [
        {"content": "Lives in Oslo", "memory_type": "fact", "confidence": 0.75, "importance": 0.5, "seqs": [0]},
        {"content": "Prefers mail", "memory_type": "preference", "seqs": [1.0, 0]},
    ]
    api.complete_job(**lease(claim(api)), result={"memories": memories, "generation_time_ms": 12})
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.attempts, job.error) == ("completed", 1, None)
    stored = [api.get_memory(user_id="ana", memory_id=memory_id).content for memory_id in job.result.pop("memory_ids")]
    assert sorted(stored) == ["Lives in Oslo", "Prefers mail"]
    assert job.result == {"inserted": 2, "duplicates": 0, "refused": 0, "ended": 0, "through_seq": 1}
    columns = "content, memory_type, agent_id, thread_id, source, source_seqs, confidence"
    assert api.query(f"select {columns} from memory.memories order by 1") == [
        ("Lives in Oslo", "fact", "support", "t1", "extraction", [0], 0.75),
        ("Prefers mail", "preference", "sales", "t1", "extraction", [0, 1], 1.0),
    ]


@pytest.mark.feature("F6", "E12")
def test_a_memory_that_was_extracted_before_is_skipped_and_counted(api: Api) -> None:
    queued(api)
    repeated = {"content": "likes  TEA", "memory_type": "fact", "seqs": [0]}
    api.complete_job(**lease(claim(api)), result={"memories": [FACT, repeated]})
    queued(api)
    job = claim(api)
    api.complete_job(**lease(job), result={"memories": [{**FACT, "seqs": [1]}]})
    assert api.get_job(user_id="ana", job_id=job.job_id).result["duplicates"] == 1
    assert api.query("select memory_count, duplicates_skipped from memory.memory_scopes") == [(1, 2)]


PROTOCOL: dict[str, dict[str, Any]] = {
    "complete_job": {"result": {"memories": []}},
    "fail_job": {"error": "no reason"},
    "release_job": {},
    "extend_job": {"lease": "1 minute"},
}


@pytest.mark.feature("F6")
@pytest.mark.parametrize("function", PROTOCOL)
def test_without_the_lease_nothing_can_be_done_to_a_job(api: Api, function: str) -> None:
    queued(api)
    job = claim(api)
    before = api.state()
    wrongs: list[dict[str, Any]] = [{"lease_token": UUID(int=77)}, {"lease_token": None}, {"user_id": "bob"}]
    for wrong in wrongs:
        with refused("lease_token", "AM001"):
            getattr(api, function)(**{**lease(job), **PROTOCOL[function], **wrong})
    assert api.state() == before


@pytest.mark.feature("F6")
@pytest.mark.parametrize("before", ["complete_job", "fail_job", "release_job"])
def test_a_lease_ends_when_the_job_is_done_failed_or_released(api: Api, before: str) -> None:
    queued(api)
    job = claim(api)
    getattr(api, before)(**lease(job), **PROTOCOL[before])
    for function, arguments in PROTOCOL.items():
        with refused("lease_token", "AM001"):
            getattr(api, function)(**lease(job), **arguments)


@pytest.mark.feature("F6", "D9")
def test_a_job_whose_worker_died_is_handed_out_again_and_takes_effect_once(api: Api) -> None:
    queued(api)
    dead = claim_and_die(api, worker="first")
    again = claim(api, worker="second")
    assert (again.job_id, again.attempt) == (dead.job_id, 2)
    assert again.lease_token != dead.lease_token
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(dead), result={"memories": [FACT]})
    api.complete_job(**lease(again), result={"memories": [FACT]})
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(again), result={"memories": [FACT]})
    assert api.value("select count(*) from memory.memories") == 1


@pytest.mark.feature("F6")
def test_a_late_result_counts_as_long_as_nobody_else_has_the_job(api: Api) -> None:
    queued(api)
    late = claim_and_die(api)
    api.complete_job(**lease(late), result={"memories": [FACT]})
    assert api.claim_jobs(worker="other") == []
    assert api.value("select count(*) from memory.memories") == 1


@pytest.mark.feature("F6")
def test_an_extended_lease_keeps_the_job(api: Api) -> None:
    queued(api)
    job = claim_and_die(api)
    api.extend_job(**lease(job), lease="1 minute")
    assert api.claim_jobs(worker="other") == []
    api.extend_job(**lease(job), lease="1 microsecond")
    assert claim(api, worker="other").job_id == job.job_id
