"""A context keeps to its budget as the encodings of OpenAI count it, whatever it is made of."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.context.steps import rewrite_summaries
from tests.support.model_payloads import ENCODINGS, ROOT
from tests.support.protocol import ANA, claim, complete, say
from tests.support.sqlapi import Api

CODE = (ROOT / "tests" / "support" / "sqlapi.py").read_text()
ENGLISH = "The committee met again on Thursday and nobody could agree on whether the pumps ought to be replaced. "
CHINESE = "她喜欢在早上喝一杯不加糖的黑咖啡，然后去公园散步，下午三点回来写报告。"
RUSSIAN = "Она любит пить чёрный кофе без сахара по утрам, а потом гулять в парке. "


def always(text: str) -> Callable[[random.Random], str]:
    return lambda _: text


def some_json(chance: random.Random) -> str:
    value = [{"id": number, "name": None, "on": True, "at": [number, 2 * number]} for number in range(20)]
    return json.dumps(value, indent=chance.choice([None, 1, 2]))


TEXTS: dict[str, Callable[[random.Random], str]] = {
    "en": always(ENGLISH * 6),
    "zh": always(CHINESE * 6),
    "ru": always(RUSSIAN * 6),
    "emoji": lambda chance: "".join(chance.choice(["😀", "🎉 ", "❤️", "👍🏽", "🧑‍💻", "🇵🇹 "]) for _ in range(200)),
    "json": some_json,
    "code": lambda chance: CODE[(start := chance.randrange(len(CODE) // 2)) : start + 3000],
    "base64": lambda chance: base64.b64encode(chance.randbytes(600)).decode(),
    "base64 in lines": lambda chance: base64.encodebytes(chance.randbytes(600)).decode(),
    "ids": lambda chance: " ".join(base64.urlsafe_b64encode(chance.randbytes(9)).decode() for _ in range(60)),
    "numbers": lambda chance: "\n".join(" ".join(f"{chance.random():.2f}" for _ in range(8)) for _ in range(20)),
    "yaml": lambda chance: "".join(f"k{number}:\n  - {chance.randrange(9)}\n  - x\n" for number in range(60)),
    "fence": always("</recalled>\n<recalled>" * 40),
    "blank lines": always("so.\n\n\n\tit is;\n \n" * 30),
}


@pytest.fixture(params=["o200k_base", "cl100k_base"])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Exact tokens of a text."""
    if not ENCODINGS.exists():
        pytest.skip("the encodings of tiktoken are not on this machine")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ENCODINGS))
    import tiktoken

    encoding = tiktoken.get_encoding(request.param)
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def mixture(chance: random.Random, longest: int) -> str:
    """Pieces of all kinds of text in one, sometimes of one kind only."""
    kinds = chance.sample(list(TEXTS), chance.choice([1, 1, 2, 4]))
    size = chance.randrange(1, longest) // len(kinds) + 1
    return " ".join(TEXTS[kind](chance)[:size] for kind in kinds).strip() or "."


def summarize(api: Api, chance: random.Random, count: Callable[[str], int], function: str, **scope: str) -> None:
    """Have a summary written, whose tokens the worker sometimes could count."""
    getattr(api, function)(**scope)
    summary = mixture(chance, 1200)
    complete(api, claim(api, function), summary="They talked.")
    is_counted = chance.random() < 0.5
    rewrite_summaries(api, summary, count(summary) if is_counted else None, thread_id=scope.get("thread_id", ""))


def converse(api: Api, chance: random.Random, count: Callable[[str], int]) -> None:
    """A thread with everything that a context can have."""
    settings: dict[str, Any] = {
        "cadence": {"fact_extraction_every_n": 0},
        "summary": {"enabled": False},
        "knowledge_base": {"enable_cross_session_context": True, "search_triggers": ["remind me"]},
        "context": {"memories_share": chance.choice([0.25, 0.5, 1]), "cross_session_share": chance.choice([0.25, 1])},
    }
    api.set_policy(settings=settings)
    for _ in range(chance.randrange(12)):
        memory_type = chance.choice(["fact", "preference", "context"])
        api.add_memory(user_id="ana", content=mixture(chance, 600), memory_type=memory_type)
    for thread_id in ("t0", "t1"):
        say(api, *(mixture(chance, 400) for _ in range(4)), thread_id=thread_id)
        summarize(api, chance, count, "summarize_thread", user_id="ana", thread_id=thread_id)
    summarize(api, chance, count, "summarize_user", user_id="ana")
    for _ in range(chance.randrange(8)):
        calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": mixture(chance, 300)}}]
        messages = [
            {"role": "user", "content": mixture(chance, 500)},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "content": mixture(chance, 500), "tool_call_id": "1"},
            {"role": "assistant", "content": mixture(chance, 500)},
        ]
        api.add_messages(**ANA, messages=messages[: chance.randrange(1, 5)])
    for seq, content in api.query("select seq, content from memory.messages where metadata = '{}'"):
        if chance.random() < 0.3:  # a job has counted it
            api.connection.execute(
                "update memory.messages set token_count = %s, is_counted = true where seq = %s and content = %s",
                [count(content), seq, content],
            )


@pytest.mark.feature("A4", "F12")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 8))])
def test_a_context_of_anything_fits_any_budget(api: Api, count: Callable[[str], int], seed: int) -> None:
    chance = random.Random(seed)
    converse(api, chance, count)
    query = {"query": "Please remind me of the pumps, the кофе, 黑咖啡 and k1"}
    newest = api.get_context(**ANA, **query, max_tokens=1)
    assert newest
    assert {part.source for part in newest} == {"message"}
    needed = sum(part.token_count for part in newest)
    for max_tokens in [*range(1, 100, 9), *(chance.randrange(1, 6000) for _ in range(40)), 1_000_000]:
        context = api.get_context(**ANA, **query, max_tokens=max_tokens)
        assert [part[1:] for part in context[-len(newest) :]] == [part[1:] for part in newest]
        calls = [json.dumps(part.metadata.get("tool_calls", ""), ensure_ascii=False) for part in context]
        exact = sum(count(part.content) for part in context) + sum(count(call) for call in calls if call != '""')
        said = sum(part.token_count for part in context)
        if needed <= max_tokens:
            assert max(exact, said) <= max_tokens
        else:
            assert len(context) == len(newest)


@pytest.mark.feature("B11", "F12")
@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_taken_for_no_shorter_than_it_is(api: Api, count: Callable[[str], int], kind: str) -> None:
    chance = random.Random(kind)
    for size in (1, 7, 30, 200, 2000):
        text = TEXTS[kind](chance)[:size]
        reserved = api.value("select memory._tokens_at_most(%(text)s)", text=text)
        assert count(text) <= reserved <= 4.5 * count(text) + 5
        block = api.value("select memory._fenced(%(text)s)", text=text)
        assert count(block) <= api.value("select memory._tokens_at_most(%(text)s)", text=block)
