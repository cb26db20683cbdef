"""A context keeps to its budget, and calls of tools stay with their results."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.context.steps import (
    estimate,
    messages,
    parts,
    remember,
    rewrite_summaries,
    said,
    without_recall,
)
from tests.support.protocol import ANA, say
from tests.support.sqlapi import Api
from tests.support.summaries import each_round


class TestBudget:
    @pytest.fixture(autouse=True)
    def _without_recall(self, api: Api) -> None:
        without_recall(api)

    def test_is_kept_whenever_one_message_fits(self, api: Api) -> None:
        chance = random.Random(0)
        each_round(api)
        for number in range(8):
            remember(api, f"fact {number} " + "x" * chance.randrange(80))
        for number in range(12):
            role = chance.choice(["user", "assistant"])
            api.add_message(**ANA, role=role, content=f"{number} " + "é" * chance.randrange(1, 60))
            if number == 7:
                api.finish_jobs(summary="s" * chance.randrange(1, 200))
        [newest] = api.get_context(**ANA, max_tokens=1)
        assert newest.content == api.get_messages(**ANA, recent_k=1)[0].content
        for max_tokens in range(1, 1000, 23):
            context = api.get_context(**ANA, max_tokens=max_tokens)
            assert context[-1] == (len(context), *newest[1:])
            assert all(part.token_count >= estimate(part.content) for part in context)
            assert sum(part.token_count for part in context) <= max(max_tokens, newest.token_count)
            assert [part.ordinal for part in context] == list(range(1, len(context) + 1))
        assert {part.source for part in context} == {"memories", "thread_summary", "message"}

    @pytest.mark.feature("F12")
    @pytest.mark.parametrize("share", [0, 0.6])
    def test_gives_memories_their_share_of_what_the_newest_message_leaves(self, api: Api, share: float) -> None:
        api.set_policy(settings={"context": {"memories_share": share, "max_memories": 200}})
        remember(api, *(f"fact {number} " + "word " * 8 for number in range(100)))
        for _ in range(100):
            api.add_message(**ANA, role="user", content="word " * 10)
        [newest] = api.get_context(**ANA, max_tokens=1)
        shown = 0
        for max_tokens in range(1, 1500, 83):
            first = api.get_context(**ANA, max_tokens=max_tokens)[0]
            if first.source == "memories":
                assert first.token_count <= share * (max_tokens - newest.token_count)
                shown = len(first.metadata["memories"])
        assert (shown > 1500 * share / 45) is (share > 0)

    @pytest.mark.feature("F12")
    @pytest.mark.parametrize("max_tokens", [36, 71])
    def test_that_is_tiny_is_no_unlimited_one(self, api: Api, max_tokens: int) -> None:
        """The fence alone has more tokens than the share of memories."""
        remember(api, *(f"fact {number}" for number in range(20)))
        assert api.get_context(**ANA, max_tokens=max_tokens) == []
        assert api.notices == ["degraded: no memories fit into max_tokens"]
        say(api, "Hi")
        assert messages(api, max_tokens=max_tokens) == ["Hi"]
        assert len(parts(api, max_tokens=max_tokens)) == 1

    @pytest.mark.feature("A4")
    def test_never_cuts_a_placeholder(self, api: Api) -> None:
        reference = "[MemoryRef: f3a9c1d27b4e, 5321 tokens, output of a long command]"
        for number in range(10):
            say(api, f"{number} {reference} and {reference}", role=("user", "assistant")[number % 2])
            remember(api, f"{number} is in {reference}")
        for max_tokens in range(1, 1500, 53):
            for _, content in parts(api, max_tokens=max_tokens):
                assert content.count("[MemoryRef") == content.count(reference)

    def test_says_what_does_not_fit(self, api: Api) -> None:
        each_round(api)
        api.talk(**ANA, rounds=3)
        api.finish_jobs()
        rewrite_summaries(api, "s" * 4000)
        remember(api, "Likes tea and " + "biscuits " * 100)
        api.add_message(**ANA, role="user", content="Hello")
        assert [source for source, _ in parts(api, max_tokens=50)][-1] == "message"
        assert [notice for notice in api.notices if notice.startswith("degraded: ") and "summary" in notice]
        assert [notice for notice in api.notices if notice.startswith("degraded: ") and "memories" in notice]


class TestToolCalls:
    @pytest.fixture(autouse=True)
    def _without_recall(self, api: Api) -> None:
        without_recall(api)

    @pytest.fixture
    def tools(self, api: Api) -> list[str]:
        """A thread in which each answer takes a call of two tools."""
        names = []
        for number in range(6):
            calls = [{"id": f"{number}{tool}", "function": {"name": tool, "arguments": "{}"}} for tool in "ab"]
            round_of_messages: list[dict[str, Any]] = [
                {"role": "user", "content": f"question {number}"},
                {"role": "assistant", "content": f"call {number}", "tool_calls": calls},
                {"role": "tool", "content": f"result {number}a", "tool_call_id": f"{number}a"},
                {"role": "tool", "content": f"result {number}b", "tool_call_id": f"{number}b"},
                {"role": "assistant", "content": f"answer {number}"},
            ]
            api.add_messages(**ANA, messages=round_of_messages)
            names += [message["content"] for message in round_of_messages]
        return names

    @pytest.mark.feature("A4")
    def test_are_never_cut_from_their_results(self, api: Api, tools: list[str]) -> None:
        api.set_policy(settings={"context": {"window_step": 0}})
        for max_tokens in range(1, 300, 3):
            context = messages(api, max_tokens=max_tokens)
            assert context == tools[-len(context) :] or context == ["question 5", *tools[1 - len(context) :]]
            assert context[0].startswith("question") or context == ["answer 5"]
            assert context[1:2] != ["result 5b"]

    def test_come_back_as_they_were_given(self, api: Api) -> None:
        """A chat API takes a tool's result only with the id of its call."""
        calls = [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]
        given = [
            {"role": "user", "content": "question"},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "content": "result", "tool_call_id": "1"},
        ]
        api.add_messages(**ANA, messages=given)
        context = api.get_context(**ANA)
        assert [{"role": part.role, "content": part.content, **said(part)} for part in context] == given

    def test_that_lost_their_call_are_left_out_otherwise(self, api: Api, tools: list[str]) -> None:
        api.connection.execute("update memory.messages set expires_at = now() where seq < 2")
        assert messages(api) == tools[4:]
