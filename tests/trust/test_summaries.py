"""A summary that looks like an attack is not stored: the reply of the model is refused, and the messages stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.protocol import ANA, activate, claim, complete, lease, make_due, open_jobs
from tests.support.sqlapi import Api, refused
from tests.support.summaries import active, compressing, hear, only, profile_job, write
from tests.trust.test_quarantine import ATTACK

POISONED = f"They talked about teashops. {ATTACK}"


def thread_job(api: Api) -> Any:
    only(api, summary={"enabled": False}, cadence={"thread_summary_every_n": 4})
    api.talk(**ANA, rounds=2)
    return claim(api, "summarize_thread")


def compression_job(api: Api) -> Any:
    compressing(api)
    write(api, *[10] * 12)
    return claim(api, "compress_thread")


def user_job(api: Api) -> Any:
    only(api)
    hear(api, "t1", "I live in Oslo")
    return profile_job(api)


@pytest.mark.feature("F10")
@pytest.mark.parametrize("begun", [thread_job, compression_job, user_job])
def test_a_summary_that_looks_like_an_attack_is_refused(api: Api, begun: Callable[[Api], Any]) -> None:
    activate(api)
    job = begun(api)
    before = active(api)
    with refused("result") as error:
        complete(api, job, summary=POISONED)
    assert "summary looks like an attack on a model (an order to ignore instructions" in str(error.value)
    assert api.fail_job(**lease(job), error="result: summary looks like an attack on a model") == "pending"
    assert job.kind in open_jobs(api)
    assert active(api) == before
    assert api.query("select * from memory.summaries where status = 'completed'") == []


@pytest.mark.feature("F10")
def test_a_summary_in_quarantine_is_hidden_and_made_anew_and_a_release_brings_it_back(api: Api) -> None:
    activate(api)
    api.set_policy(settings={"trust": {"rules": False}})
    complete(api, compression_job(api), summary=POISONED)
    hear(api, "t1", "I live in Oslo")
    complete(api, profile_job(api), summary="Lives in Oslo.")
    [poisoned] = api.get_thread_summary(**ANA)
    counts = api.quarantine_source(
        user_id="ana", source="summary", id=str(poisoned.summary_id), reason="asks to send data"
    )
    assert counts["summaries"] == 1
    [row] = api.list_quarantined(user_id="ana")
    assert (row.source, row.id, row.content) == ("summary", str(poisoned.summary_id), POISONED)
    assert row.reason == "asks to send data"
    assert [summary.summary for summary in api.get_user_summary(user_id="ana")] == ["Lives in Oslo."]
    assert not any("evil.example" in text for text in shown(api))
    assert "summarize_thread" in open_jobs(api), "it is made anew"
    counts = api.release_source(user_id="ana", source="summary", id=row.id)
    assert counts["summaries"] == 1
    assert any("evil.example" in text for text in shown(api))


@pytest.mark.feature("F10")
def test_the_summaries_that_continue_one_go_with_it(api: Api) -> None:
    activate(api)
    complete(api, compression_job(api), summary="First.")
    [first] = api.get_thread_summary(**ANA)
    write(api, *[10] * 12)
    complete(api, claim(api, "compress_thread"), summary="Second.")
    counts = api.quarantine_source(user_id="ana", source="summary", id=str(first.summary_id), reason="planted")
    assert counts["summaries"] == 2
    assert {row.content for row in api.list_quarantined(user_id="ana")} == {"First.", "Second."}
    assert api.get_thread_summary(**ANA) == []
    api.release_source(user_id="ana", source="summary", id=str(first.summary_id))
    assert [row.summary for row in api.get_thread_summary(**ANA)] == ["First."]


@pytest.mark.feature("F5", "F10")
def test_what_a_summary_became_goes_with_it(api: Api) -> None:
    activate(api)
    compressing(api, archive_conversations=True)
    api.set_policy(settings={"summary": {"as_memory": True}, "trust": {"rules": False}})
    write(api, *[10] * 12)
    complete(api, claim(api, "compress_thread"), summary=POISONED)
    [summary] = api.get_thread_summary(**ANA)
    named = {"user_id": "ana", "source": "summary", "id": str(summary.summary_id)}
    assert told(api) == {"memory", "document", "summary"}
    counts = api.quarantine_source(**named, reason="planted")
    assert (counts["memories"], counts["documents"], counts["summaries"]) == (1, 1, 1)
    assert told(api) == set()
    assert len(api.list_quarantined(user_id="ana")) == 3
    counts = api.release_source(**named)
    assert (counts["memories"], counts["documents"], counts["summaries"]) == (1, 1, 1)
    assert told(api) == {"memory", "document", "summary"}


@pytest.mark.feature("F5", "F10")
def test_a_job_that_continues_a_poisoned_summary_starts_again_without_it(api: Api) -> None:
    activate(api)
    complete(api, compression_job(api), summary="First.")
    [first] = api.get_thread_summary(**ANA)
    write(api, *[10] * 12)
    job = claim(api, "compress_thread")
    assert job.payload["previous_summary"] == "First."
    api.quarantine_source(user_id="ana", source="summary", id=str(first.summary_id), reason="planted")
    with refused("lease_token", "AM001"):
        complete(api, job, summary="First, and more.")
    assert api.get_thread_summary(**ANA) == []
    make_due(api)
    again = claim(api, "summarize_thread")
    assert again.payload["previous_summary"] is None
    complete(api, again, summary="Anew.")
    assert [row.summary for row in api.get_thread_summary(**ANA)] == ["Anew."]


def told(api: Api) -> set[str]:
    """The sources in which the planted words are found."""
    found = api.search(user_id="ana", query="teashops", sources=["memory", "document", "summary"], mode="keyword")
    return {row.source for row in found}


def shown(api: Api) -> list[str]:
    """What a model is shown of summaries."""
    texts = [part.content for part in api.get_context(**ANA, query="teashops", max_tokens=200)]
    return texts + [row.content for row in api.search(user_id="ana", query="teashops", sources=["summary"])]
