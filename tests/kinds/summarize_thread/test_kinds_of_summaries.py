"""A rolling summary and a summary of the whole thread side by side."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA, claim, complete, make_due
from tests.support.sqlapi import Api
from tests.support.summaries import COMPRESSION, asked, only, seqs, write

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
