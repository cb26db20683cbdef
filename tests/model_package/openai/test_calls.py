"""Calls of models: rate limits, timeouts, and the record of each call."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import pytest
from agent_memory_models import ModelError, Models, RateLimitedError

from tests.model_package.openai.steps import chat, every_kind, needs_encodings
from tests.support.fake_model_server import (
    HANGING,
    RATE_LIMITED,
    SERVER_ERROR,
    WRONG_SCHEMA,
    Behaviour,
    FakeModelServer,
)
from tests.support.model_payloads import (
    Json,
    compression,
    embedding_job,
    extract,
    extraction,
    rolling,
    run,
    run_all,
    talk,
    user_summary,
    users,
)
from tests.support.model_rules import rows_of
from tests.support.runners import PATIENCE, wait_until


# Waiting
@pytest.mark.parametrize(
    ("kind", "headers", "low", "high"),
    [
        ("embed", {"retry_after": "7"}, 7, 7),
        ("extract_memories", {"retry_after": formatdate(time.time() + 600, usegmt=True)}, 1, 600),
        ("extract_memories", {"retry_after_ms": "1500", "retry_after": "7"}, 1.5, 1.5),
        ("extract_memories", {}, 1, 60),
        ("extract_memories", {"retry_after": "inf"}, 1, 60),
        ("extract_memories", {"retry_after": "9" * 400}, 1, 60),
        ("extract_memories", {"retry_after": "99999999"}, 86400, 86400),
    ],
)
def test_too_many_requests(fake: FakeModelServer, kind: str, headers: dict[str, str], low: float, high: float) -> None:
    fake.behaviour = Behaviour(status=429, **headers)  # type: ignore[arg-type]
    calls: list[Json] = []
    with pytest.raises(RateLimitedError) as caught:
        run(kind, every_kind(chat(fake))[kind], calls)
    assert caught.value.retry_after is not None
    assert low <= caught.value.retry_after <= high
    assert len(fake.requests) == len(calls) == 1


def test_an_exhausted_quota_is_no_reason_to_wait(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(status=429, body='{"error": {"message": "pay first", "code": "insufficient_quota"}}')
    with pytest.raises(ModelError, match=r"^the server answered 429 \(insufficient_quota\)$") as caught:
        extract(users("I enjoy jazz."), chat(fake))
    assert not isinstance(caught.value, RateLimitedError)


def test_a_rate_limit_of_one_job_leaves_the_others_alone(fake: FakeModelServer) -> None:
    fake.next_behaviours = [RATE_LIMITED]

    async def run() -> list[Any]:
        async with Models() as models:
            jobs = (models.run("extract_memories", extraction(users(str(n)), chat(fake)), []) for n in range(4))
            return list(await asyncio.gather(*jobs, return_exceptions=True))

    outcomes = asyncio.run(run())
    assert sum(isinstance(outcome, RateLimitedError) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, dict) for outcome in outcomes) == 3


@pytest.mark.parametrize(("kind", "behaviour"), [("extract_memories", Behaviour(drip_seconds=0.1)), ("embed", HANGING)])
def test_a_call_ends_at_its_timeout(fake: FakeModelServer, kind: str, behaviour: Behaviour) -> None:
    fake.behaviour = behaviour
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"no answer from the model within 0\.5 s"):
        run(kind, every_kind(chat(fake, timeout_seconds=0.5))[kind])
    assert time.monotonic() - started < 25  # the whole reply would take more than 30 s


def test_calls_run_together_unless_the_model_limits_them(fake: FakeModelServer) -> None:
    def spread(gate: threading.Event | None = None, **settings: Any) -> float:
        fake.behaviour = Behaviour(delay_seconds=0.5, gate=gate)
        fake.requests.clear()
        payloads = [extraction(users(f"{number}."), chat(fake, **settings)) for number in range(3)]
        results = run_all("extract_memories", *payloads)
        assert all(500 <= result["generation_time_ms"] < PATIENCE * 1000 for result in results)
        return fake.requests[-1].at - fake.requests[0].at

    gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        together = pool.submit(spread, gate)
        wait_until(lambda: len(fake.requests) == 3)  # none of which has a reply
        gate.set()
        together.result(PATIENCE)
    assert spread(max_concurrency=1) >= 1.0


def test_an_unreachable_server_is_named() -> None:
    model = {"name": "m", "provider": "openai", "model": "m", "settings": {"base_url": "http://127.0.0.1:1/v1"}}
    with pytest.raises(ModelError, match=r"no reply from 127\.0\.0\.1: .*connect"):
        extract(users("I enjoy jazz."), model)


# The record of calls
@pytest.mark.feature("F7")
def test_every_call_is_entered_with_what_it_took(fake: FakeModelServer) -> None:
    for kind, payload in every_kind(chat(fake)).items():
        before = fake.tokens_in, fake.tokens_out
        calls: list[Json] = []
        run(kind, payload, calls)
        [call] = calls
        assert (before[0] + call["tokens_in"], before[1] + call["tokens_out"]) == (fake.tokens_in, fake.tokens_out)
        assert (call["kind"], call["model"], call["error"]) == (kind, "chat", None)
        assert call["prompt_version"] == (None if kind == "embed" else 3)
        assert 0 <= call["duration_ms"] < PATIENCE * 1000
        json.dumps(calls)


@pytest.mark.feature("F7")
def test_an_unusable_reply_is_paid_all_the_same(fake: FakeModelServer) -> None:
    fake.behaviour = WRONG_SCHEMA
    calls: list[Json] = []
    with pytest.raises(ModelError):
        run("extract_memories", extraction(users("a"), chat(fake)), calls)
    assert (calls[0]["tokens_in"], calls[0]["tokens_out"]) == (fake.tokens_in, fake.tokens_out)


@pytest.mark.feature("F7")
def test_a_cancelled_call_is_entered(fake: FakeModelServer) -> None:
    fake.behaviour = HANGING
    calls: list[Json] = []

    async def cancel() -> None:
        async with Models() as models:
            job = asyncio.create_task(models.run("extract_memories", extraction(users("a"), chat(fake)), calls))
            while not fake.requests:
                await asyncio.sleep(0.01)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job

    asyncio.run(cancel())
    assert [(call["error"], call["tokens_in"]) for call in calls] == [("cancelled", None)]


@pytest.mark.feature("F7")
def test_a_failed_call_took_no_tokens_that_are_known(fake: FakeModelServer) -> None:
    fake.next_behaviours = [Behaviour(), SERVER_ERROR]
    calls: list[Json] = []
    with pytest.raises(ModelError):
        run("embed", embedding_job("a", "b", model=chat(fake, batch_size=1)), calls)
    assert [(call["tokens_in"], call["tokens_out"], bool(call["error"])) for call in calls] == [
        (2, 0, False),
        (None, None, True),
    ]


@pytest.mark.feature("F7")
@pytest.mark.parametrize("usage", [None, {"prompt_tokens": "many"}, {"prompt_tokens": 10**12}])
def test_without_usage_tokens_are_estimated(fake: FakeModelServer, usage: Json | None) -> None:
    fake.behaviour = Behaviour(has_usage=False, body=lambda body: json.dumps({**json.loads(body), "usage": usage}))
    calls: list[Json] = []
    run("extract_memories", extraction(users("I enjoy jazz."), chat(fake)), calls)
    sent = [message["content"] for message in fake.requests[0].body["messages"]]
    assert calls[0]["tokens_in"] == sum((len(text.encode()) + 3) // 4 for text in sent)
    assert calls[0]["tokens_out"] > 10


@pytest.mark.feature("F7")
@needs_encodings
def test_without_usage_tokens_are_counted_where_possible(fake: FakeModelServer) -> None:
    import tiktoken

    fake.behaviour = Behaviour(has_usage=False)
    calls: list[Json] = []
    run("extract_memories", extraction(users("I enjoy jazz."), chat(fake)), calls)
    run("embed", embedding_job("I enjoy jazz.", model=chat(fake)), calls)
    encoding = tiktoken.get_encoding("o200k_base")
    sent = [message["content"] for message in fake.requests[0].body["messages"]]
    assert calls[0]["tokens_in"] == sum(len(encoding.encode(text)) for text in sent)
    assert calls[1]["tokens_in"] == len(encoding.encode("I enjoy jazz."))


@pytest.mark.feature("D7", "E5")
@pytest.mark.parametrize("kind", ["summarize_thread", "compress_thread", "summarize_user"])
def test_an_incremental_prompt_grows_with_what_is_new_and_not_with_the_thread(fake: FakeModelServer, kind: str) -> None:
    fixed = {
        "summarize_thread": '{"points": [{"seqs": [%d], "text": "All as before."}]}',
        "compress_thread": '{"summary": "All as before.", "topics": ["tea"]}',
        "summarize_user": '{"summary": "All as before.", "topics": ["tea"]}',
    }[kind]
    model = chat(fake)
    calls: list[Json] = []
    previous: Any = None
    for first in range(0, 60, 6):
        fake.behaviour = Behaviour(answer=fixed % (first + 5) if "%d" in fixed else fixed)
        payload = {
            "summarize_thread": rolling(talk(first), max(0, first - 8), previous and previous["summary"], model),
            "compress_thread": compression(talk(first), previous, model),
            "summarize_user": user_summary(talk(first), previous and previous["summary"], model),
        }[kind]
        previous = run(kind, payload, calls)
        sent = fake.requests[-1].user
        assert [row["seq"] for row in rows_of(sent, "conversation")] == list(range(first, first + 6))
    tokens = [call["tokens_in"] for call in calls]
    assert max(tokens[1:]) - min(tokens[1:]) <= 3  # longer numbers
