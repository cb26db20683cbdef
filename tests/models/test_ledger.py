"""The ledger of model calls, what it shows, and the budgets it is checked against."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timezone
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.protocol import ANA, activate, age, claim, complete, lease, make_due, nothing_to_do, say
from tests.support.sqlapi import Api, refused, rolled_back

CALL = {"tokens_in": 800, "tokens_out": 50, "duration_ms": 950, "error": None, "prompt_version": 1}
HUNDRED_TOKENS = "x" * 400


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def asked(api: Api, content: str = HUNDRED_TOKENS, **where: Any) -> int:
    """Ask for an extraction of one new message; the job's id."""
    say(api, content, **where)
    thread = {key: value for key, value in {**ANA, **where}.items() if key in ANA}
    job_id: int = api.extract_memories(**thread)
    return job_id


def claimed(api: Api, **where: Any) -> Any:
    asked(api, **where)
    return claim(api, "extract_memories")


def ledger(api: Api, columns: str = "kind, model, tokens_in, tokens_out, error") -> set[Any]:
    return set(api.query(f"select {columns} from memory.model_calls"))


def entries(api: Api) -> int:
    count: int = api.value("select count(*) from memory.model_calls")
    return count


def status(api: Api, job_id: int, user_id: str = "ana") -> tuple[str, int, str | None]:
    job = api.get_job(user_id=user_id, job_id=job_id)
    return job.status, job.attempts, job.error


# Entries --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F7")
def test_each_call_of_a_job_is_a_row_with_its_price(api: Api) -> None:
    activate(api, price_per_million_input=2, price_per_million_output=8.5)
    job = claimed(api, agent_id="sales")
    failed = {**CALL, "tokens_in": None, "tokens_out": None, "error": "no reply ☕"}
    complete(api, job, calls=[failed, {**CALL, "kind": "embed", "model": "other"}], memories=[])
    columns = "user_id, job_id, kind, agent_id, model, prompt_version, tokens_in, tokens_out, duration_ms, price, error"
    made_for = ("ana", job.job_id, "extract_memories", "sales", "gpt", 1)
    assert ledger(api, columns) == {
        (*made_for, None, None, 950, None, "no reply ☕"),
        (*made_for, 800, 50, 950, Decimal("0.002025"), None),
    }


@pytest.mark.feature("F7")
@pytest.mark.parametrize(
    ("prices", "price"),
    [
        ({}, None),
        ({"price_per_million_input": 0}, 0),
        ({"price_per_million_input": 0.1}, Decimal("0.00008")),
        ({"price_per_million_output": 1000}, Decimal("0.05")),
        ({"price_per_million_input": None}, 0),
    ],
)
def test_a_call_costs_what_its_model_says(api: Api, prices: dict[str, Any], price: Decimal | None) -> None:
    activate(api, **prices)
    complete(api, claimed(api), calls=[CALL], memories=[])
    assert ledger(api, "price") == {(price,)}


@pytest.mark.feature("F7")
def test_a_price_is_that_of_the_time_of_the_call(api: Api) -> None:
    activate(api, price_per_million_input=1)
    job = claimed(api)
    complete(api, job, calls=[CALL], memories=[])
    activate(api, price_per_million_input=3)
    complete(api, claimed(api), calls=[CALL], memories=[])
    assert ledger(api, "price") == {(Decimal("0.0008"),), (Decimal("0.0024"),)}


@pytest.mark.feature("F7")
@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("complete_job", {"result": {"memories": [], "generation_time_ms": 12}}, {(None, None, 12, None)}),
        ("complete_job", {"result": {"memories": []}}, {(None, None, None, None)}),
        ("fail_job", {"error": "no reply"}, {(None, None, None, "no reply")}),
        ("release_job", {}, set()),
    ],
)
def test_without_calls_a_finished_attempt_is_one_row_and_a_released_one_none(
    api: Api, function: str, arguments: dict[str, Any], expected: set[Any]
) -> None:
    getattr(api, function)(**lease(claimed(api)), **arguments)
    assert ledger(api, "tokens_in, tokens_out, duration_ms, error") == expected


ENDINGS: dict[str, dict[str, Any]] = {
    "complete_job": {"result": {"memories": [{"content": "Likes tea", "memory_type": "fact", "seqs": [0]}]}},
    "fail_job": {"error": "no reply"},
    "release_job": {},
}


@pytest.mark.feature("F7")
@pytest.mark.parametrize("function", ENDINGS)
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_however_an_attempt_ends_its_calls_are_entered(api: Api, function: str, calls: int) -> None:
    getattr(api, function)(**lease(claimed(api)), **ENDINGS[function], calls=Jsonb([CALL] * calls))
    rows = api.query("select kind, model, tokens_in, tokens_out, error from memory.model_calls")
    assert rows == [("extract_memories", "local", 800, 50, None)] * calls


@pytest.mark.feature("F7")
def test_an_attempt_whose_lease_ran_out_is_a_row_and_its_calls_can_be_entered_late(api: Api) -> None:
    asked(api)
    lost = claim(api, worker="w1", lease="1 microsecond")
    job = claim(api, worker="w2")
    reason = 'the lease of worker "w1" ran out in attempt 1'
    expired = ("extract_memories", "local", None, None, reason)
    assert ledger(api) == {expired}
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(lost), result={"memories": []}, calls=[CALL])
    api.record_calls(user_id="ana", job_id=lost.job_id, calls=[CALL])
    assert ledger(api) == {expired, ("extract_memories", "local", 800, 50, None)}
    complete(api, job, memories=[])
    assert entries(api) == 3


@pytest.mark.feature("F7")
@pytest.mark.parametrize("function", ["delete_thread", "clear_thread"])
@pytest.mark.parametrize("lease_is_lost", [False, True])
def test_calls_are_entered_even_after_their_thread_is_gone(api: Api, function: str, lease_is_lost: bool) -> None:
    activate(api, price_per_million_input=1)
    asked(api)
    job = claim(api, lease="1 microsecond" if lease_is_lost else "5 minutes")
    if lease_is_lost:
        api.claim_jobs(worker="reaper", kinds=["embed"])
    before = entries(api)
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(job), result={"memories": []}, calls=[CALL])
    assert entries(api) == before
    api.record_calls(user_id="ana", job_id=job.job_id, calls=[{**CALL, "kind": "free", "model": "dear"}, {}])
    columns = "kind, model, agent_id, tokens_in, tokens_out, price"
    assert api.query(f"select {columns} from memory.model_calls where error is null order by 4") == [
        ("extract_memories", "gpt", "default", 800, 50, Decimal("0.0008")),
        ("extract_memories", "gpt", "default", None, None, None),
    ]


@pytest.mark.feature("F7", "A3")
def test_calls_of_a_job_that_the_user_never_had_are_refused(api: Api) -> None:
    job = claimed(api, agent_id="secret")
    never_claimed = asked(api, user_id="eve")
    for user_id, job_id in [("bob", job.job_id), ("ana", 10**9), ("ana", None), ("eve", never_claimed)]:
        with refused("job_id", "P0002"):
            api.record_calls(user_id=user_id, job_id=job_id, calls=[CALL])
    assert entries(api) == 0


@pytest.mark.feature("F7")
def test_what_is_known_of_a_deleted_job_goes_after_a_week(api: Api) -> None:
    job = claimed(api)
    api.delete_thread(**ANA)
    age(api, 6, "gone_jobs", "gone_at")
    api.sweep()
    api.record_calls(user_id="ana", job_id=job.job_id, calls=[CALL])
    age(api, 2, "gone_jobs", "gone_at")
    api.sweep()
    with refused("job_id", "P0002"):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[CALL])
    assert entries(api) == 1


# A small job: so many tokens and calls can be entered for it in all.
FEW_TOKENS, MANY_TOKENS = 200_000, 1_100_000
DEAR = {**CALL, "tokens_in": 10**9, "tokens_out": 10**9}


def tokens_entered(api: Api) -> int:
    tokens: int = api.value(
        "select coalesce(sum(tokens_in + coalesce(tokens_out, 0)), 0)::bigint from memory.model_calls"
    )
    return tokens


@pytest.mark.feature("F7", "F6")
@pytest.mark.parametrize("function", [*ENDINGS, "record_calls"])
def test_no_more_tokens_are_entered_than_a_job_can_have_taken(api: Api, function: str) -> None:
    activate(api)
    job = claimed(api)
    if function == "record_calls":
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[CALL, DEAR, CALL])
    else:
        getattr(api, function)(**lease(job), **ENDINGS[function], calls=Jsonb([CALL, DEAR, CALL]))
    assert FEW_TOKENS <= tokens_entered(api) <= FEW_TOKENS * 1.1
    last, first, dear = api.query("select tokens_in, tokens_out from memory.model_calls order by tokens_in")
    assert (first, last) == ((800, 50), (0, 0))
    assert (dear.tokens_in > 190_000, dear.tokens_out) == (True, 0)
    assert any("that were reported" in notice for notice in api.notices)


@pytest.mark.feature("F7", "F6")
@pytest.mark.parametrize("is_gone", [False, True])
def test_saying_it_again_enters_no_more(api: Api, is_gone: bool) -> None:
    job = claimed(api)
    api.connection.execute("update memory.jobs set max_attempts = 1")
    if is_gone:
        api.delete_thread(**ANA)
    for _ in range(3):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[DEAR])
    assert FEW_TOKENS <= tokens_entered(api) <= FEW_TOKENS * 1.1
    for _ in range(3):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[{}] * 200)
    assert entries(api) == 300


@pytest.mark.feature("F7", "F6")
def test_giving_a_job_back_again_and_again_does_not_raise_what_it_can_have_taken(api: Api) -> None:
    asked(api)
    for _ in range(20):
        api.release_job(**lease(claim(api)), calls=[DEAR])
        make_due(api)
    assert 5 * FEW_TOKENS <= tokens_entered(api) <= MANY_TOKENS


@pytest.mark.feature("F7")
def test_each_attempt_may_use_as_much_and_a_retried_job_as_much_again(api: Api) -> None:
    job_id = asked(api)
    for _ in range(2):
        for _ in range(5):
            api.fail_job(**lease(claim(api)), error="no reply", retry_after="0", calls=[{**CALL, "tokens_in": 190_000}])
        assert status(api, job_id)[0] == "dead"
        api.retry_job(user_id="ana", job_id=job_id)
    assert tokens_entered(api) == 10 * 190_050


@pytest.mark.feature("F7")
def test_a_job_that_was_given_more_to_read_can_have_taken_more(api: Api) -> None:
    job = claimed(api, content="x" * 60_000)
    complete(api, job, calls=[{**CALL, "tokens_in": 400_000, "tokens_out": 0}], memories=[])
    assert tokens_entered(api) == 400_000


@pytest.mark.feature("F7")
def test_long_words_in_calls_are_cut(api: Api) -> None:
    api.record_calls(user_id="ana", job_id=claimed(api).job_id, calls=[{"error": "☕" * 10_000}])
    assert ledger(api, "error") == {("☕" * 500,)}


INVALID: dict[str, Any] = {
    "an object": {},
    "a text": "call",
    "a number": 1,
    "null": None,
    "a list of texts": ["call"],
    "a list of lists": [[CALL]],
    "a null in the list": [CALL, None],
    "negative tokens": [CALL, {**CALL, "tokens_in": -1}],
    "tokens as text": [CALL, {**CALL, "tokens_out": "50"}],
    "tokens as a list": [{**CALL, "tokens_out": [50]}],
    "tokens as a truth": [{**CALL, "tokens_in": True}],
    "endless tokens": [{**CALL, "tokens_in": 10**400}],
    "a negative duration": [{**CALL, "duration_ms": -0.5}],
    "a version as text": [{**CALL, "prompt_version": "1"}],
    "too many": [CALL] * 10_001,
}


@pytest.mark.feature("F7", "F6")
@pytest.mark.parametrize("invalid", INVALID)
@pytest.mark.parametrize("function", [*ENDINGS, "record_calls"])
def test_invalid_calls_are_refused_and_nothing_is_half_applied(api: Api, function: str, invalid: str) -> None:
    job = claimed(api)
    before = api.state()
    with refused("calls"):
        if function == "record_calls":
            api.record_calls(user_id="ana", job_id=job.job_id, calls=Jsonb(INVALID[invalid]))
        else:
            getattr(api, function)(**lease(job), **ENDINGS[function], calls=Jsonb(INVALID[invalid]))
    assert api.state() == before


@pytest.mark.feature("F7")
def test_calls_that_are_left_out_of_record_calls_are_refused(api: Api) -> None:
    job = claimed(api)
    with refused("calls"):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=None)
    with refused("user_id"):
        api.record_calls(user_id="", job_id=job.job_id, calls=[CALL])


@pytest.mark.feature("F7")
def test_fractions_of_numbers_are_rounded(api: Api) -> None:
    calls = [{"tokens_in": 1.0, "tokens_out": 1.5, "duration_ms": 1e3}]
    api.record_calls(user_id="ana", job_id=claimed(api).job_id, calls=calls)
    assert ledger(api, "tokens_in, tokens_out, duration_ms") == {(1, 2, 1000)}


@pytest.mark.feature("F7", "B6")
def test_entries_outlive_their_jobs_and_are_swept_after_400_days(api: Api) -> None:
    complete(api, claimed(api), calls=[CALL], memories=[])
    api.delete_thread(**ANA)
    age(api, 399, "model_calls", "called_at")
    assert api.sweep()["model_calls"] == 0
    for _ in range(2):
        used(api, 850)
    age(api, 2, "model_calls", "called_at")
    assert (api.sweep()["model_calls"], entries(api)) == (1, 2)
    age(api, 400, "model_calls", "called_at")
    assert [api.sweep(batch_size=1)["model_calls"] for _ in range(3)] == [1, 1, 0]


# Views ----------------------------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize(("failures", "storms"), [(2, 0), (3, 1), (4, 1)])
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


def doctor(api: Api, check_name: str) -> bool:
    [ok] = [row.ok for row in api.doctor() if row.check_name == check_name]
    return bool(ok)


@pytest.mark.feature("F7")
def test_the_doctor_names_models_budgets_retries_and_token_counts(api: Api) -> None:
    details = {row.check_name: (row.ok, row.detail) for row in api.doctor()}
    assert details["chat model"] == (True, "local (provider local, model patterns)")
    assert details["embedding model"] == (True, "none: searches are by keyword")
    assert details["budgets"] == (True, "no job waits for one")
    assert details["retries"] == (True, "no job failed three times within a day")
    assert details["token counts"][1].startswith("estimated as bytes / 4 until")
    complete(api, claimed(api), memories=[])
    assert (
        "the last worker found no tiktoken encoding"
        in {row.check_name: row.detail for row in api.doctor()}["token counts"]
    )
    complete(api, claimed(api), memories=[], token_counts={"1": 7}, token_counter="o200k_base")
    assert {row.check_name: row.detail for row in api.doctor()}["token counts"].startswith("exact (o200k_base)")


# Budgets --------------------------------------------------------------------------------------------------------------


def budget(api: Api, tokens: int | None, per: str = "user", **level: str) -> None:
    api.set_policy(settings={"budget": {f"tokens_per_{per}_per_day": tokens}}, **level)


def used(api: Api, tokens: int, user_id: str = "ana", error: str | None = None) -> None:
    """Put a call of so many tokens into the ledger, half of them of the reply."""
    api.connection.execute(
        "insert into memory.model_calls (user_id, call_id, kind, model, tokens_in, tokens_out, error, called_at) "
        "values (%s, gen_random_uuid(), 'search', 'gpt', %s, %s, %s, clock_timestamp())",
        [user_id, tokens - tokens // 2, tokens // 2, error],
    )


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
@pytest.mark.parametrize(
    ("tokens", "before", "works"),
    [(None, 10**9, True), (100, 0, True), (99, 0, False), (0, 0, False), (1000, 900, True), (1000, 901, False)],
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
def test_what_was_used_yesterday_or_by_others_does_not_count(api: Api) -> None:
    activate(api)
    budget(api, 100)
    used(api, 10_000)
    age(api, 1, "model_calls", "called_at")
    used(api, 850, user_id="bob")
    used(api, 0, error="no reply")
    assert claimed(api).attempt == 1


@pytest.mark.feature("F7")
def test_what_running_jobs_will_use_counts_until_they_end(api: Api) -> None:
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
def test_what_a_job_would_have_used_is_free_again_when_it_ends_otherwise(api: Api, end: str) -> None:
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
def test_the_agent_of_a_job_is_that_of_the_newest_message_it_reads(api: Api) -> None:
    activate(api)
    budget(api, 10, per="agent", agent_id="sales")
    say(api, HUNDRED_TOKENS, agent_id="sales")
    assert claimed(api, agent_id="support").payload["messages"][0]["seq"] == 0


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


@pytest.mark.feature("F7", "D5")
def test_a_summary_that_waits_for_its_budget_is_not_in_process(api: Api) -> None:
    activate(api)
    budget(api, 5)
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0, "user_summary_every_n": 6}})
    api.talk(**ANA, rounds=3)
    api.compress_thread(**ANA)
    for number in range(2, 6):
        api.talk(user_id="ana", thread_id=f"t{number}", rounds=8)
        api.compress_thread(user_id="ana", thread_id=f"t{number}")
    assert nothing_to_do(api)
    assert api.query("select from memory.summaries") == []
    waiting = api.query("select kind, error like 'AM002%%', attempts from memory.jobs where status = 'pending'")
    assert set(waiting) == {
        ("summarize_thread", True, 0),
        ("summarize_user", True, 0),
        ("compress_thread", True, 0),
    }


@pytest.mark.feature("F7", "D5")
def test_a_summary_that_failed_and_then_waits_for_its_budget_is_not_in_process(api: Api) -> None:
    activate(api)
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}})
    api.talk(**ANA, rounds=3)
    api.fail_job(**lease(claim(api)), error="no reply", retry_after="0", calls=[CALL])
    budget(api, 100)
    assert nothing_to_do(api)
    assert api.query("select from memory.summaries") == []
    budget(api, None)
    make_due(api)
    complete(api, claim(api), summary="They talked.")
    assert api.query("select status from memory.summaries") == [("completed",)]


@pytest.mark.feature("F7", "A14")
def test_without_a_budget_left_everything_but_model_work_goes_on(api: Api) -> None:
    activate(api)
    budget(api, 0)
    asked(api, content="The boat is red")
    assert nothing_to_do(api)
    api.add_memory(user_id="ana", content="Owns a boat")
    assert [hit.content for hit in api.search(user_id="ana", query="boat")] == ["Owns a boat"]
    assert api.get_context(**ANA)[-1].content == "The boat is red"


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


@pytest.mark.feature("F7", "F6")
def test_a_job_that_waits_for_its_budget_holds_up_no_other(api: Api) -> None:
    activate(api)
    budget(api, 0, user_id="ana")
    for number in range(20):
        asked(api, thread_id=f"t{number}")
    asked(api, user_id="bob")
    assert claim(api, max_jobs=1).user_id == "bob"


@pytest.mark.feature("F7")
def test_workers_at_once_cannot_take_the_last_tokens_twice(connect: Callable[..., psycopg.Connection]) -> None:
    workers = [Api(connect()) for _ in range(6)]
    activate(workers[0])
    budget(workers[0], 450)
    for number in range(12):
        asked(workers[0], thread_id=f"t{number}")
    for _ in range(4):  # who finds the budget locked comes back later
        start = threading.Barrier(len(workers))

        def work(number: int, start: threading.Barrier = start) -> int:
            start.wait(10)
            return len(workers[number].claim_jobs(worker=f"w{number}", max_jobs=2))

        with ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(work, range(len(workers))))
        running = "select count(*) from memory.jobs where status = 'running'"
        assert workers[0].value(running) <= 4
        make_due(workers[0])
    assert workers[0].value(running) == 4
    assert workers[0].query("select distinct attempts from memory.jobs where status = 'pending'") == [(0,)]


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
