"""Contexts say what is true now, since when, and nothing that has ended."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.context.steps import parts
from tests.kinds.extract_memories.steps import found
from tests.support.protocol import activate, claim, complete, say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F1", "F29")


def add(api: Api, content: str, **arguments: Any) -> UUID:
    stored: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    return stored


def rendered(api: Api, query: str, **arguments: Any) -> str:
    block: str = api.render_memories(user_id="ana", query=query, **arguments)
    return block


def heard(api: Api, content: str, *memories: dict[str, Any], day: str, thread_id: str = "old") -> None:
    """A message of the user, and the memories that a model draws from it."""
    activate(api)
    [seq] = say(api, content, created_at=f"2024-{day}T10:00:00Z", thread_id=thread_id)
    api.extract_memories(user_id="ana", thread_id=thread_id)
    complete(api, claim(api, "extract_memories"), memories=[{**memory, "seqs": [seq]} for memory in memories])


def home(town: str) -> dict[str, Any]:
    return found(f"Lives in {town}", attribute="home", value=town)


def context(api: Api, query: str, **arguments: Any) -> str:
    return "\n".join(content for _, content in parts(api, query=query, **arguments))


def test_a_context_says_since_when_a_memory_holds(api: Api) -> None:
    heard(api, "I moved to Porto", home("Porto"), day="11-03")
    say(api, "Where do I live?")
    assert "1. Lives in Porto (since 3 November 2024)" in context(api, "Where do I live?").replace(". (", " (")


@pytest.mark.parametrize(
    ("bounds", "dates"),
    [
        ({"valid_from": "2026-11-03"}, "(since 3 November 2026)"),
        ({"valid_from": "2020-11-03", "valid_to": "2099-01-31"}, "2099"),
        ({}, None),
    ],
)
def test_render_memories_says_dates_only_when_asked(api: Api, bounds: dict[str, str], dates: str | None) -> None:
    add(api, "Lives in Porto.", **bounds)
    assert rendered(api, "Porto").endswith("1. Lives in Porto.")
    shown = rendered(api, "Porto", dates=True)
    assert (dates in shown) if dates else shown.endswith("1. Lives in Porto.")


def test_a_question_about_then_brings_the_former_value_with_its_end(api: Api) -> None:
    for town, day in (("Lyon", "01-01"), ("Porto", "03-01")):
        heard(api, f"I live in {town}", home(town), day=day)
    shown = rendered(api, "Where did I live before?", dates=True)
    [line] = [line for line in shown.splitlines() if "Lyon" in line]
    assert "1 January 2024" in line
    assert "1 March 2024" in line


@pytest.mark.parametrize(("query", "shown"), [("Who is my employer?", True), ("Tell me of dragons", False)])
def test_the_attribute_that_the_question_names_brings_its_memory(api: Api, query: str, shown: bool) -> None:
    add(api, "Is at Acme", attribute="employer", importance=0)
    for number in range(30):
        add(api, f"Owns book {number}", importance=1)
    assert ("Is at Acme" in rendered(api, query, max_memories=3)) == shown


def test_nothing_outdated_is_recalled_for_a_question_about_now(api: Api) -> None:
    heard(api, "I live in Lyon near the old river", home("Lyon"), day="01-01")
    heard(api, "I work as a baker near the river", found("Works as a baker", attribute="profession"), day="01-02")
    add(api, "Lives in Porto", attribute="home")
    [job] = api.list_memories(user_id="ana", attribute="profession")
    api.end_memory(user_id="ana", memory_id=job.memory_id)
    shown = context(api, "What is near the river?")
    assert "Lyon" not in shown
    assert "baker" not in shown
    then = context(api, "What was near the river before?")
    assert "Lyon" in then
    assert "baker" in then


def test_a_message_is_left_out_only_for_a_memory_that_was_drawn_from_it(api: Api) -> None:
    """The newer message says otherwise, in nearly the same words as the memory."""
    heard(api, "I live in the harbour district of Lyon", found("I live in the harbour district of Lyon"), day="01-01")
    say(api, "I live in the garden district of Porto", thread_id="old", created_at="2024-03-01T10:00:00Z")
    shown = context(api, "In which district do I live?")
    assert "garden district of Porto" in shown
    assert shown.count("harbour district of Lyon") == 1


def test_a_restored_value_is_recalled_again(api: Api) -> None:
    heard(api, "I live in Lyon near the old river", home("Lyon"), day="01-01")
    porto = add(api, "Lives in Porto", attribute="home")
    assert "Lyon" not in context(api, "What is near the river?", thread_id="t2")
    api.delete_memory(user_id="ana", memory_id=porto)
    assert "Lyon" in context(api, "What is near the river?", thread_id="t2")
