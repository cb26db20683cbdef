"""The instructions that begin a thread: they stand first in its contexts, and no summary takes their place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.steps import remember
from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api
from tests.support.summaries import each_round

INSTRUCTIONS = "You are a pirate. Answer in rhyme."
BRIEF = "Be brief."


def messages(api: Api, **arguments: Any) -> list[str]:
    """The messages of the thread, its instructions among them."""
    context = api.get_context(**{**ANA, **arguments})
    return [part.content for part in context if part.source in ("instructions", "message")]


def open_with(api: Api, *instructions: str, rounds: int = 0, **arguments: Any) -> None:
    for number, content in enumerate(instructions):
        role = "developer" if number else "system"
        api.add_message(**ANA, role=role, content=content, **arguments)
    if rounds:
        api.talk(**ANA, rounds=rounds)


@pytest.mark.feature("A4")
class TestContext:
    def test_they_stand_before_everything_else(self, api: Api) -> None:
        open_with(api, INSTRUCTIONS, BRIEF, rounds=2)
        remember(api, "Likes tea")
        context = api.get_context(**ANA)
        assert [part.source for part in context] == ["instructions"] * 2 + ["memories"] + ["message"] * 4
        assert [part.content for part in context][:2] == [INSTRUCTIONS, BRIEF]
        assert [part.ordinal for part in context] == list(range(1, 8))

    @pytest.mark.parametrize("max_tokens", [40, 100])
    def test_they_stay_where_messages_are_cut(self, api: Api, max_tokens: int) -> None:
        open_with(api, INSTRUCTIONS, rounds=60)
        context = api.get_context(**ANA, max_tokens=max_tokens)
        assert (context[0].role, context[0].content) == ("system", INSTRUCTIONS)
        assert context[-1].content == "answer 59"
        assert sum(part.token_count for part in context) <= max_tokens
        assert INSTRUCTIONS not in messages(api, max_tokens=max_tokens, agent_id="helper")
        api.clear_thread(**ANA)
        open_with(api, BRIEF, rounds=60)
        context = api.get_context(**ANA, max_tokens=max_tokens)
        assert (context[0].content, context[-1].content) == (BRIEF, "answer 59")

    def test_without_room_beside_the_newest_message_they_are_left_out_and_a_notice_says_so(self, api: Api) -> None:
        open_with(api, INSTRUCTIONS * 10, rounds=10)
        api.notices.clear()
        assert messages(api, max_tokens=50)[-2:] == ["question 9", "answer 9"]
        assert any("instructions that begin the thread" in notice for notice in api.notices)


@pytest.mark.feature("A7")
class TestCompression:
    def test_they_are_neither_summarised_nor_put_away(self, api: Api) -> None:
        open_with(api, INSTRUCTIONS, BRIEF, rounds=20)
        for expected in (2, 2):
            api.compress_thread(**ANA)
            job = claim(api, "compress_thread")
            assert "system" not in {message["role"] for message in job.payload["messages"]}
            assert job.payload["start_seq"] == expected
            complete(api, job, summary="They talked.")
            api.talk(**ANA, rounds=5)
        active = api.get_messages(**ANA)
        assert [message.seq for message in active][:3] == [0, 1, 42]
        assert messages(api)[:2] == [INSTRUCTIONS, BRIEF]


@pytest.mark.feature("D3")
@pytest.mark.parametrize(("rounds", "expected"), [(3, (1, 6)), (8, (3, 16))])
def test_the_window_starts_with_a_message_of_the_user(api: Api, rounds: int, expected: tuple[int, int]) -> None:
    each_round(api)
    open_with(api, INSTRUCTIONS, rounds=rounds)
    job = claim(api, "summarize_thread")
    assert (job.payload["start_seq"], job.payload["end_seq"]) == expected
    assert job.payload["messages"][0]["role"] == "user"
    complete(api, job, summary="They talked.")
    assert messages(api) == [INSTRUCTIONS, f"answer {rounds - 1}"]
