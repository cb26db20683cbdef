"""A claim costs the same however many jobs wait."""

from __future__ import annotations

import pytest

from tests.queue.fair_queue.steps import queue
from tests.support.protocol import activate, make_due, nothing_to_do
from tests.support.sqlapi import Api


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
