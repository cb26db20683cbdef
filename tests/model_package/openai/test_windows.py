"""What does not fit into a model's window, or takes too long, is read in parts, and nothing is left unread."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable

import pytest
from agent_memory_models import ModelError, Models
from agent_memory_models.text.tokens import estimate_tokens

from tests.model_package.openai.steps import chat, every_kind
from tests.support.fake_model_server import HANGING, Behaviour, FakeModelServer, RecordedRequest
from tests.support.model_payloads import (
    Json,
    compression,
    consolidation,
    embedding_job,
    extraction,
    reconciliation,
    reranking,
    rolling,
    run,
    user_summary,
    users,
)
from tests.support.model_rules import by_rule, rows_of

pytestmark = pytest.mark.feature("A14")
LONG = [f"Fact {number}: " + "she walked along the river and counted boats. " * 8 for number in range(40)]
ENDLESS = Behaviour(finish_reason="length", answer='{"memories": [{"seqs": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9')
SAYS: dict[str, Callable[[int], dict[str, Json]]] = {
    "vLLM": lambda size: {"/v1/models": {"data": [{"id": "gpt-fake", "max_model_len": size}]}},
    "llama.cpp": lambda size: {
        "/v1/models": {"data": [{"id": "gpt-fake", "meta": {"n_ctx_train": 131072}}]},
        "/props": {"default_generation_settings": {"n_ctx": size}},
    },
    "Ollama, set": lambda size: {"/api/show": {"parameters": f"stop x\nnum_ctx {size}", "model_info": {}}},
    "Ollama, loaded": lambda size: {
        "/api/show": {"model_info": {"llama.context_length": 131072}},
        "/api/ps": {"models": [{"model": "gpt-fake", "context_length": size}]},
    },
}


def sent(request: RecordedRequest) -> int:
    return sum(estimate_tokens(message["content"]) for message in request.body["messages"])


def seqs(request: RecordedRequest) -> list[int]:
    return [row["seq"] for row in rows_of(request.user, "conversation")]


def overflow(window: int, *, says: bool = True) -> Callable[[RecordedRequest], Behaviour]:
    """A server with a window, which refuses what is longer."""
    message = f"This model's maximum context length is {window} tokens" if says else "the prompt is too long"

    def behaviour(request: RecordedRequest) -> Behaviour:
        if sent(request) + request.body["max_tokens"] > window:
            return Behaviour(status=400, body=json.dumps({"error": {"message": message, "type": "invalid"}}))
        return Behaviour()

    return behaviour


def run_each(kind: str, *payloads: Json, calls: list[Json] | None = None) -> list[Json]:
    """The results of jobs, one after the other, in one process."""

    async def work() -> list[Json]:
        async with Models() as models:
            return [await models.run(kind, payload, [] if calls is None else calls) for payload in payloads]

    return asyncio.run(work())


@pytest.mark.parametrize("server", SAYS)
def test_the_server_is_asked_for_its_window(fake: FakeModelServer, server: str) -> None:
    fake.says = SAYS[server](4096)
    calls: list[Json] = []
    found = run("extract_memories", extraction(users(*LONG), chat(fake)), calls)["memories"]
    assert [memory["seqs"] for memory in found] == [[seq] for seq in range(len(LONG))]
    assert len(fake.requests) == len(calls) > 1
    assert max(sent(request) + request.body["max_tokens"] for request in fake.requests) <= 4096
    assert {call["context_tokens"] for call in calls} == {4096}


@pytest.mark.parametrize(("settings", "most"), [({}, 8000), ({"context_tokens": 5000}, 5000)])
def test_a_window_is_a_setting_or_the_default(fake: FakeModelServer, settings: Json, most: int) -> None:
    run("extract_memories", extraction(users(*LONG * 3), chat(fake, **settings)))
    largest = max(sent(request) + request.body["max_tokens"] for request in fake.requests)
    assert most / 2 < largest <= most


def test_built_in_settings_run_in_a_window_of_4096_tokens(fake: FakeModelServer) -> None:
    model = chat(fake, context_tokens=4096)
    for kind, payload in every_kind(model).items():
        run(kind, payload)
        assert len(fake.requests) == 1, kind
        if kind != "embed":
            assert sent(fake.requests[0]) + fake.requests[0].body["max_tokens"] <= 4096, kind
        fake.requests.clear()


@pytest.mark.parametrize("says", [True, False])
def test_a_refused_payload_is_halved_and_read_again(fake: FakeModelServer, says: bool) -> None:
    fake.behaviour = overflow(4000, says=says)
    calls: list[Json] = []
    first, second = run_each("extract_memories", *[extraction(users(*LONG), chat(fake))] * 2, calls=calls)
    assert len(first["memories"]) == len(second["memories"]) == len(LONG)
    refused = [bool(call["error"]) for call in calls]
    assert refused[0]
    if says:  # the server has named its window once
        assert refused.count(True) == 1
        assert calls[-1]["context_tokens"] == 4000


def test_a_reply_that_is_cut_off_is_asked_for_in_halves(fake: FakeModelServer) -> None:
    fake.behaviour = lambda request: Behaviour(finish_reason="length" if len(seqs(request)) > 3 else "stop")
    found = run("extract_memories", extraction(users(*[f"I like {n}." for n in range(10)]), chat(fake)))
    assert len(found["memories"]) == 10
    assert [len(seqs(request)) for request in fake.requests][:2] == [10, 5]


def test_one_message_without_a_whole_reply_does_not_stop_the_others(
    fake: FakeModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    fake.behaviour = lambda request: ENDLESS if 4 in seqs(request) else Behaviour()
    found = run("extract_memories", extraction(users(*[f"I like {n}." for n in range(16)]), chat(fake)))
    assert [memory["seqs"] for memory in found["memories"]] == [[seq] for seq in range(5, 16)]
    assert "a part of a job of kind extract_memories was left out" in caplog.text
    with pytest.raises(ModelError, match="cut off"):
        run("extract_memories", extraction(users("I like 4.", first=4), chat(fake)))


@pytest.mark.parametrize(("messages", "calls"), [(5, 1), (10, 3), (200, 13)])
def test_a_model_that_does_not_stop_is_asked_a_few_times(fake: FakeModelServer, messages: int, calls: int) -> None:
    """Ten messages had taken 19 calls, by each of which the model wrote as much as it may."""
    fake.behaviour = ENDLESS
    with pytest.raises(ModelError, match="cut off"):
        run("extract_memories", extraction(users(*[f"I like {n}." for n in range(messages)]), chat(fake)))
    assert len(fake.requests) == calls


def test_the_whole_memories_of_a_reply_that_was_cut_off_are_kept(fake: FakeModelServer) -> None:
    cut = Behaviour(finish_reason="length", answer=lambda body: by_rule(body)[:-100])
    fake.behaviour = cut
    found = run("extract_memories", extraction(users("I like 1.", "I like 2.", "I like 3."), chat(fake)))
    assert [memory["seqs"] for memory in found["memories"]] == [[0], [1]]
    assert len(fake.requests) == 1
    with pytest.raises(ModelError, match="cut off"):  # a part of a summary says nothing of the rest
        run("compress_thread", compression(users("I like 1."), model=chat(fake)))


def test_a_long_message_is_shortened_when_a_reply_about_it_is_cut_off(fake: FakeModelServer) -> None:
    fake.behaviour = lambda request: ENDLESS if "boats " * 700 in request.user else Behaviour()
    run("extract_memories", extraction(users("boats " * 1000), chat(fake)))
    assert ["characters left out" in request.user for request in fake.requests] == [False, True]


@pytest.mark.parametrize("kind", ["summarize_thread", "compress_thread", "summarize_user"])
def test_a_summary_is_continued_from_part_to_part(fake: FakeModelServer, kind: str) -> None:
    model = chat(fake, context_tokens=4096)
    words = [f"word{number} " + "boats and rivers " * 20 for number in range(30)]
    payloads = {
        "summarize_thread": rolling(users(*words), 0, model=model),
        "compress_thread": compression(users(*words), model=model),
        "summarize_user": user_summary(users(*words), model=model),
    }

    def short(body: Json) -> str:
        """Of each message the first word."""
        reply = json.loads(by_rule(body))
        if "points" in reply:
            points = [{"seqs": point["seqs"], "text": point["text"][:12]} for point in reply["points"]]
            return json.dumps({"points": points})
        return json.dumps({**reply, "summary": " ".join(re.findall(r"word\d+", reply["summary"]))})

    fake.behaviour = Behaviour(answer=short)
    summary = run(kind, payloads[kind])["summary"]
    assert len(fake.requests) > 1
    assert re.findall(r"word\d+", summary) == [f"word{number}" for number in range(30)]


def test_lists_are_judged_in_parts(fake: FakeModelServer) -> None:
    model = chat(fake, context_tokens=4096)
    facts = [f"Fact {number // 2} is told. " + "boats and rivers " * 30 for number in range(40)]
    assert len(run("reconcile_memories", reconciliation(*facts, model=model))["duplicates"]) >= 15
    assert run("consolidate", consolidation(*facts, model=model))["articles"]
    scores = run(
        "rerank", reranking("boats", *facts, model={**model, "settings": {**model["settings"], "rerank_api": "chat"}})
    )
    assert [row["number"] for row in scores["scores"]] == list(range(1, 41))
    assert max(sent(request) + request.body["max_tokens"] for request in fake.requests) <= 4096


def test_a_long_message_and_what_is_known_are_shortened(fake: FakeModelServer) -> None:
    model = chat(fake, context_tokens=4096)
    known = [{"number": number, "content": "It rains. " * 60} for number in range(1, 31)]
    payload = {**extraction(users("boats " * 3000), model), "known": known}
    run("extract_memories", payload)
    [request] = fake.requests
    assert sent(request) + request.body["max_tokens"] <= 4096
    assert "characters left out" in request.user


def test_after_a_timeout_less_is_asked_at_once(fake: FakeModelServer) -> None:
    fake.next_behaviours = [HANGING]
    payload = extraction(users(*LONG[:10]), chat(fake, timeout_seconds=20))
    quick = {**payload, "model": chat(fake, timeout_seconds=0.5)}
    calls: list[Json] = []

    async def work() -> Json:
        async with Models() as models:
            with pytest.raises(ModelError, match="no answer from the model within"):
                await models.run("extract_memories", quick, calls)
            return await models.run("extract_memories", payload, calls)

    assert len(asyncio.run(work())["memories"]) == 10
    assert calls[0]["tokens_in"] == sent(fake.requests[0])  # for the budget
    assert max(map(sent, fake.requests[1:])) <= sent(fake.requests[0]) / 2 or len(fake.requests) > 5


def test_a_server_that_reads_less_than_it_is_sent_is_noticed_once(
    fake: FakeModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    def cut(body: str) -> str:
        return json.dumps({**json.loads(body), "usage": {"prompt_tokens": 200, "completion_tokens": 5}})

    fake.behaviour = Behaviour(body=cut)
    with caplog.at_level(logging.WARNING, "agent_memory.models"):
        run_each("extract_memories", *[extraction(users(*LONG[:3]), chat(fake))] * 2)
    assert caplog.text.count("its server counts 200 tokens of a prompt") == 1


# Embeddings


def test_embeddings_are_asked_for_in_halves_where_a_request_is_too_long(fake: FakeModelServer) -> None:
    def behaviour(request: RecordedRequest) -> Behaviour:
        if len(request.body["input"]) > 2:
            return Behaviour(status=413, body='{"error": {"message": "input is too large to process"}}')
        return Behaviour()

    fake.behaviour = behaviour
    result = run("embed", embedding_job(*map(str, range(5)), model=chat(fake)))
    assert len(result["embeddings"]) == 5
