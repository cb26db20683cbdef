"""Summaries of whole threads: when they are made, what of, and beside a rolling summary."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA, claim, complete, make_due
from tests.support.sqlapi import Api
from tests.support.summaries import (
    COMPRESSION,
    LISTS,
    active,
    asked,
    compress,
    compressing,
    only,
    seqs,
    write,
)


@pytest.mark.feature("E5", "E13")
@pytest.mark.parametrize(("every_n", "jobs_at"), [(5, [4, 9, 14, 19]), (20, [19]), (21, [])])
def test_a_whole_thread_is_summarised_every_n_messages(api: Api, every_n: int, jobs_at: list[int]) -> None:
    only(api, summary={"enabled": True}, cadence={"thread_summary_every_n": every_n})
    seen = []
    for seq in range(20):
        write(api, 1)
        if api.finish_jobs():
            seen.append(seq)
    assert seen == jobs_at


@pytest.mark.feature("E5", "D4", "D7")
def test_a_summary_is_made_of_the_previous_summary_and_newer_messages_only(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 6})
    previous = None
    for last_seq in (5, 11, 17):
        api.talk(**ANA, rounds=3)
        job = claim(api)
        assert seqs(job.payload["messages"]) == list(range(last_seq - 5, last_seq + 1))
        assert (job.payload["kind"], job.payload["start_seq"], job.payload["end_seq"]) == ("thread", 0, last_seq)
        assert job.payload["previous_summary"] == (previous and previous.summary)
        assert job.payload["previous_metadata"] == (previous and previous.metadata)
        complete(api, job, summary=f"Up to {last_seq}", metadata=LISTS)
        [current] = api.get_thread_summary(**ANA)
        assert (current.summary, current.start_seq, current.end_seq) == (f"Up to {last_seq}", 0, last_seq)
        assert current.base_summary_id == (previous and previous.summary_id)
        previous = current
    assert active(api) == list(range(18))


@pytest.mark.feature("E5", "E8")
def test_recent_k_limits_what_a_summary_of_the_whole_thread_reads_and_says_it_covers(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 100})
    api.talk(**ANA, rounds=5)
    complete(api, asked(api, "summarize_thread"), summary="All of it.")
    api.talk(**ANA, rounds=5)
    api.summarize_thread(**ANA, recent_k=4)
    job = claim(api)
    assert seqs(job.payload["messages"]) == [16, 17, 18, 19]
    assert (job.payload["previous_summary"], job.payload["start_seq"], job.payload["end_seq"]) == ("All of it.", 16, 19)
    complete(api, job, summary="And the end of it.")
    job_id = api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="test") == []
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}


@pytest.mark.feature("A7", "E8")
@pytest.mark.parametrize(("keep", "size"), [(1, 6000), (4, 1)])
def test_compression_reads_what_recent_k_has_passed_over_before_it_puts_it_away(api: Api, keep: int, size: int) -> None:
    """Messages of 6,000 tokens count as 2,000 each, so one job reads twelve of them."""
    off = {"enabled": False, "recent_messages_to_keep": keep}
    only(api, cadence={"thread_summary_every_n": 100}, compression=off)
    write(api, *[size] * 20)
    read: list[int] = []
    for recent_k in (3, None):
        api.summarize_thread(**ANA, recent_k=recent_k)
        for job in api.claim_jobs(worker="test"):
            read += seqs(job.payload["messages"])
            complete(api, job, summary="They talked.")
        write(api, *[size] * 5)
    api.compress_thread(**ANA)
    for _ in range(20):
        for job in api.claim_jobs(worker="test"):
            read += seqs(job.payload["messages"])
            complete(api, job, summary="They talked on.")
        assert set(read) | set(active(api)) == set(range(30))
    assert active(api) == list(range(30 - keep, 30))
    [summary] = api.get_thread_summary(**ANA)
    assert (summary.start_seq, summary.summary) == (0, "They talked on.")


@pytest.mark.feature("E5", "D6")
def test_each_kind_of_summary_can_be_asked_for(api: Api) -> None:
    compressing(api)
    api.talk(**ANA, rounds=5)
    complete(api, asked(api, "summarize_thread"), summary="Window.")

    def found(kind: str | None) -> list[str]:
        return [summary.summary for summary in api.get_thread_summary(**ANA, kind=kind)]

    assert [found(kind) for kind in (None, "thread", "rolling")] == [["Window."], [], ["Window."]]
    compress(api, "Whole.")
    assert [found(kind) for kind in (None, "thread", "rolling")] == [["Whole."], ["Whole."], ["Window."]]


KINDS = ["rolling", "thread"]


def finish(api: Api) -> dict[str, Any]:
    """Do the queued summaries; the payloads by kind."""
    payloads = {}
    for job in api.claim_jobs(worker="test", max_jobs=10):
        payloads[job.payload["kind"]] = job.payload
        complete(api, job, summary=f"By {job.payload['kind']}.")
    return payloads


@pytest.mark.feature("E5", "D2")
@pytest.mark.parametrize(("every_n", "when", "enabled"), [(0, "needed", True), (100, "each_round", False)])
def test_both_kinds_can_be_asked_for_under_every_policy(api: Api, every_n: int, when: str, enabled: bool) -> None:
    summary = {"enabled": enabled, "when": when, "start_seq": 100, "window_size": 4}
    only(api, summary=summary, cadence={"thread_summary_every_n": every_n})
    api.talk(**ANA, rounds=5)
    jobs = [api.summarize_thread(**ANA, kind=kind) for kind in KINDS]
    assert len(set(jobs)) == 2
    assert [api.summarize_thread(**ANA, kind=kind) for kind in KINDS] == jobs
    payloads = finish(api)
    assert (payloads["thread"]["start_seq"], payloads["thread"]["end_seq"]) == (0, 9)
    assert (payloads["rolling"]["start_seq"], payloads["rolling"]["end_seq"]) == (0 if when == "needed" else 6, 9)
    for kind in KINDS:
        [current] = api.get_thread_summary(**ANA, kind=kind)
        assert (current.kind, current.summary) == (kind, f"By {kind}.")
    [current] = api.get_thread_summary(**ANA)
    assert current.kind == "thread"
    assert api.query("select kind, status from memory.summary_chain") == [(kind, "completed") for kind in KINDS]


@pytest.mark.feature("E5", "D5")
def test_both_kinds_are_made_at_the_same_time_and_no_request_is_lost_in_the_other(api: Api) -> None:
    only(api)
    api.talk(**ANA, rounds=3)
    job = asked(api, "summarize_thread")
    api.summarize_thread(**ANA, kind="thread")
    other = claim(api)
    assert api.query("select kind, status from memory.summary_chain") == [(kind, "processing") for kind in KINDS]
    for each in (other, job):
        complete(api, each, summary="They talked.")
    assert api.query("select kind, status from memory.summary_chain") == [(kind, "completed") for kind in KINDS]


@pytest.mark.feature("E5", "A7")
def test_only_the_summary_of_the_whole_thread_waits_for_a_compression(api: Api) -> None:
    only(api, compression=COMPRESSION)
    write(api, *[10] * 9)
    api.compress_thread(**ANA)
    compression = claim(api)
    for kind in KINDS:
        api.summarize_thread(**ANA, kind=kind)
    assert list(finish(api)) == ["rolling"]
    complete(api, compression, summary="Whole.")
    make_due(api)
    payload = claim(api).payload
    assert (payload["kind"], payload["previous_summary"]) == ("thread", "Whole.")


@pytest.mark.feature("E8", "D4")
def test_a_rolling_summary_of_the_last_messages_is_not_taken_for_one_of_all(api: Api) -> None:
    only(api)
    api.talk(**ANA, rounds=5)
    api.summarize_thread(**ANA, recent_k=4)
    job = claim(api)
    assert (job.payload["start_seq"], seqs(job.payload["messages"])) == (6, [6, 7, 8, 9])
    complete(api, job, summary="The end of it.")
    job = asked(api, "summarize_thread")
    assert (job.payload["start_seq"], seqs(job.payload["messages"])) == (0, list(range(10)))
