"""Jobs that fail: delays between attempts, dead jobs, and retries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.support.jobs import ANA, claim, claim_and_die, kill, queued, status
from tests.support.protocol import lease, make_due
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("F6")
def test_a_failed_job_waits_longer_after_each_attempt_and_dies_after_the_fifth(api: Api) -> None:
    job_id = queued(api)
    for attempt, seconds in enumerate([10, 40, 160, 640, None], start=1):
        job = claim(api)
        assert job.attempt == attempt
        outcome = api.fail_job(**lease(job), error=f"failure {attempt}")
        assert outcome == ("dead" if seconds is None else "pending") == status(api, job_id)
        if seconds is not None:
            delay = api.value("select extract(epoch from run_after - statement_timestamp()) from memory.jobs")
            assert seconds * 0.98 < delay <= seconds * 1.25
            assert api.claim_jobs(worker="test") == []
            make_due(api)
    assert api.claim_jobs(worker="test") == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.attempts, job.error, job.finished_at is not None) == (5, "failure 5", True)
    [dead] = api.query("select * from memory.dead_jobs")
    assert (dead.user_id, dead.job_id, dead.kind, dead.scope, dead.error) == (
        "ana",
        job_id,
        "extract_memories",
        "t1",
        "failure 5",
    )


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    ("function", "retry_after", "expected"),
    [("fail_job", "90 seconds", "90 s"), ("fail_job", "-1 hour", "0 s"), ("release_job", "100 years", "1 day")],
)
def test_the_worker_may_say_when_to_try_again(api: Api, function: str, retry_after: str, expected: str) -> None:
    queued(api)
    reason = {"error": "overloaded"} if function == "fail_job" else {}
    with api.connection.transaction():
        getattr(api, function)(**lease(claim(api)), **reason, retry_after=retry_after)
        waiting = api.value("select run_after - statement_timestamp() from memory.jobs")
    wanted = api.value("select %(expected)s::interval", expected=expected)
    assert timedelta(seconds=-50) < waiting - wanted <= timedelta(0)


@pytest.mark.feature("F6")
def test_a_job_that_kills_each_of_its_workers_dies_too(api: Api) -> None:
    job_id = queued(api)
    for attempt in range(1, 6):
        assert claim_and_die(api, worker=f"w{attempt}").attempt == attempt
    assert api.claim_jobs(worker="test") == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.error) == ("dead", 'the lease of worker "w5" ran out in attempt 5')


@pytest.mark.feature("F6")
def test_a_released_job_has_lost_no_attempt(api: Api) -> None:
    job_id = queued(api)
    for _ in range(7):
        job = claim(api)
        assert job.attempt == 1
        api.release_job(**lease(job))
    assert api.get_job(user_id="ana", job_id=job_id).attempts == 0
    api.release_job(**lease(claim(api)), retry_after="1 hour")
    assert api.claim_jobs(worker="test") == []


@pytest.mark.feature("F6")
def test_a_dead_job_can_be_given_all_its_attempts_again(api: Api) -> None:
    job_id = kill(api)
    api.retry_job(user_id="ana", job_id=job_id)
    assert claim(api).attempt == 1
    assert api.query("select * from memory.dead_jobs") == []


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda api: claim(api), "22023"),
        (lambda api: api.complete_job(**lease(claim(api)), result={"memories": []}), "22023"),
        (lambda api: api.connection.execute("delete from memory.jobs"), "P0002"),
    ],
    ids=["running", "completed", "gone"],
)
def test_only_a_dead_or_waiting_job_can_be_retried(api: Api, prepare: Callable[[Api], Any], code: str) -> None:
    job_id = queued(api)
    prepare(api)
    with refused("job_id", code):
        api.retry_job(user_id="ana", job_id=job_id)


@pytest.mark.feature("F6")
def test_a_dead_job_is_not_retried_beside_a_newer_one(api: Api) -> None:
    job_id = kill(api)
    assert api.extract_memories(**ANA) != job_id
    with refused("job_id", "23505"):
        api.retry_job(user_id="ana", job_id=job_id)
