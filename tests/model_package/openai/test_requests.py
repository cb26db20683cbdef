"""What a request to a model has beside its messages: bounds, options that some refuse, and words for embedders."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from agent_memory_models import ModelError, Models, RateLimitedError
from agent_memory_models.providers.known import input_type_of, places_of, prefix_of, provider_of, timeout_of

from tests.model_package.openai.steps import CHAT_KINDS, chat, every_kind
from tests.support.fake_model_server import HANGING, Behaviour, FakeModelServer
from tests.support.model_payloads import Json, embedding_job, extraction, run, users

pytestmark = pytest.mark.feature("A14")
LIMITS = {
    "extract_memories": 2000,  # a quarter of the window of 8,000 tokens
    "summarize_thread": 2000,
    "compress_thread": 2000,
    "summarize_user": 2000,
    "reconcile_memories": 2000,
    "consolidate": 2000,
}


def refusal(name: str) -> Behaviour:
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return Behaviour(status=400, body=json.dumps({"error": {"message": message, "param": name}}))


def run_twice(kind: str, payload: Json) -> None:
    async def work() -> None:
        async with Models() as models:
            for _ in range(2):
                await models.run(kind, json.loads(json.dumps(payload)), [])

    asyncio.run(work())


@pytest.mark.parametrize("kind", CHAT_KINDS)
def test_every_reply_has_a_limit(fake: FakeModelServer, kind: str) -> None:
    run(kind, every_kind(chat(fake))[kind])
    run(kind, every_kind(chat(fake, max_output_tokens=700))[kind])
    run(kind, every_kind(chat(fake, max_output_tokens=10**6, context_tokens=6000))[kind])
    assert [request.body["max_tokens"] for request in fake.requests] == [LIMITS[kind], 700, 3000]


def test_a_model_that_thinks_has_room_for_it(fake: FakeModelServer) -> None:
    run("extract_memories", extraction(users("a"), {**chat(fake, context_tokens=32000), "model": "qwen3:8b"}))
    assert fake.requests[0].body["max_tokens"] == 12000


def test_a_reply_that_was_cut_off_in_its_thoughts_gets_more_room(fake: FakeModelServer) -> None:
    fake.next_behaviours = [Behaviour(answer="<think>Hm, let me see", finish_reason="length")]
    run("extract_memories", extraction(users("I like tea."), chat(fake, context_tokens=32000)))
    assert [request.body["max_tokens"] for request in fake.requests] == [4000, 12000]


def test_the_temperature_is_0_unless_a_setting_says_otherwise(fake: FakeModelServer) -> None:
    run("extract_memories", extraction(users("a"), chat(fake)))
    run("extract_memories", extraction(users("a"), chat(fake, temperature=0.7)))
    assert [request.body["temperature"] for request in fake.requests] == [0, 0.7]


@pytest.mark.parametrize(
    ("refused", "instead"), [("temperature", ["max_tokens"]), ("max_tokens", ["max_completion_tokens", "temperature"])]
)
def test_what_a_server_refuses_is_left_out_from_then_on(
    fake: FakeModelServer, refused: str, instead: list[str]
) -> None:
    fake.behaviour = lambda request: refusal(refused) if refused in request.body else Behaviour()
    run_twice("extract_memories", extraction(users("a"), chat(fake)))
    assert [refused in request.body for request in fake.requests] == [True, False, False]
    assert all(name in request.body for request in fake.requests[1:] for name in instead)


def test_further_members_of_a_request_are_a_setting(fake: FakeModelServer) -> None:
    request = {"seed": 7, "keep_alive": "30m", "temperature": 0.4}
    run("extract_memories", extraction(users("a"), chat(fake, request=request)))
    run("embed", embedding_job("a", model=chat(fake, request={"user": "x"})))
    assert request.items() <= fake.requests[0].body.items()
    assert fake.requests[1].body["user"] == "x"


@pytest.mark.parametrize(("name", "kept"), [("gpt-4.1-2025-04-14", True), ("I am allergic to nuts", False)])
def test_the_model_that_replied_is_entered(fake: FakeModelServer, name: str, kept: bool) -> None:
    fake.behaviour = Behaviour(body=lambda body: json.dumps({**json.loads(body), "model": name}))
    calls: list[Json] = []
    run("extract_memories", extraction(users("a"), chat(fake)), calls)
    assert calls[0].get("reply_model") == (name if kept else None)


# Servers


@pytest.mark.parametrize(
    ("provider", "base_url", "known"),
    [
        ("openai", None, True),
        ("openai", "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1", True),
        ("openai", "http://localhost:11434/v1", False),
        ("openai", "https://api.openai.com.evil.example/v1", False),
    ],
)
def test_a_provider_is_known_by_its_address(provider: str, base_url: str | None, known: bool) -> None:
    model = {"name": "m", "provider": provider, "model": "m", "settings": {"base_url": base_url}}
    assert (provider_of(model) is not None) is known
    assert timeout_of(model) == (60 if known else 300)
    assert places_of({"model": model, "prompt": {"name": "x"}}) == (None if known else 1)
    assert places_of({"model": model, "prompt": None}) is None  # embedding takes no time


@pytest.mark.parametrize("kind", ["extract_memories", "embed"])
def test_while_a_server_is_out_of_reach_nothing_is_asked_of_it(
    fake: FakeModelServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("agent_memory_models.providers.openai.client.time.monotonic", lambda: clock[0])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    payload = every_kind(chat(fake, base_url=away, context_tokens=8000))[kind]
    calls: list[Json] = []

    async def work() -> list[Any]:
        pauses: list[Any] = []
        async with Models() as models:
            for _ in range(8):
                with pytest.raises(RateLimitedError) as first:
                    await models.run(kind, payload, calls)
                entered = len(calls)
                with pytest.raises(RateLimitedError, match="was out of reach a moment ago"):
                    await models.run(kind, payload, calls)
                assert len(calls) == entered  # no call, and no line in the ledger
                pauses.append(first.value.retry_after)
                clock[0] += pauses[-1] + 1
            payload["model"]["settings"]["base_url"] = fake.url
            await models.run(kind, payload, calls)
        return pauses

    assert asyncio.run(work()) == pytest.approx([15, 30, 60, 120, 240, 300, 300, 300])


@pytest.mark.parametrize("status", [503])
def test_a_server_that_is_starting_is_waited_for(fake: FakeModelServer, status: int) -> None:
    fake.behaviour = Behaviour(status=status)
    with pytest.raises(RateLimitedError, match=f"the server answered {status}") as caught:
        run("extract_memories", extraction(users("a"), chat(fake)))
    assert caught.value.retry_after == pytest.approx(15, abs=1)


def test_an_embedding_that_takes_too_long_is_entered_with_its_tokens(fake: FakeModelServer) -> None:
    fake.behaviour = HANGING
    calls: list[Json] = []
    with pytest.raises(ModelError):
        run("embed", embedding_job("twelve bytes", model=chat(fake, timeout_seconds=0.3)), calls)
    assert calls[0]["tokens_in"] == 3


# Embedders that differ for queries and texts

INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
SENTENCE = "Represent this sentence for searching relevant passages: "


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("model", "query", "text"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", INSTRUCT, ""),
        ("BAAI/bge-small-en-v1.5", SENTENCE, ""),
        ("BAAI/bge-m3", "", ""),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", INSTRUCT, ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("gemini-embedding-2", "task: search result | query: ", "title: none | text: "),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_known_models_get_what_their_cards_want(fake: FakeModelServer, model: str, query: str, text: str) -> None:
    named = {**chat(fake), "model": model}
    run("embed", embedding_job("tea", model=named))
    run("embed", {**embedding_job("tea", model=named), "is_query": True})
    assert [request.body["input"] for request in fake.requests] == [[f"{text}tea"], [f"{query}tea"]]


@pytest.mark.feature("E6")
def test_settings_go_before_what_is_known() -> None:
    model = {
        "name": "m",
        "provider": "openai",
        "model": "e5-base",
        "settings": {"text_prefix": "", "query_prefix": "q "},
    }
    assert (prefix_of(model, False), prefix_of(model, True)) == ("", "q ")


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        ("embed-multilingual-v3.0", {}, ["search_document", "search_query"]),
        ("voyage-3.5", {}, ["document", "query"]),
        ("own", {"input_type": {"query": "question"}}, [None, "question"]),
        ("text-embedding-3-small", {}, [None, None]),
    ],
)
def test_servers_that_want_to_know_are_told_what_a_text_is(
    fake: FakeModelServer, model: str, settings: Json, words: list[str | None]
) -> None:
    named = {**chat(fake, **settings), "model": model}
    run("embed", embedding_job("tea", model=named))
    run("embed", {**embedding_job("tea", model=named), "is_query": True})
    assert [request.body.get("input_type") for request in fake.requests] == words


@pytest.mark.feature("E6")
def test_a_provider_without_input_types_is_told_of_none() -> None:
    """As Cohere says of the API that speaks this protocol."""
    settings = {"base_url": "https://api.cohere.ai/compatibility/v1"}
    model: Json = {"provider": "openai", "model": "embed-v4.0", "settings": settings}
    assert input_type_of(model, True) is None
    assert input_type_of({**model, "settings": {}}, True) == "search_query"


@pytest.mark.feature("E6")
def test_a_server_that_refuses_an_input_type_is_asked_without(fake: FakeModelServer) -> None:
    fake.behaviour = lambda request: refusal("input_type") if "input_type" in request.body else Behaviour()
    run_twice("embed", embedding_job("tea", model={**chat(fake), "model": "voyage-3.5"}))
    assert ["input_type" in request.body for request in fake.requests] == [True, False, False]
