"""Compression: failed and refused results change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA, claim, complete, lease, make_due, nothing_to_do, open_jobs
from tests.support.sqlapi import Api, refused
from tests.support.summaries import COMPRESSION, active, compressing, only, summaries, write

TALKED = {"summary": "They talked."}
COUNTER = {**TALKED, "token_counter": "o200k_base"}
BAD_RESULTS: list[dict[str, Any]] = [
    {},
    {"summary": " "},
    {"summary": 5},
    {"summary": "x" * 300_000},
    {**TALKED, "metadata": []},
    {**TALKED, "generation_time_ms": -1},
    {**TALKED, "token_counts": {"0": 1}},
    *({**COUNTER, "token_counts": counts} for counts in ([1], {"0": "1"}, {"0": 1.5}, {"0": -1}, {"0": 10**400})),
    *({**COUNTER, "token_counts": {seq: 1}} for seq in ("-1", "9" * 30, "1; drop")),
    {"skipped": "below", "token_counts": {"0": None}, "token_counter": "o200k_base"},
]


@pytest.mark.feature("A7")
def test_a_bad_result_changes_nothing(api: Api) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    before = api.state()
    for result in BAD_RESULTS:
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("A7", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_that_goes_while_it_is_compressed_stays_gone(api: Api, function: str) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    getattr(api, function)(**ANA)
    write(api, *[1] * 3)
    with refused("lease_token", "AM001"):
        complete(api, job, summary="They talked.")
    assert len(active(api)) == 3
    assert (summaries(api), api.list_documents(user_id="ana"), open_jobs(api)) == ([], [], [])


@pytest.mark.feature("A7", "D5")
@pytest.mark.parametrize("kinds", [("summarize_thread", "compress_thread"), ("compress_thread", "summarize_thread")])
def test_two_kinds_of_jobs_never_continue_one_summary_at_once(api: Api, kinds: tuple[str, str]) -> None:
    only(api, cadence={"thread_summary_every_n": 100}, compression=COMPRESSION)
    api.talk(**ANA, rounds=5)
    api.compress_thread(**ANA)
    api.summarize_thread(**ANA)
    first = claim(api, kinds[0])
    assert nothing_to_do(api)
    assert api.query("select attempts, error from memory.jobs where status = 'pending'") == [
        (0, "another job is summarising this thread")
    ]
    complete(api, first, summary="First.")
    make_due(api)
    for job in api.claim_jobs(worker="test"):
        assert (job.kind, job.payload["previous_summary"]) == (kinds[1], "First.")
        complete(api, job, summary="Second.")
    assert active(api) == [6, 7, 8, 9]
    assert summaries(api)[-1] == ("thread", 0, 9, "completed")
