"""Token counts of messages, and when the exact counts start a compression."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from pathlib import Path

import pytest
from agent_memory_models import Models

from tests.model_package.openai.steps import chat, every_kind, needs_encodings
from tests.support.fake_model_server import FakeModelServer
from tests.support.model_payloads import ENCODINGS, LOCAL, Json, compression, extraction, run, users
from tests.support.runners import PATIENCE, is_quick


# Token counts
def counted(text: str) -> int:
    import tiktoken

    return len(tiktoken.get_encoding("o200k_base").encode(text, disallowed_special=()))


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    ("kind", "provider"), [("extract_memories", "local"), ("summarize_thread", "openai"), ("compress_thread", "openai")]
)
@needs_encodings
def test_messages_are_counted_exactly(fake: FakeModelServer, kind: str, provider: str) -> None:
    texts = ["I enjoy jazz.", "日本語の文章です。" * 9, "<|endoftext|> def f(x):\n\treturn x ** 2\n", "🎷" * 5]
    tool_calls = [{"id": "c", "function": {"name": "wetter", "arguments": '{"stadt": "Köln"}'}}]
    messages = users(*texts, "whole already", "cut")
    messages[0]["tool_calls"] = tool_calls
    messages[-2]["is_counted"] = True
    messages[-1]["is_cut"] = True
    model = chat(fake) if provider == "openai" else LOCAL
    payload = {**every_kind(model)[kind], "messages": messages, "start_seq": 0, "end_seq": 5}
    if kind == "compress_thread":
        payload["recent_messages"] = [messages.pop(2)]
    result = run(kind, payload)
    wanted = {str(seq): counted(text) for seq, text in enumerate(texts)}
    wanted["0"] += counted(json.dumps(tool_calls, ensure_ascii=False))
    assert (result["token_counts"], result["token_counter"]) == (wanted, "o200k_base")


@pytest.mark.feature("A5")
@needs_encodings
def test_a_model_is_counted_in_its_own_encoding(fake: FakeModelServer) -> None:
    model = {**chat(fake), "model": "gpt-4"}
    result = run("extract_memories", extraction(users("日本語の文章です。"), model))
    assert result["token_counter"] == "cl100k_base"
    assert result["token_counts"] != {"0": counted("日本語の文章です。")}


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    "unit", ["The quick brown fox, 12 lazy dogs!\n", "日本語の文章です。", "a  b\t\n\n  c don't  1 2 345 "]
)
@needs_encodings
def test_long_texts_are_counted_exactly_too(unit: str) -> None:
    text = (unit * 4000)[:65_536]
    assert run("extract_memories", extraction(users(text)))["token_counts"] == {"0": counted(text)}


@pytest.mark.feature("A5")
@needs_encodings
def test_counting_lets_other_work_go_on() -> None:
    messages = users(*["a" * 65_536] * 20)

    async def count() -> float:
        """The longest turn of the event loop meanwhile, in seconds of CPU: the clock counts other processes, too."""
        turns: list[float] = []
        async with Models() as models:
            await models.run("extract_memories", extraction(users("warm up")), [])
            counting = asyncio.create_task(models.run("extract_memories", extraction(messages), []))
            while not counting.done():
                before = time.process_time()
                await asyncio.sleep(0)
                turns.append(time.process_time() - before)
            counts = (await counting)["token_counts"]
        assert all(abs(count - counted("a" * 65_536)) <= 7 for count in counts.values())
        return max(turns)

    # On a busy machine the threads that count may run while the loop's thread waits for a processor.
    assert is_quick(lambda: asyncio.run(count()), 0.5, attempts=3)


@pytest.mark.feature("A5", "A14")
def test_without_an_encoding_there_are_no_counts(
    fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "fb374d419588a4632f3f557e76b4b70aebbca790"
    damaged = tmp_path / "packages" / "tiktoken_encodings"
    damaged.mkdir(parents=True)
    (damaged / name).write_bytes(b"IQ== 0\n")

    def run_offline() -> Json:
        async def job() -> Json:
            async with Models(may_download=False) as models:
                return await models.run("compress_thread", compression(users("a"), model=chat(fake)), [])

        return asyncio.run(job())

    assert "token_counts" not in run_offline()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert "token_counts" not in run_offline()
    monkeypatch.setenv("AGENT_MEMORY_PYTHONPATH", str(damaged.parent))
    assert "token_counts" not in run_offline()
    assert (damaged / name).exists()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    if ENCODINGS.exists():
        shutil.copy(ENCODINGS / name, damaged / name)
        assert run_offline()["token_counts"] == {"0": 1}
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)


def test_a_download_is_tried_once_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken
    from agent_memory_models.text import tokens

    tried: list[str] = []
    release = threading.Event()

    def hang(name: str) -> None:
        tried.append(name)
        release.wait(PATIENCE)

    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr(tokens, "DOWNLOAD_SECONDS", 0.3)
    monkeypatch.setattr(tiktoken, "get_encoding", hang)
    started = time.monotonic()

    async def jobs() -> list[Json]:
        async with Models() as models:
            return list(
                await asyncio.gather(*(models.run("extract_memories", extraction(users("a")), []) for _ in range(5)))
            )

    assert not any("token_counts" in result for result in asyncio.run(jobs()))
    release.set()
    assert tried == ["o200k_base"]
    assert time.monotonic() - started < PATIENCE / 2  # no job has waited until the download was given up


# When to compress
@pytest.mark.feature("A5", "A6")
@pytest.mark.parametrize(
    ("changes", "skipped"),
    [
        ({"threshold_tokens": 12}, None),
        ({"threshold_tokens": 13}, "12 tokens are below the threshold of 13"),
        ({"threshold_tokens": 13, "is_forced": True}, None),
        ({"threshold_tokens": 13, "remaining_tokens": 1}, None),
        ({"threshold_tokens": 13, "recent_messages": users("tea", first=9)}, None),
    ],
)
@needs_encodings
def test_compression_is_decided_by_the_exact_sum(fake: FakeModelServer, changes: Json, skipped: str | None) -> None:
    messages = users("I enjoy jazz.", "cut", "counted")
    messages[0]["token_count"] = 999
    messages[1].update(is_cut=True, token_count=3)
    messages[2].update(is_counted=True, token_count=5)
    calls: list[Json] = []
    result = run("compress_thread", compression(messages, model=chat(fake), **changes), calls)
    assert result.get("skipped") == skipped
    assert len(fake.requests) == len(calls) == (0 if skipped else 1)
    assert result["token_counts"]["0"] == 4
    if skipped:
        assert set(result) == {"skipped", "token_counts", "token_counter"}


@pytest.mark.feature("A6", "A14")
def test_without_an_encoding_the_estimates_decide(fake: FakeModelServer) -> None:
    payload = compression(users("I enjoy jazz."), model=chat(fake), threshold_tokens=5)
    assert run("compress_thread", payload) == {"skipped": "4 tokens are below the threshold of 5"}


def test_recent_messages_are_not_shown_to_the_model(fake: FakeModelServer) -> None:
    run("compress_thread", compression(users("old"), model=chat(fake), recent_messages=users("recent", first=1)))
    assert "recent" not in fake.requests[0].user
