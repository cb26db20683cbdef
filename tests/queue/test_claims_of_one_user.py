"""A claim for one user hands out that user's jobs, and takes no turn away from the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queue.fair_queue.steps import queue
from tests.support.protocol import claim
from tests.support.sqlapi import Api


def claimed(api: Api, user_id: str | None = None, **arguments: Any) -> list[str]:
    return [job.user_id for job in api.claim_jobs(worker="test", user_id=user_id, **arguments)]


@pytest.fixture
def users(api: Api) -> Api:
    """Three users with three jobs each."""
    for user_id in ("ana", "bo", "cy"):
        queue(api, user_id, jobs=3)
    return api


def test_only_jobs_of_the_user_are_handed_out(users: Api) -> None:
    assert claimed(users, "bo", max_jobs=10) == ["bo"] * 3
    assert claimed(users, "bo", max_jobs=10) == []
    assert sorted(claimed(users, max_jobs=10)) == ["ana"] * 3 + ["cy"] * 3


def test_limits_hold_as_for_all(users: Api) -> None:
    assert claimed(users, "bo", kinds=["embed"], max_jobs=10) == []
    assert claimed(users, "bo", max_jobs=2) == ["bo"] * 2
    users.set_policy(settings={"jobs": {"max_running_per_user": 1}})
    assert claimed(users, "ana", max_jobs=10) == ["ana"]


def test_the_turns_of_others_stay(users: Api) -> None:
    [first] = claimed(users)
    for _ in range(2):
        claimed(users, first)
    assert claimed(users, max_jobs=2) == claimed(users, max_jobs=2) != [first] * 2


def test_a_lease_that_ran_out_is_handed_out_again(users: Api) -> None:
    job = claim(users, user_id="bo", max_jobs=1)
    users.connection.execute("update memory.jobs set lease_expires_at = now() where status = 'running'")
    again = [each.job_id for each in users.claim_jobs(worker="test", user_id="bo", max_jobs=10)]
    assert job.job_id in again
