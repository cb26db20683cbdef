"""The ledger of model calls: which calls are entered, at which price, and which are refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.models.steps import CALL, ENDINGS, asked, claimed, entries, ledger, status, used
from tests.support.protocol import ANA, activate, age, claim, complete, lease
from tests.support.sqlapi import Api, refused


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
        ({"price_per_million_input": 0.1}, Decimal("0.00008")),
        ({"price_per_million_input": None}, 0),
    ],
)
def test_a_call_costs_what_its_model_says(api: Api, prices: dict[str, Any], price: Decimal | None) -> None:
    activate(api, **prices)
    complete(api, claimed(api), calls=[CALL], memories=[])
    assert ledger(api, "price") == {(price,)}


@pytest.mark.feature("F7")
@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("complete_job", {"result": {"memories": [], "generation_time_ms": 12}}, {(None, None, 12, None)}),
        ("fail_job", {"error": "no reply"}, {(None, None, None, "no reply")}),
        ("release_job", {}, set()),
    ],
)
def test_without_calls_a_finished_attempt_is_one_row_and_a_released_one_none(
    api: Api, function: str, arguments: dict[str, Any], expected: set[Any]
) -> None:
    getattr(api, function)(**lease(claimed(api)), **arguments)
    assert ledger(api, "tokens_in, tokens_out, duration_ms, error") == expected


@pytest.mark.feature("F7")
@pytest.mark.parametrize(("function", "calls"), list(zip(ENDINGS, (0, 1, 3), strict=True)))
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
@pytest.mark.parametrize(("function", "lease_is_lost"), [("delete_thread", False), ("clear_thread", True)])
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
def test_the_record_of_a_deleted_job_goes_after_a_week(api: Api) -> None:
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
@pytest.mark.parametrize("function", ["complete_job", "record_calls"])
def test_no_more_tokens_are_entered_than_a_job_can_have_taken(api: Api, function: str) -> None:
    activate(api)
    job = claimed(api)
    if function == "record_calls":
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[CALL, DEAR, CALL])
    else:
        getattr(api, function)(**lease(job), **ENDINGS[function], calls=Jsonb([CALL, DEAR, CALL]))
    assert FEW_TOKENS <= tokens_entered(api) <= FEW_TOKENS * 1.2
    last, first, dear = api.query("select tokens_in, tokens_out from memory.model_calls order by tokens_in")
    assert (first, last) == ((800, 50), (0, 0))
    assert (dear.tokens_in > 190_000, dear.tokens_out) == (True, 0)
    [warning] = [
        notice for notice in api.notices if notice.startswith(f"job {job.job_id}: the worker reported 3 calls")
    ]
    assert "more than the job can have made; 3 calls with " in warning


@pytest.mark.feature("F7", "F6")
@pytest.mark.parametrize("is_gone", [False, True])
def test_reporting_the_same_calls_again_enters_no_more(api: Api, is_gone: bool) -> None:
    job = claimed(api)
    api.connection.execute("update memory.jobs set max_attempts = 1")
    if is_gone:
        api.delete_thread(**ANA)
    for _ in range(3):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[DEAR])
    assert FEW_TOKENS <= tokens_entered(api) <= FEW_TOKENS * 1.2
    for _ in range(3):
        api.record_calls(user_id="ana", job_id=job.job_id, calls=[{}] * 200)
    assert entries(api) == 300


@pytest.mark.feature("F7")
def test_each_attempt_may_use_as_much_and_a_retried_job_as_much_again(api: Api) -> None:
    job_id = asked(api)
    for _ in range(2):
        for _ in range(5):
            api.fail_job(**lease(claim(api)), error="no reply", retry_after="0", calls=[{**CALL, "tokens_in": 190_000}])
        assert status(api, job_id)[0] == "dead"
        api.retry_job(user_id="ana", job_id=job_id)
    assert tokens_entered(api) == 10 * 190_050


INVALID: list[Any] = [
    {},
    None,
    ["call"],
    [CALL, None],
    [CALL, {**CALL, "tokens_in": -1}],
    [CALL, {**CALL, "tokens_out": "50"}],
    [{**CALL, "tokens_in": 10**400}],
    [{**CALL, "duration_ms": -0.5}],
    [{**CALL, "prompt_version": "1"}],
    [CALL] * 10_001,
]


@pytest.mark.feature("F7", "F6")
def test_invalid_calls_are_refused_and_nothing_is_half_applied(api: Api) -> None:
    job = claimed(api)
    before = api.state()
    for invalid in INVALID:
        with refused("calls"):
            api.record_calls(user_id="ana", job_id=job.job_id, calls=Jsonb(invalid))
    for function, arguments in ENDINGS.items():
        with refused("calls"):
            getattr(api, function)(**lease(job), **arguments, calls=Jsonb([CALL, {**CALL, "tokens_in": -1}]))
    assert api.state() == before


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
