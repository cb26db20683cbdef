"""The in-database runner, ``call memory.run_jobs()``: which jobs it does, its limits, and how it is stopped."""

from __future__ import annotations

import psycopg
import pytest

from tests.server.steps import CALL, JOBS, may_run, queue, stored, use
from tests.support.fake_model_server import GATEWAY_TIMEOUT, RATE_LIMITED, Behaviour, FakeModelServer
from tests.support.sqlapi import Api
from tests.support.summaries import each_round


@pytest.mark.feature("F6", "E15")
def test_local_jobs_are_done_without_any_package(api: Api) -> None:
    each_round(api)
    api.talk("ana", "t", rounds=3)
    queue(api, 12)
    api.connection.execute(CALL)
    jobs = api.query(JOBS)
    assert {row.status for row in jobs} == {"completed"}
    assert stored(api) == {f"I enjoy {number} kinds of tea." for number in range(12)}
    [summary] = api.get_thread_summary(user_id="ana", thread_id="t")
    assert summary.summary.startswith("Extractive summary of messages 0 to 5")
    assert api.notices[-1] == f"jobs: {len(jobs)} completed"
    api.connection.execute(
        "do $$ import sys; assert not {'openai', 'pydantic'} & set(sys.modules) $$ language plpython3u"
    )


@pytest.mark.feature("F20")
def test_a_run_does_not_end_while_its_own_jobs_keep_others_of_their_user_back(api: Api) -> None:
    may_run(api, 2)
    queue(api, 7)
    api.connection.execute(CALL)
    assert {row.status for row in api.query(JOBS)} == {"completed"}


def test_it_stops_at_max_jobs(api: Api) -> None:
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_jobs => 11)")
    assert [row.status for row in api.query(JOBS)].count("completed") == 11


def test_it_claims_nothing_more_after_max_seconds(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=1.1)
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_seconds => 1)")
    # Ten run at the same time; on a busy machine a claim may have found fewer before the second was over.
    assert 0 < [row.status for row in api.query(JOBS)].count("completed") <= 10


def test_bad_limits_are_refused(api: Api) -> None:
    for argument, value, problem in (("max_jobs", "null", "must not be null"), ("max_seconds", "0", "0 is not")):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match=f"^{argument}: {problem}") as raised:
            api.connection.execute(f"call memory.run_jobs({argument} => {value})")
        assert raised.value.diag.message_hint


def test_within_a_transaction_it_claims_nothing(api: Api) -> None:
    queue(api, 1)
    with pytest.raises(psycopg.errors.InvalidTransactionTermination) as raised, api.connection.transaction():
        api.connection.execute(CALL)
    assert raised.value.diag.message_primary == "memory.run_jobs(): it cannot run inside a transaction or a function"
    assert "autocommit" in (raised.value.diag.message_hint or "")
    assert api.query(JOBS) == [("pending", 0, None)]


@pytest.mark.feature("F6")
def test_failures_and_rate_limits_are_reported(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.next_behaviours = [GATEWAY_TIMEOUT, RATE_LIMITED]
    queue(api, 3)
    api.connection.execute(CALL)
    assert sorted((row.status, row.attempts, bool(row.error)) for row in api.query(JOBS)) == [
        ("completed", 1, False),
        ("pending", 0, False),
        ("pending", 1, True),
    ]
    [error] = [row.error for row in api.query(JOBS) if row.error]
    assert api.notices[-1] == f"jobs: 1 completed, 1 failed, 1 released; last error: {error[:200]}"
    later = "select extract(epoch from run_after - created_at)::float8 from memory.jobs where status = 'pending'"
    assert all(row[0] >= 7 for row in api.query(later))
