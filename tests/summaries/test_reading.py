"""Summaries as readers get them: in contexts, by agent and by user."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.steps import without_recall
from tests.support.protocol import ANA, complete, open_jobs, say
from tests.support.sqlapi import Api, fenced
from tests.support.summaries import active, asked, both, compress, compressing, hear, profile, sources, write


@pytest.mark.feature("A4", "D6", "E7")
def test_a_context_has_the_user_the_thread_and_the_messages_since(api: Api) -> None:
    without_recall(api)
    both(api)
    profile(api)
    api.add_memory(user_id="ana", content="Likes tea")
    context = api.get_context(**ANA)
    assert [(part.source, part.role) for part in context] == [
        ("user_summary", "system"),
        ("memories", "system"),
        ("thread_summary", "system"),
        ("message", "user"),
        ("message", "assistant"),
        ("message", "user"),
        ("message", "assistant"),
    ]
    assert context[0].content == fenced("What is known about the user:\nAna lives in Oslo.")
    assert context[2].content == fenced("Summary of the conversation so far:\nWhole.")
    assert sources(api, thread_id="new") == ["user_summary", "memories"]


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [
        (4000, ["Whole.", 6, 7, 8, 9]),  # the messages since the whole fit into half of it
        (150, ["Whole.", 6, 7, 8, 9]),
        (100, ["Whole.", 8, 9]),
        (50, [9]),
    ],
)
def test_a_rolling_summary_stands_in_when_the_messages_since_the_whole_do_not_fit(
    api: Api, max_tokens: int, expected: list[Any]
) -> None:
    without_recall(api)
    compressing(api, enabled=False)
    write(api, *[10] * 10)
    compress(api, "Whole.")
    complete(api, asked(api, "summarize_thread"), summary="Window.")
    parts = api.get_context(**ANA, max_tokens=max_tokens)
    texts = [part.content.splitlines()[-2] for part in parts if part.source == "thread_summary"]
    messages = [part for part in parts if part.source == "message"]
    assert texts + active(api)[4 - len(messages) :] == expected
    assert sum(part.token_count for part in parts) <= max_tokens


@pytest.mark.feature("A14")
def test_parts_that_do_not_fit_are_named(api: Api) -> None:
    compressing(api)
    write(api, *[1000] * 2, *[3] * 4)
    compress(api, "s" * 4000)
    profile(api, "u" * 4000)
    api.notices.clear()
    assert sources(api, max_tokens=60) == ["message"] * 4
    assert api.notices == [
        "degraded: the user summary does not fit into max_tokens",
        "degraded: the thread summary does not fit into max_tokens",
    ]


@pytest.mark.feature("A3", "E7")
@pytest.mark.parametrize(("agent_id", "found"), [(None, True), ("cook", False), ("tutor", False)])
def test_an_agent_gets_no_summary_of_what_others_heard(api: Api, agent_id: str | None, found: bool) -> None:
    compressing(api)
    for agent in ("cook", "tutor", "cook"):
        api.talk(**ANA, rounds=3, agent_id=agent)
    compress(api)
    hear(api, "t2", "I like tea", agent_id="cook")
    profile(api)
    summaries_found = {source for source in sources(api, agent_id=agent_id) if source.endswith("summary")}
    assert summaries_found == ({"user_summary", "thread_summary"} if found else set())


@pytest.mark.feature("A3", "E7")
def test_an_agent_that_heard_everything_gets_the_summaries(api: Api) -> None:
    without_recall(api)
    compressing(api)
    api.talk(**ANA, rounds=3, agent_id="cook")
    compress(api)
    profile(api)
    assert sources(api, agent_id="cook")[:2] == ["user_summary", "thread_summary"]
    assert sources(api, agent_id="tutor") == []


@pytest.mark.feature("A3")
def test_no_user_gets_the_summaries_of_others(api: Api) -> None:
    both(api)
    profile(api)
    bob = {"user_id": "bob", "thread_id": "t1"}
    assert (api.get_thread_summary(**bob), api.get_user_summary(user_id="bob"), api.get_context(**bob)) == ([], [], [])


@pytest.mark.feature("A14")
def test_everything_but_model_work_goes_on_without_a_worker(api: Api) -> None:
    """The default policy applies, and the thread has far more tokens than the threshold."""
    for number in range(60):
        say(api, f"question {number} " + "x" * 1000)
        say(api, f"answer {number}", role="assistant")
    assert open_jobs(api) == ["compress_thread", "extract_memories", "summarize_thread"]
    assert [part.content for part in api.get_context(**ANA)][-1] == "answer 59"
    assert sum(part.token_count for part in api.get_context(**ANA)) <= 4000
    assert len(active(api)) == 120
    assert api.search(user_id="ana", query="question 7", sources=["message"], top_k=1)
