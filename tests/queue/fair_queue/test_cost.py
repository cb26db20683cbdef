"""A claim costs the same however many jobs wait."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queue.fair_queue.steps import many_may_run, queue
from tests.support.protocol import activate, claim, make_due, nothing_to_do
from tests.support.sqlapi import Api


def cost(api: Api, **arguments: Any) -> int:
    """Rows and index entries that a claim of one job reads, the planner's own look-ups done."""
    api.connection.execute("vacuum analyze memory.jobs")
    return min(api.entries_read(lambda: claim(api, max_jobs=1, **arguments)) for _ in range(3))


@pytest.mark.usefixtures("db")
@pytest.mark.feature("F20")
def test_a_claim_costs_the_same_however_many_wait(api: Api) -> None:
    many_may_run(api)
    queue(api, "ana", jobs=5)
    few = cost(api)
    queue(api, "bob", jobs=3000)
    api.connection.execute(
        "insert into memory.jobs (user_id, kind, scope) "
        "select 'user ' || n, 'extract_memories', 't' from generate_series(1, 3000) as n"
    )
    api.connection.execute(
        "insert into memory.messages (user_id, thread_id, role, content) "
        "select 'user ' || n, 't', 'user', 'Hello' from generate_series(1, 3000) as n"
    )
    assert cost(api) < few + 100
    # Nor do those of other kinds count, or those whose time has not come.
    queue(api, "ana", kind="summarize_thread")
    api.connection.execute(
        "update memory.jobs set run_after = now() + interval '1 day', is_delayed = true "
        "where status = 'pending' and user_id like 'user %' and job_id % 2 = 0"
    )
    assert cost(api) < few + 100
    api.connection.execute("vacuum analyze memory.jobs")
    assert api.entries_read(lambda: claim(api, "summarize_thread", max_jobs=1)) < few + 100
    assert api.entries_read(lambda: nothing_to_do(api, "consolidate")) < few + 100


@pytest.mark.usefixtures("db")
@pytest.mark.feature("F20", "F7")
def test_jobs_that_wait_for_a_budget_are_not_read_by_each_claim(api: Api) -> None:
    activate(api)
    api.set_policy(settings={"budget": {"tokens_per_user_per_day": 0}})
    queue(api, "ana", jobs=300)
    while api.query("select from memory.jobs where run_after < now() limit 1"):
        assert nothing_to_do(api)
    api.connection.execute("vacuum analyze memory.jobs")
    assert api.entries_read(lambda: nothing_to_do(api)) < 50
    api.set_policy(settings={"budget": {"tokens_per_user_per_day": None}})
    make_due(api)  # as at midnight
    assert len(api.claim_jobs(worker="test", max_jobs=4)) == 4
