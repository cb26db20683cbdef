"""Sweeps queue extractions of threads that have fallen silent."""

from __future__ import annotations

import pytest

from tests.support.protocol import open_jobs, say
from tests.support.sqlapi import Api
from tests.support.summaries import only


@pytest.mark.feature("B9", "E13")
@pytest.mark.parametrize(
    ("said", "every_n", "queued"),
    [("2 hours", 10, 1), ("7 days", 10, 1), ("9 days", 10, 1), ("10 minutes", 10, 0), ("2 hours", 0, 0)],
)
def test_a_sweep_has_the_last_messages_of_quiet_threads_extracted(
    api: Api, said: str, every_n: int, queued: int
) -> None:
    only(api, cadence={"fact_extraction_every_n": every_n})
    moment = api.value("select now() - %(said)s::interval", said=said)
    say(api, *["Hello"] * 3, created_at=moment)
    assert api.sweep()["queued"] == queued
    assert open_jobs(api) == ["extract_memories"] * queued
    assert api.sweep()["queued"] == 0


@pytest.mark.feature("B9")
@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_sweep_queues_no_thread_that_was_read_to_its_end(api: Api, role: str) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 10}})
    say(api, "Hello", role=role, created_at=api.value("select now() - interval '2 hours'"))
    assert api.sweep()["queued"] == 1
    api.finish_jobs()
    assert api.sweep()["queued"] == 0
