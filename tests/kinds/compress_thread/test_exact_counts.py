"""Compression: exact token counts take the place of estimates."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA, claim, complete, open_jobs
from tests.support.sqlapi import Api
from tests.support.summaries import active, asked, compressing, summaries, write, write_at_once


@pytest.mark.feature("A5", "E14")
def test_exact_counts_take_the_place_of_the_estimates(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    job = claim(api)
    write(api, 10)
    counts = {str(seq): 100 + seq for seq in range(11)}  # 10 is not the job's
    outcome = complete(api, job, summary="They talked.", token_counts=counts, token_counter="o200k_base")
    assert outcome["token_counter"] == "o200k_base"
    stored = api.get_messages(**ANA, include_inactive=True)
    assert [message.token_count for message in stored] == [*range(100, 110), 10]
    assert active(api) == [6, 7, 8, 9, 10]
    [exact, *_, estimated] = asked(api, "compress_thread").payload["recent_messages"]
    assert (exact["token_count"], exact["is_counted"]) == (107, True)
    assert (estimated["token_count"], "is_counted" in estimated) == (10, False)


@pytest.mark.feature("A5", "A6")
def test_a_thread_that_is_smaller_than_estimated_is_left_alone(api: Api) -> None:
    compressing(api)
    write_at_once(api, *[10] * 10)
    job = claim(api)
    counts = {str(message["seq"]): 3 for message in job.payload["messages"]}
    outcome = complete(api, job, skipped="too small", token_counts=counts, token_counter="o200k_base")
    assert outcome == {"skipped": "too small", "token_counter": "o200k_base"}
    assert active(api) == list(range(10))
    assert (summaries(api), open_jobs(api)) == ([], [])
