"""Rolling summaries: windows, chains, and summaries that fail."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from tests.support.jobs import ANA, SUMMARY, claim, claim_and_die, say, settings, summary_only
from tests.support.protocol import lease, open_jobs
from tests.support.sqlapi import Api


def summaries(api: Api) -> list[tuple[Any, ...]]:
    return api.query("select start_seq, end_seq, status from memory.summary_chain")


def expected_window(last_saved_seq: int, window_size: int = 14) -> tuple[int, int]:
    """The window, computed independently."""
    end_seq = last_saved_seq
    start_seq = max(0, end_seq - window_size + 1)
    if start_seq % 2 != 0:
        start_seq = start_seq + 1
    return start_seq, end_seq


@pytest.mark.feature("D1", "D3", "D4", "D5")
@pytest.mark.parametrize("window_size", [14, 5])
def test_the_window_moves_with_the_conversation_and_each_summary_continues_the_one_before(
    api: Api, window_size: int
) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, summary={"when": "each_round", "window_size": window_size})
    previous = None
    for last_seq in range(1, 25, 2):
        assert say(api, "user", "assistant") == last_seq
        if last_seq < 5:
            assert api.claim_jobs(worker="test") == []
            continue
        job = claim(api)
        start_seq, end_seq = expected_window(last_seq, window_size)
        assert (job.payload["start_seq"], job.payload["end_seq"]) == (start_seq, end_seq)
        new_from = start_seq if previous is None else max(start_seq, previous.end_seq + 1)
        assert [message["seq"] for message in job.payload["messages"]] == list(range(new_from, end_seq + 1))
        assert job.payload["previous_summary"] == (previous and previous.summary)
        result = {"summary": f"Up to {last_seq}", "metadata": {"n": last_seq}, "generation_time_ms": 7}
        api.complete_job(**lease(job), result=result)
        [stored] = api.get_thread_summary(**ANA)
        assert (stored.summary, stored.start_seq, stored.end_seq) == (f"Up to {last_seq}", start_seq, end_seq)
        assert (stored.status, stored.metadata, stored.generation_time_ms) == ("completed", {"n": last_seq}, 7)
        assert stored.base_summary_id == (previous and previous.summary_id)
        previous = stored
    job_id = api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="test") == []
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS: list[dict[str, Any]] = [
    {"tool_calls": [CALL]},
    {"function_call": {"name": "f", "arguments": "{}"}},
    {"content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
    {"content": [{"type": "text", "text": "One moment."}, {"type": "function_call", "name": "f"}]},
]


@pytest.mark.feature("D2", "D3")
@pytest.mark.parametrize("call", CALLS)
def test_a_round_ends_with_an_answer_and_not_with_a_call_of_a_tool(api: Api, call: dict[str, Any]) -> None:
    summary_only(api)
    say(api, *["user", "assistant"] * 2)
    message = {"role": "assistant", "content": None, **call}
    api.add_messages(**ANA, messages=[{"role": "user", "content": "And?"}, message])
    say(api, "tool")
    assert open_jobs(api) == []
    said = {"role": "assistant", "content": "Here it is.", "tool_calls": [], "name": "Bo"}
    api.add_messages(**ANA, messages=[said, {"role": "user", "content": "And?"}, message])
    assert open_jobs(api) == ["summarize_thread"]
    assert claim(api).payload["end_seq"] == 7  # before the calls of an open round


@pytest.mark.feature("D2", "D5")
def test_no_second_summary_starts_while_one_is_being_made(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job = claim(api)
    assert summaries(api) == [(0, 5, "processing")]
    api.talk(**ANA, rounds=1)
    assert api.claim_jobs(worker="other") == []
    api.complete_job(**lease(job), result=SUMMARY)
    assert open_jobs(api) == []
    api.talk(**ANA, rounds=1)
    claim(api)
    assert summaries(api) == [(0, 5, "completed"), (0, 9, "processing")]


@pytest.mark.feature("D5")
def test_the_database_allows_one_processing_summary_per_thread(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    claim(api)
    with pytest.raises(errors.UniqueViolation, match="summaries_one_processing_idx"):
        api.connection.execute(
            "insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq) "
            "values ('ana', gen_random_uuid(), 'rolling', 't1', 0, 1)"
        )


@pytest.mark.feature("D5")
def test_a_summary_is_failed_when_its_job_is_dead_and_a_retry_makes_a_new_one(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job_id = claim_and_die(api).job_id
    for _ in range(4):
        job = claim(api)
        assert summaries(api) == [(0, 5, "processing")]
        api.fail_job(**lease(job), error="no", retry_after="0")
        assert summaries(api) == [(0, 5, "failed")]
    assert api.get_thread_summary(**ANA) == []
    api.retry_job(user_id="ana", job_id=job_id)
    api.complete_job(**lease(claim(api)), result=SUMMARY)
    assert sorted(summaries(api)) == [(0, 5, "completed"), (0, 5, "failed")]
