"""Budgets of model work: which calls count, which jobs wait, and until when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timezone
from typing import Any

import pytest

from tests.models.steps import CALL, ENDINGS, asked, claimed, doctor, entries, ledger, status, used
from tests.support.protocol import activate, age, claim, complete, lease, make_due, nothing_to_do, say
from tests.support.sqlapi import Api


def budget(api: Api, tokens: int | None, per: str = "user", **level: str) -> None:
    api.set_policy(settings={"budget": {f"tokens_per_{per}_per_day": tokens}}, **level)


@pytest.mark.feature("F7")
def test_a_job_over_the_budget_waits_for_the_next_day_and_loses_nothing(api: Api) -> None:
    activate(api)
    budget(api, 99)
    job_id = asked(api)
    assert nothing_to_do(api)
    state, attempts, error = status(api, job_id)
    assert (state, attempts) == ("pending", 0)
    assert error == "AM002: budget.tokens_per_user_per_day: 0 of 99 tokens are used, this call needs at least 100"
    run_after = api.value("select run_after from memory.jobs")
    midnight = api.value("select date_trunc('day', now(), 'UTC') + interval '1 day'")
    assert (run_after, run_after.astimezone(timezone.utc).hour) == (midnight, 0)
    assert (entries(api), api.value("select extracted_seq from memory.thread_stats")) == (0, -1)
    assert not doctor(api, "budgets")


@pytest.mark.feature("F7")
def test_the_next_day_begins_at_midnight_utc_where_clocks_change(api: Api) -> None:
    api.connection.execute("set timezone = 'Europe/Berlin'")
    begins = api.value("select memory._beginning_of(memory._day_of(timestamptz '2026-03-29 05:00+00') + 1)")
    assert begins.astimezone(timezone.utc).isoformat() == "2026-03-30T00:00:00+00:00"


@pytest.mark.feature("F7")
@pytest.mark.parametrize(
    ("tokens", "before", "works"),
    [(None, 10**9, True), (0, 0, False), (1000, 900, True), (1000, 901, False)],
)
def test_the_budget_counts_what_was_used_today_and_what_the_call_needs(
    api: Api, tokens: int | None, before: int, works: bool
) -> None:
    activate(api)
    budget(api, tokens)
    used(api, before)
    asked(api)
    assert nothing_to_do(api) is not works


@pytest.mark.feature("F7")
def test_tokens_used_yesterday_or_by_others_do_not_count(api: Api) -> None:
    activate(api)
    budget(api, 100)
    used(api, 10_000)
    age(api, 1, "model_calls", "called_at")
    used(api, 850, user_id="bob")
    used(api, 0, error="no reply")
    assert claimed(api).attempt == 1


@pytest.mark.feature("F7")
def test_tokens_that_running_jobs_will_use_count_until_the_jobs_end(api: Api) -> None:
    activate(api)
    budget(api, 250)
    waiting = {asked(api, thread_id=f"t{number}") for number in range(3)}
    jobs = api.claim_jobs(worker="test", max_jobs=10)
    assert len(jobs) == 2
    [third] = waiting - {job.job_id for job in jobs}
    assert "200 of 250 tokens are used" in (status(api, third)[2] or "")
    complete(api, jobs[0], calls=[{**CALL, "tokens_in": 40, "tokens_out": 10}], memories=[])
    make_due(api)
    assert claim(api).job_id == third


@pytest.mark.feature("F7")
@pytest.mark.parametrize("end", ["fail_job", "release_job", "lease"])
def test_the_tokens_reserved_for_a_job_are_free_again_when_the_job_ends_otherwise(api: Api, end: str) -> None:
    activate(api)
    budget(api, 100)
    asked(api, thread_id="t1")
    if end == "lease":
        claim(api, lease="1 microsecond")
        api.claim_jobs(worker="reaper", kinds=["embed"])
    else:
        getattr(api, end)(**lease(claim(api)), **ENDINGS[end])
    api.connection.execute("delete from memory.jobs")
    asked(api, thread_id="t2")
    assert claim(api).payload["thread_id"] == "t2"


@pytest.mark.feature("F7")
def test_a_budget_per_agent_counts_all_users_and_no_other_agent(api: Api) -> None:
    activate(api)
    budget(api, 150, per="agent", agent_id="sales")
    complete(api, claimed(api, agent_id="sales"), calls=[{**CALL, "tokens_in": 100, "tokens_out": 0}], memories=[])
    waiting = asked(api, user_id="bob", agent_id="sales")
    assert nothing_to_do(api)
    assert (status(api, waiting, "bob")[2] or "").startswith("AM002: budget.tokens_per_agent_per_day: 100 of 150")
    assert claimed(api, agent_id="support", thread_id="t2").attempt == 1


@pytest.mark.feature("F7")
def test_raising_the_budget_and_retrying_ends_the_wait(api: Api) -> None:
    activate(api)
    budget(api, 50)
    job_id = asked(api)
    assert nothing_to_do(api)
    budget(api, 100)
    assert nothing_to_do(api)
    api.retry_job(user_id="ana", job_id=job_id)
    job = claim(api)
    assert (job.job_id, job.attempt) == (job_id, 1)
    complete(api, job, memories=[])
    assert (status(api, job_id), doctor(api, "budgets")) == (("completed", 1, None), True)


@pytest.mark.feature("F7")
def test_local_models_are_free(api: Api) -> None:
    budget(api, 0)
    budget(api, 0, per="agent")
    complete(api, claimed(api), calls=[{**CALL, "tokens_in": 0, "tokens_out": 0}], memories=[])
    assert ledger(api, "model, price") == {("local", None)}


@pytest.mark.feature("F7")
@pytest.mark.parametrize(
    "ask",
    [
        lambda api: api.reconcile_memories(user_id="ana"),
        lambda api: api.consolidate(user_id="ana"),
        lambda api: api.summarize_user(user_id="ana"),
        lambda api: activate(api, "ada", "embedding"),
    ],
    ids=["reconcile", "consolidate", "summarize_user", "embed"],
)
def test_every_kind_of_model_work_is_paid_from_the_budget(api: Api, ask: Callable[[Api], Any]) -> None:
    activate(api)
    budget(api, 5)
    say(api, "Hello " * 20)
    for number in range(10):
        api.add_memory(user_id="ana", content=f"Memory {number}", memory_type=("context", "fact")[number % 2])
    age(api, 8)
    ask(api)
    assert nothing_to_do(api)
    errors = api.query("select distinct left(error, 5) from memory.jobs where status = 'pending'")
    assert errors == [("AM002",)]


@pytest.mark.usefixtures("db")
@pytest.mark.feature("F7")
def test_a_ledger_of_many_calls_is_not_read_whole_for_a_budget(api: Api) -> None:
    activate(api)
    budget(api, 10**9)
    api.connection.execute(
        "insert into memory.model_calls (user_id, call_id, kind, model, tokens_in, called_at) "
        "select 'ana', gen_random_uuid(), 'embed', 'gpt', 1, now() - n * interval '1 hour' "
        "from generate_series(25, 5000) as n"
    )
    api.connection.execute("analyze memory.model_calls")
    asked(api)
    assert api.entries_read(lambda: claim(api)) < 2000  # the index entries of other tests' calls included
