"""Claims take turns between users."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queue.fair_queue.steps import many_may_run, queue
from tests.support.protocol import claim
from tests.support.sqlapi import Api


def served(api: Api, claims: int, **arguments: Any) -> list[str]:
    """The users of so many claims of one job each, none of which is done yet."""
    return [claim(api, max_jobs=1, **arguments).user_id for _ in range(claims)]


@pytest.mark.feature("F20")
def test_claims_take_turns_between_users(api: Api) -> None:
    many_may_run(api)
    users = [f"user {number}" for number in range(7)]
    for user_id in users:
        queue(api, user_id, jobs=3)
    for _ in range(3):
        assert sorted(served(api, 7)) == users


@pytest.mark.feature("F20")
def test_within_a_user_the_longest_waiting_comes_first_whatever_its_kind(api: Api) -> None:
    many_may_run(api)
    queue(api, "ana", jobs=3)
    api.connection.execute("update memory.jobs set kind = 'summarize_thread' where scope = 't000002'")
    queue(api, "bob", jobs=3)
    api.connection.execute("update memory.jobs set run_after = now() - interval '1 day' where scope = 't000003'")
    jobs = api.claim_jobs(worker="test", max_jobs=6)
    for user_id in ("ana", "bob"):
        threads = [job.payload["thread_id"] for job in jobs if job.user_id == user_id]
        assert threads == ["t000003", "t000001", "t000002"]


@pytest.mark.feature("F20")
@pytest.mark.parametrize("kinds", [None, ["extract_memories", "consolidate"]], ids=str)
def test_workers_for_other_kinds_take_nobody_s_turn(api: Api, kinds: list[str] | None) -> None:
    many_may_run(api)
    for number in range(6):
        queue(api, f"user {number}", jobs=3)
    for number in range(36):
        queue(api, f"other {number}", kind="summarize_thread")
    seen = []
    for _ in range(6):
        claim(api, "summarize_thread", max_jobs=1)
        if kinds is not None:
            seen += served(api, 1, kinds=kinds)
        else:
            seen += [user for user in served(api, 6) if user.startswith("user")]
    assert len(set(seen[:6])) == 6


@pytest.mark.feature("F20")
def test_a_claim_that_fails_does_not_begin_with_the_same_user_again(api: Api) -> None:
    queue(api, "ana")
    queue(api, "bob")
    users = []
    for _ in range(2):
        with api.connection.transaction(force_rollback=True):
            users += served(api, 1)
    assert sorted(users) == ["ana", "bob"]
