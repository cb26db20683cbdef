"""Compression: when a thread is compressed, by itself and on demand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.protocol import claim, complete, open_jobs
from tests.support.sqlapi import Api
from tests.support.summaries import asked, compressing, write, write_at_once


@pytest.mark.feature("A6")
@pytest.mark.parametrize(
    ("append", "sizes", "jobs"),
    [
        (write, [10] * 9, 0),
        (write, [10] * 10, 1),
        (write_at_once, [9] * 11, 0),
        (write_at_once, [96, 1, 1, 1, 1], 1),
    ],
)
def test_a_thread_is_compressed_once_it_has_the_threshold(
    api: Api, append: Callable[..., None], sizes: list[int], jobs: int
) -> None:
    compressing(api)
    append(api, *sizes)
    assert open_jobs(api) == ["compress_thread"] * jobs
    if jobs:
        complete(api, claim(api), summary="They talked.")
        append(api, *[1] * 5)  # what was compressed counts no more
        assert open_jobs(api) == []


@pytest.mark.feature("A6", "E15")
@pytest.mark.parametrize("size", [1, 10], ids=["below the threshold", "queued already"])
def test_a_thread_is_compressed_on_demand(api: Api, size: int) -> None:
    compressing(api)
    write(api, *[size] * 10)
    assert asked(api, "compress_thread").payload["is_forced"] is True


@pytest.mark.feature("A6", "E15")
def test_a_thread_with_nothing_but_new_messages_is_done_without_a_model(api: Api) -> None:
    compressing(api)
    write(api, *[1] * 4)
    job_id = api.compress_thread(user_id="ana", thread_id="t1")
    assert api.claim_jobs(worker="test") == []
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}
    write_at_once(api, 200, 200, 200, 200)  # of which the newest alone have the threshold
    assert api.claim_jobs(worker="test") == []
