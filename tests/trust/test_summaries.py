"""A summary that looks like an attack is not stored: the reply of the model is refused, and the messages stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.protocol import ANA, activate, claim, complete, lease, open_jobs
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
    assert "summary looks like an attack on a model (a request to send data" in str(error.value)
    assert api.fail_job(**lease(job), error="result: summary looks like an attack on a model") == "pending"
    assert job.kind in open_jobs(api)
    assert active(api) == before
    assert api.query("select * from memory.summaries where status = 'completed'") == []


@pytest.mark.feature("F10")
def test_with_the_rules_switched_off_a_summary_is_not_judged(api: Api) -> None:
    activate(api)
    job = compression_job(api)
    api.set_policy(settings={"trust": {"rules": False}})
    complete(api, job, summary=POISONED)
    assert [row.summary for row in api.get_thread_summary(**ANA)] == [POISONED]


@pytest.mark.feature("F10")
def test_the_built_in_model_copies_what_was_judged_before(api: Api) -> None:
    complete(api, compression_job(api), summary=POISONED)
    assert [row.summary for row in api.get_thread_summary(**ANA)] == [POISONED]
