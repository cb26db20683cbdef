"""Sweeps have read what expires before any job has read it, however short the thread; expired rows wait for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.protocol import ANA, activate, claim, complete, lease, open_jobs, say
from tests.support.sqlapi import NO_WAIT, Api
from tests.support.summaries import only

pytestmark = pytest.mark.feature("A2", "B9", "E13")
FACT = {"content": "Likes tea", "memory_type": "fact"}


@pytest.fixture
def api(api: Api) -> Api:
    only(api, cadence={"fact_extraction_every_n": 10})
    return api


def said_ago(api: Api, stored: str, lives: str = "7 days", **where: str) -> None:
    """Let all messages, or those of a user, have been stored so long ago, to live so long."""
    api.query(
        "update memory.messages set created_at = now() - %(stored)s::interval,"
        " expires_at = now() - %(stored)s::interval + %(lives)s::interval"
        " where %(user_id)s in ('', user_id) returning 1",
        stored=stored, lives=lives, user_id=where.get("user_id", ""),
    )  # fmt: skip
    api.query(
        "update memory.threads set last_at = now() - %(stored)s::interval"
        " where %(user_id)s in ('', user_id) returning 1",
        stored=stored, user_id=where.get("user_id", ""),
    )  # fmt: skip


def stored_messages(api: Api) -> int:
    number: int = api.value("select count(*) from memory.messages")
    return number


@pytest.mark.parametrize(
    ("lives", "expires_in", "queued"),
    [("7 days", "23 hours", 1), ("7 days", "25 hours", 0), ("12 hours", "7 hours", 0), ("12 hours", "5 hours", 1)],
)
def test_a_thread_that_is_not_quiet_is_read_before_its_messages_expire(
    api: Api, lives: str, expires_in: str, queued: int
) -> None:
    say(api, *["Hello"] * 9)
    said_ago(api, api.value("select (%(a)s::interval - %(b)s::interval)::text", a=lives, b=expires_in), lives)
    api.query("update memory.threads set last_at = now() returning 1")
    assert api.sweep()["queued"] == queued
    assert open_jobs(api) == ["extract_memories"] * queued
    assert api.sweep()["queued"] == 0


def test_what_expired_while_the_store_was_off_is_read_and_then_goes(api: Api) -> None:
    say(api, "I like tea")
    said_ago(api, "14 days")
    assert (api.sweep()["messages"], open_jobs(api)) == (0, ["extract_memories"])
    assert api.get_messages(**ANA) == []
    assert api.search(user_id="ana", query="tea") == []
    assert all("tea" not in part.content for part in api.get_context(**ANA, query="tea"))
    job = claim(api)
    assert [message["content"] for message in job.payload["messages"]] == ["I like tea"]
    assert api.sweep()["messages"] == 0  # while its job runs
    complete(api, job, memories=[{**FACT, "seqs": [0]}])
    assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Likes tea"]
    assert (api.sweep()["messages"], stored_messages(api)) == (1, 0)


@pytest.mark.parametrize(("lives", "ago"), [("7 days", "36 days"), ("1 hour", "6 hours")])
def test_without_a_worker_messages_go_all_the_same(api: Api, lives: str, ago: str) -> None:
    say(api, *["Hello"] * 3)
    said_ago(api, ago, lives)
    assert (api.sweep()["messages"], open_jobs(api), stored_messages(api)) == (3, [], 0)


@pytest.mark.parametrize(
    "settings",
    [
        {"cadence": {"fact_extraction_every_n": 0}},
        {"resources": {"memory": False}},
        {"budget": {"tokens_per_user_per_day": 0}},
    ],
    ids=str,
)
def test_what_nobody_may_read_goes_at_once(api: Api, settings: dict[str, Any]) -> None:
    activate(api)
    say(api, "Hello")
    said_ago(api, "8 days")
    say(api, "Hello", thread_id="t2", user_id="bob")
    said_ago(api, "8 days", user_id="bob")
    api.set_policy(settings=settings, user_id="ana")
    swept = api.sweep()
    assert (swept["messages"], swept["queued"]) == (1, 1)
    assert api.query("select user_id from memory.messages") == [("bob",)]


def die(api: Api) -> None:
    for _ in range(5):
        api.query("update memory.jobs set run_after = now(), is_delayed = false where status = 'pending' returning 1")
        api.fail_job(**lease(claim(api)), error="no answer")
    assert open_jobs(api) == []


def test_an_extraction_that_died_is_queued_again_once_a_day_and_given_up_after_a_week(api: Api) -> None:
    say(api, "Hello")
    said_ago(api, "14 days")
    for deaths in range(1, 8):
        assert api.sweep()["queued"] == 1
        die(api)
        assert api.sweep()["queued"] == 0
        assert stored_messages(api) == (1 if deaths < 7 else 0)
        api.query("update memory.jobs set finished_at = finished_at - interval '21 hours' returning 1")
    assert api.sweep()["queued"] == 0


def test_cleared_and_quarantined_messages_are_not_given_away(api: Api) -> None:
    say(api, "I like tea", "I like cocoa")
    said_ago(api, "8 days")
    say(api, "gone", thread_id="t2")
    said_ago(api, "8 days")
    api.clear_thread(user_id="ana", thread_id="t2")
    api.quarantine_source(user_id="ana", source="message", id="t1/1", reason="poisoned")
    assert api.sweep()["queued"] == 1
    job = claim(api)
    contents = [message["content"] for message in job.payload["messages"]]
    assert contents[0] == "I like tea"
    assert "cocoa" not in str(contents)


def test_many_rows_of_a_user_that_wait_do_not_hold_up_another(api: Api) -> None:
    waiting = 27
    api.add_messages(user_id="flood", thread_id="t1", messages=[{"role": "user", "content": "Hello"}] * waiting)
    said_ago(api, "8 days")
    say(api, "42", role="tool", user_id="bob")
    said_ago(api, "7 days 1 hour", user_id="bob")
    assert api.sweep(batch_size=2)["messages"] == 1
    assert stored_messages(api) == waiting
    assert api.sweep(batch_size=2)["messages"] == 0


def test_two_sweeps_at_once_queue_one_job(api: Api, connect: Callable[..., Any]) -> None:
    say(api, "Hello")
    said_ago(api, "8 days")
    hasty = Api(connect(options=NO_WAIT))
    with api.connection.transaction():
        assert api.sweep()["queued"] == 1
        assert hasty.sweep()["queued"] == 0
        assert stored_messages(hasty) == 1
    assert hasty.sweep()["queued"] == 0
    assert open_jobs(api) == ["extract_memories"]


def test_a_summary_of_the_user_does_not_read_what_expired(api: Api) -> None:
    say(api, "I like tea")
    said_ago(api, "8 days")
    api.summarize_user(user_id="ana")
    assert api.claim_jobs(worker="test") == []
