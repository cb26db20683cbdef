"""The limit of jobs of one user that run at the same time."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.queue.fair_queue.steps import Connect, queue
from tests.support.protocol import complete, lease, nothing_to_do
from tests.support.runners import PATIENCE
from tests.support.sqlapi import NO_WAIT, Api


@pytest.mark.feature("F20")
def test_a_user_has_four_running_jobs_unless_the_policy_says_otherwise(api: Api) -> None:
    queue(api, "ana", jobs=20)
    queue(api, "bob", jobs=20)
    api.set_policy(settings={"jobs": {"max_running_per_user": 2}}, user_id="bob")
    jobs = api.claim_jobs(worker="test", max_jobs=20)
    assert Counter(job.user_id for job in jobs) == {"ana": 4, "bob": 2}
    assert nothing_to_do(api)
    complete(api, next(job for job in jobs if job.user_id == "ana"), memories=[])
    api.fail_job(**lease(next(job for job in jobs if job.user_id == "bob")), error="no luck")
    assert Counter(job.user_id for job in api.claim_jobs(worker="test", max_jobs=20)) == {"ana": 1, "bob": 1}


@pytest.mark.feature("F20")
def test_jobs_whose_worker_died_do_not_count(api: Api) -> None:
    queue(api, "ana", jobs=8)
    assert len(api.claim_jobs(worker="test", max_jobs=8, lease="1 microsecond")) == 4
    assert len(api.claim_jobs(worker="test", max_jobs=8)) == 4


@pytest.mark.feature("F20")
def test_the_limit_is_exact_for_workers_at_once(connect: Connect, api: Api) -> None:
    workers = [Api(connect()) for _ in range(6)]
    for user_id in ("ana", "bob", "eve"):
        queue(api, user_id, jobs=40)
    for _ in range(8):
        start = threading.Barrier(len(workers))

        def work(number: int, start: threading.Barrier = start) -> list[Any]:
            start.wait(PATIENCE)
            return list(workers[number].claim_jobs(worker=f"w{number}", max_jobs=3))

        with ThreadPoolExecutor(len(workers)) as pool:
            jobs = [job for claimed in pool.map(work, range(len(workers))) for job in claimed]
        assert jobs
        assert max(Counter(job.user_id for job in jobs).values()) <= 4
        running = api.query("select user_id, count(*) as jobs from memory.jobs where status = 'running' group by 1")
        assert max(row.jobs for row in running) <= 4
        for job in jobs:
            complete(api, job, memories=[])


@pytest.mark.feature("F20")
def test_a_claim_that_is_not_committed_holds_up_no_other_user(api: Api, connect: Connect) -> None:
    for number in range(20):
        queue(api, f"user {number}", jobs=5)
    other = Api(connect(options=NO_WAIT))
    with api.connection.transaction():
        held = {job.user_id for job in api.claim_jobs(worker="slow", max_jobs=10)}
        free = {job.user_id for job in other.claim_jobs(worker="test", max_jobs=20)}
    assert (len(held), len(free), held & free) == (10, 10, set())
