"""Extraction: after how many messages, and which messages each extraction reads."""

from __future__ import annotations

import pytest

from tests.support.jobs import ANA, claim, say, settings
from tests.support.protocol import activate, lease
from tests.support.sqlapi import Api


def extraction_only(api: Api) -> None:
    settings(api, summary={"enabled": False})


@pytest.mark.feature("B9")
@pytest.mark.parametrize(("every_n", "jobs_at"), [(None, [9, 19]), (4, [3, 7, 11, 15, 19]), (0, [])])
def test_memories_are_extracted_after_every_n_messages(api: Api, every_n: int | None, jobs_at: list[int]) -> None:
    settings(api, summary={"enabled": False}, cadence={"fact_extraction_every_n": every_n})
    seen = []
    for seq in range(20):
        say(api, "user" if seq % 2 == 0 else "assistant")
        if api.finish_jobs():
            seen.append(seq)
    assert seen == jobs_at


@pytest.mark.feature("B9")
def test_messages_queue_no_extraction_that_the_policy_never_allows(api: Api) -> None:
    activate(api)
    extraction_only(api)
    api.set_policy(settings={"budget": {"tokens_per_user_per_day": 0}}, user_id="ana")
    for user_id in ("ana", "bob"):
        messages = [{"role": "user", "content": "Hello"}] * 10
        api.add_messages(user_id=user_id, thread_id="t1", messages=messages)
    assert api.query("select user_id from memory.jobs where kind = 'extract_memories'") == [("bob",)]


@pytest.mark.feature("B9")
@pytest.mark.parametrize(("first", "second", "jobs"), [(9, 1, 1), (5, 4, 0), (12, 8, 1), (12, 7, 0)])
def test_a_batch_counts_like_single_messages_of_its_thread(api: Api, first: int, second: int, jobs: int) -> None:
    extraction_only(api)
    api.add_messages(user_id="ana", thread_id="t2", messages=[{"role": "user", "content": "Hello"}] * 9)
    for count in (first, second):
        api.finish_jobs()
        api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * count)
    assert len(api.claim_jobs(worker="test", max_jobs=10)) == jobs


@pytest.mark.feature("B9", "E15")
def test_no_message_is_extracted_twice_and_none_is_left_out(api: Api) -> None:
    extraction_only(api)
    read: list[int] = []
    for number in range(60):
        say(api, "user")
        if number % 7 == 0:
            api.extract_memories(**ANA)
        for job in api.claim_jobs(worker="test", max_jobs=10):
            if number % 3 == 0:
                api.fail_job(**lease(job), error="try again", retry_after="0")
                job = claim(api)
            read += [message["seq"] for message in job.payload["messages"]]
            api.complete_job(**lease(job), result={"memories": []})
    assert read == list(range(60))
    assert api.value("select extracted_seq from memory.thread_stats") == 59


@pytest.mark.feature("B9", "E8")
def test_recent_k_limits_what_is_read_to_the_widest_request_but_cuts_off_no_backlog(api: Api) -> None:
    extraction_only(api)
    api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * 5)
    for recent_k in (2, 3, 1):
        api.extract_memories(**ANA, recent_k=recent_k)
    job = claim(api)
    assert [message["seq"] for message in job.payload["messages"]] == [2, 3, 4]
    api.complete_job(**lease(job), result={"memories": []})
    api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * 250)
    first = claim(api)
    assert first.payload["messages"][-1]["seq"] == 204
    api.extract_memories(**ANA, recent_k=1)
    api.complete_job(**lease(first), result={"memories": []})
    assert [message["seq"] for message in claim(api).payload["messages"]] == list(range(205, 255))
