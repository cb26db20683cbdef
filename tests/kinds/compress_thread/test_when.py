"""Compression: when a thread is compressed, by itself and on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.protocol import ANA, claim, complete, nothing_to_do, open_jobs
from tests.support.sqlapi import Api
from tests.support.summaries import asked, compressing, only, summaries, write, write_at_once


@pytest.mark.feature("A6")
@pytest.mark.parametrize("append", [write, write_at_once])
@pytest.mark.parametrize(("sizes", "jobs"), [([9] * 11, 0), ([10] * 9, 0), ([10] * 10, 1), ([96, 1, 1, 1, 1], 1)])
def test_a_thread_is_compressed_once_it_has_the_threshold(
    api: Api, append: Callable[..., None], sizes: list[int], jobs: int
) -> None:
    compressing(api)
    append(api, *sizes)
    assert open_jobs(api) == ["compress_thread"] * jobs


@pytest.mark.feature("A6")
@pytest.mark.parametrize("append", [write, write_at_once])
@pytest.mark.parametrize("sizes", [[200] * 4, [1, 1, 1, 200, 200, 200, 200], [9, 200, 1, 1, 1]])
def test_the_newest_messages_alone_start_no_compression(
    api: Api, append: Callable[..., None], sizes: list[int]
) -> None:
    """A tenth of the threshold is worth a call; here there is less, or nothing, to put away."""
    compressing(api)
    append(api, *sizes)
    assert append is write_at_once or open_jobs(api) == []
    assert nothing_to_do(api)
    assert summaries(api) == []


@pytest.mark.feature("A6", "A15")
@pytest.mark.parametrize(
    ("section", "jobs"),
    [
        ({}, 0),  # 10,000 tokens
        ({"threshold_tokens": 50}, 1),
        ({"threshold_tokens": 50, "enabled": False}, 0),
        ({"threshold_tokens": 50, "recent_messages_to_keep": 12}, 0),
    ],
)
def test_each_agent_can_have_a_configuration_of_its_own(api: Api, section: dict[str, Any], jobs: int) -> None:
    api.set_policy(settings={"compression": section}, agent_id="research_agent")
    only(api, compression={"enabled": True})
    write(api, *[10] * 12, agent_id="research_agent")
    write(api, *[10] * 12, agent_id="other", thread_id="t2")
    assert api.query("select kind, scope from memory.jobs") == [("compress_thread", "t1")] * jobs


@pytest.mark.feature("A6")
def test_compressed_messages_do_not_start_the_next_compression(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    complete(api, claim(api), summary="They talked.")
    write(api, *[10] * 5)
    assert open_jobs(api) == []
    write(api, 10)
    assert open_jobs(api) == ["compress_thread"]


@pytest.mark.feature("A6", "E15")
def test_a_thread_below_the_threshold_is_compressed_on_demand(api: Api) -> None:
    compressing(api)
    write(api, *[1] * 6)
    assert asked(api, "compress_thread").payload["is_forced"] is True


@pytest.mark.feature("A6", "E15")
@pytest.mark.parametrize("sizes", [[], [1], [1] * 4])
def test_a_thread_with_nothing_but_new_messages_is_done_without_a_model(api: Api, sizes: list[int]) -> None:
    compressing(api)
    write(api, *(sizes or [1]))
    if not sizes:
        api.clear_thread(**ANA)
    job_id = api.compress_thread(**ANA)
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}
    assert summaries(api) == []


@pytest.mark.feature("A6", "E15")
def test_asking_for_a_queued_compression_makes_it_a_forced_one(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    api.compress_thread(**ANA)
    assert claim(api).payload["is_forced"] is True
