"""Summaries of users: when they are made, what of, and when they go."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.support.protocol import ANA, SAID_AT, claim, complete, nothing_to_do
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api, refused
from tests.support.summaries import hear, only, profile, profile_job


def known(api: Api) -> list[str]:
    return [row.summary for row in api.get_user_summary(user_id="ana")]


def heard(job: Any) -> list[tuple[int, str]]:
    return [(message["thread"], message["content"]) for message in job.payload["messages"]]


@pytest.mark.feature("E7")
def test_a_claim_brings_what_was_said_in_all_threads_and_no_ids(api: Api) -> None:
    only(api)
    hear(api, "secret-thread-1", "I live in Oslo", created_at=SAID_AT, metadata={"name": "Ana"})
    hear(api, "secret-thread-1", "Noted.", role="assistant", created_at=SAID_AT)
    hear(api, "secret-thread-1", "13 °C", role="tool", created_at=SAID_AT)
    hear(api, "secret-thread-2", "I like tea", created_at="2024-05-02T00:00:00+00:00", agent_id="secret-agent")
    api.add_message(user_id="bob", thread_id="secret-thread-1", role="user", content="I like gin")
    job = profile_job(api)
    first = {"thread": 1, "seq": 0, "role": "user", "name": "Ana", "content": "I live in Oslo", "created_at": SAID_AT}
    assert job.payload == {
        "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
        "prompt": None,
        "previous_summary": None,
        "previous_metadata": None,
        "messages": [
            first,
            {"thread": 1, "seq": 1, "role": "assistant", "content": "Noted.", "created_at": SAID_AT},
            {
                "thread": 2,
                "seq": 0,
                "role": "user",
                "content": "I like tea",
                "created_at": "2024-05-02T00:00:00+00:00",
            },
        ],
    }
    assert "secret" not in str(job.payload)


@pytest.mark.feature("E7")
def test_a_profile_is_merged_from_what_is_new(api: Api) -> None:
    only(api)
    hear(api, "t1", "I live in Oslo")
    hear(api, "t2", "I like tea", "and milk")
    outcome = complete(api, profile_job(api), summary="Lives in Oslo.", metadata={"topics": ["Oslo"]})
    [first] = api.get_user_summary(user_id="ana")
    assert outcome == {"summary_id": str(first.summary_id), "messages": 3}
    assert (first.summary, first.start_seq, first.end_seq, first.base_summary_id) == ("Lives in Oslo.", 0, 2, None)
    assert (first.metadata, first.status) == ({"topics": ["Oslo"]}, "completed")
    hear(api, "t1", "I moved to Porto")
    job = profile_job(api)
    assert heard(job) == [(1, "I moved to Porto")]
    assert (job.payload["previous_summary"], job.payload["previous_metadata"]) == (first.summary, first.metadata)
    complete(api, job, summary="Lives in Porto.")
    [second] = api.get_user_summary(user_id="ana")
    assert (second.summary, second.end_seq, second.base_summary_id) == ("Lives in Porto.", 3, first.summary_id)
    api.summarize_user(user_id="ana")
    assert nothing_to_do(api)
    assert api.query("select from memory.summaries where kind = 'user'") == [()] * 2


@pytest.mark.feature("E7")
def test_no_message_goes_into_a_profile_twice_and_none_is_left_out(api: Api) -> None:
    only(api)
    for thread in range(30):
        messages = [{"role": "user", "content": f"{thread}/{number}"} for number in range(15)]
        api.add_messages(user_id="ana", thread_id=f"t{thread}", messages=messages)
    api.summarize_user(user_id="ana")
    read: list[str] = []
    sizes = []
    while jobs := api.claim_jobs(worker="test"):
        sizes.append(len(jobs[0].payload["messages"]))
        read += [content for _, content in heard(jobs[0])]
        complete(api, jobs[0], summary="A profile.")
    assert sizes == [200, 200, 50]
    assert sorted(read) == sorted(f"{thread}/{number}" for thread in range(30) for number in range(15))
    assert api.get_user_summary(user_id="ana")[0].end_seq == 449


@pytest.mark.feature("E7")
def test_a_profile_is_made_anew_when_all_messages_of_the_former_one_are_gone(api: Api) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    profile(api, "Ana is ill.")
    hear(api, "t2", "I like tea")
    job = profile_job(api)
    api.clear_thread(**ANA)  # the only source of what the job goes on from
    with refused("lease_token", "AM001"):
        complete(api, job, summary="Ana is ill and likes tea.")
    job = claim(api)
    assert (heard(job), job.payload["previous_summary"]) == ([(1, "I like tea")], None)


@pytest.mark.feature("E7", "A11")
@pytest.mark.parametrize(("function", "other_threads"), [("clear_thread", True), ("delete_thread", False)])
def test_a_thread_deleted_or_cleared_while_a_profile_is_made_is_not_in_it(
    api: Api, function: str, other_threads: bool
) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    if other_threads:
        hear(api, "t2", "I like tea")
    job = profile_job(api)
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        complete(api, job, summary="Ana is ill.")
    assert known(api) == []
    again = api.claim_jobs(worker="test")
    assert [heard(job) for job in again] == ([[(1, "I like tea")]] if other_threads else [])
    assert all(job.attempt == 1 for job in again)


@pytest.mark.feature("E7", "A11")
@pytest.mark.parametrize(("first", "last"), [("clear_thread", "delete_thread"), ("delete_thread", "clear_thread")])
def test_a_profile_goes_with_the_last_thread_that_contributed(api: Api, first: str, last: str) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    hear(api, "t2", "I like tea")
    profile(api)
    hear(api, "t3", "Hello")  # not in it
    getattr(api, first)(user_id="ana", thread_id="t1")
    assert known(api) == ["Ana lives in Oslo."]
    getattr(api, last)(user_id="ana", thread_id="t2")
    assert known(api) == []


@pytest.mark.feature("E7", "D11")
def test_a_thread_deleted_just_as_the_profile_is_stored_is_read_anew_when_it_returns(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, other = Api(db), Api(connect())
    only(api)
    hear(api, "t1", "I am ill")
    hear(api, "t2", "I like tea")
    job = profile_job(api)
    with ThreadPoolExecutor() as pool:
        with db.transaction():
            complete(api, job, summary="Ana is ill.")
            going = pool.submit(other.delete_thread, **ANA)
            while not api.value("select cardinality(pg_blocking_pids(%(pid)s))", pid=other.connection.info.backend_pid):
                assert not going.done()
        assert going.result(PATIENCE) == 1
    hear(api, "t1", "I am well")
    assert heard(profile_job(api)) == [(1, "I am well")]
