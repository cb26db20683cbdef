"""Views of the ledger: usage, jobs that fail again and again, and what the doctor says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.models.steps import CALL, asked, claimed, doctor
from tests.support.protocol import activate, age, claim, complete, lease
from tests.support.sqlapi import Api


@pytest.mark.feature("F7")
def test_usage_is_shown_by_day_model_user_agent_and_kind(api: Api) -> None:
    activate(api, price_per_million_input=10)
    for where in ({"agent_id": "sales"}, {"agent_id": "sales"}, {"agent_id": "support"}, {"user_id": "bob"}):
        complete(api, claimed(api, **where), calls=[CALL, {**CALL, "duration_ms": 50, "error": "x"}], memories=[])
    age(api, 1, "model_calls", "called_at")
    complete(api, claimed(api, agent_id="sales"), calls=[CALL], memories=[])
    columns = "user_id, agent_id, calls, failed_calls, tokens_in, tokens_out, price, avg_ms, max_ms"
    usage = api.query(f"select {columns} from memory.model_usage order by day, user_id, agent_id")
    price = Decimal("0.008")
    assert usage == [
        ("ana", "sales", 4, 2, 3200, 200, 4 * price, 500, 950),
        ("ana", "support", 2, 1, 1600, 100, 2 * price, 500, 950),
        ("bob", "default", 2, 1, 1600, 100, 2 * price, 500, 950),
        ("ana", "sales", 1, 0, 800, 50, price, 950, 950),
    ]
    today = api.value("select (now() at time zone 'UTC')::date")
    assert api.value("select max(day) from memory.model_usage") == today
    assert api.query("select distinct model, kind from memory.model_usage") == [("gpt", "extract_memories")]


@pytest.mark.feature("F7")
@pytest.mark.parametrize(("failures", "storms"), [(2, 0), (3, 1)])
def test_a_job_that_fails_three_times_within_a_day_is_a_storm(api: Api, failures: int, storms: int) -> None:
    job_id = asked(api)
    for number in range(failures):
        job = claim(api)
        api.fail_job(**lease(job), error="x", retry_after="0", calls=[{**CALL, "error": f"failure {number}"}])
    rows = api.query("select job_id, kind, model, failed_calls, tokens_wasted, last_error from memory.retry_storms")
    expected = (job_id, "extract_memories", "local", failures, failures * 850, f"failure {failures - 1}")
    assert rows == [expected] * storms
    assert doctor(api, "retries") == (storms == 0)
    age(api, 1, "model_calls", "called_at")
    assert api.query("select from memory.retry_storms") == []
