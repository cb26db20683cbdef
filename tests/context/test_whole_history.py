"""While all that a user has said is short, a context may hold all of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("A4", "F31")

TUESDAY: dict[str, Any] = {"thread_id": "tuesday"}


@pytest.fixture
def talks(api: Api) -> Api:
    """Three short conversations of a user who wants everything sent below 2,000 tokens; the last one is going on."""
    api.set_policy(settings={"context": {"whole_history_below": 2000}})
    say(api, "The boat is called Marabel.", thread_id="monday", created_at="2026-03-02T09:00:00Z")
    say(api, "A fine name.", role="assistant", thread_id="monday", created_at="2026-03-02T09:01:00Z")
    say(api, "My plumber is Joan Ruiz.", created_at="2026-03-03T09:00:00Z", **TUESDAY)
    say(api, "What shall I cook?", thread_id="today", created_at="2026-03-04T09:00:00Z")
    return api


def history(api: Api, **arguments: Any) -> list[str]:
    context = api.get_context(user_id="ana", thread_id="today", **arguments)
    return [part.content for part in context if part.source == "recalled"]


def test_all_conversations_stand_in_the_order_of_time_before_the_thread(talks: Api) -> None:
    context = talks.get_context(user_id="ana", thread_id="today")
    assert [(part.source, part.metadata["cache"]) for part in context] == [
        ("recalled", "stable"),
        ("message", "thread"),
    ]
    lines = [line for line in context[0].content.splitlines() if line]
    assert lines[lines.index("2 March 2026") :][:5] == [
        "2 March 2026",
        "user: The boat is called Marabel.",
        "assistant: A fine name.",
        "3 March 2026",
        "user: My plumber is Joan Ruiz.",
    ]


def test_the_next_turn_leaves_the_history_as_it_was(talks: Api) -> None:
    [before] = history(talks)
    say(talks, "Soup.", role="assistant", thread_id="today")
    say(talks, "And who is my plumber?", thread_id="today")
    assert history(talks) == [before]  # the question recalls nothing besides
    [reason] = [
        part.metadata["reason"]
        for part in talks.get_context(user_id="ana", thread_id="today", explain=True)
        if part.ordinal is None and part.metadata["source"] == "recalled"
    ]
    assert reason == "the whole history stands in the context"


@pytest.mark.parametrize("arguments", [{"max_tokens": 60}, {"agent_id": "other"}], ids=["no room", "other agent"])
def test_a_history_that_may_not_stand_there_is_left_out(talks: Api, arguments: dict[str, Any]) -> None:
    assert all("Marabel" not in part for part in history(talks, **arguments))


def test_a_longer_history_is_recalled_as_always(talks: Api) -> None:
    say(talks, *(f"Note {number}: " + "the tide was low again. " * 20 for number in range(20)), **TUESDAY)
    say(talks, "Who is my plumber?", thread_id="today")
    [recalled] = history(talks)
    assert "Joan Ruiz" in recalled
    assert "Marabel" not in recalled


@pytest.mark.parametrize("max_tokens", [150, 300])
def test_the_limit_holds(talks: Api, max_tokens: int) -> None:
    context = talks.get_context(user_id="ana", thread_id="today", max_tokens=max_tokens)
    assert sum(part.token_count for part in context) <= max_tokens
    assert context[-1].content == "What shall I cook?"
