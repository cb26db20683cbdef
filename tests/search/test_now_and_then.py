"""Searches for what is true now, and for what was true then."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.kinds.extract_memories.steps import found
from tests.support.protocol import activate, claim, complete, say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F2", "F29")


def add(api: Api, content: str, **arguments: Any) -> UUID:
    stored: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    return stored


def hits(api: Api, query: str, **arguments: Any) -> list[Any]:
    return list(api.search(**{"user_id": "ana", "query": query, "mode": "keyword", **arguments}))


def texts(api: Api, query: str, **arguments: Any) -> list[str]:
    return [hit.content for hit in hits(api, query, **arguments)]


def heard(api: Api, content: str, memory: str, day: str, **fields: Any) -> None:
    """A message of the user, and the memory that a model draws from it."""
    activate(api)
    [seq] = say(api, content, created_at=f"2024-{day}T10:00:00Z")
    api.extract_memories(user_id="ana", thread_id="t1")
    complete(api, claim(api, "extract_memories"), memories=[found(memory, seqs=[seq], **fields)])


# Now ------------------------------------------------------------------------------------------------------------------


def test_the_current_value_comes_first_by_keyword_alone(api: Api) -> None:
    for town, day in (("Lyon", "01-01"), ("Porto", "03-01")):
        heard(api, f"I live in {town} these days", f"Lives in {town}", day, attribute="home", value=town)
    for sources in (["memory"], ["memory", "message"]):
        found_texts = texts(api, "Where do I live?", sources=sources)
        assert found_texts[0] == "Lives in Porto"
        assert not any("Lyon" in text for text in found_texts)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Where do I work?", "Is at Acme"),
        ("Wo arbeite ich?", "Is at Acme"),
        ("Which lucky numbers do I have?", "It is seven"),
        ("What is Joss's employer?", "Joss is at Initech"),
    ],
)
def test_the_attribute_that_a_question_names_finds_what_words_do_not(api: Api, query: str, first: str) -> None:
    add(api, "Is at Acme", attribute="employer")
    add(api, "Joss is at Initech", attribute="employer", subject="brother Joss")
    add(api, "It is seven", attribute="lucky number")
    assert texts(api, query)[:1] == [first]


@pytest.mark.parametrize(
    ("attribute", "subject", "query"),
    [
        ("car", None, "Can you recommend a book?"),
        ("x", None, "Tell me a story"),
        ("car", "daughter Lou", "Was the music loud?"),
        ("employer", None, ".*"),
    ],
)
def test_a_question_that_names_no_attribute_finds_none(
    api: Api, attribute: str, subject: str | None, query: str
) -> None:
    add(api, "Zyx", attribute=attribute, subject=subject)
    assert texts(api, query) == []


def test_the_successor_stands_in_place_of_an_outdated_message(api: Api) -> None:
    heard(api, "I bought a flat in Lyon near the river", "Lives in Lyon", "01-01", attribute="home", value="Lyon")
    add(api, "Lives in Porto", attribute="home", metadata={"value": "Porto"})
    [first, *rest] = hits(api, "flat near the river")
    assert (first.source, first.content, first.details["state"]) == ("memory", "Lives in Porto", "current")
    assert [hit.content for hit in rest] == []


def test_a_message_whose_statement_ended_comes_last(api: Api) -> None:
    heard(api, "I work at Acme as a gardener", "Works at Acme", "01-01", attribute="employer", value="Acme")
    say(api, "Acme is in the news again today, they say", created_at="2024-02-01T10:00:00Z")
    [memory] = api.list_memories(user_id="ana")
    api.end_memory(user_id="ana", memory_id=memory.memory_id)
    assert texts(api, "Acme")[1:] == ["I work at Acme as a gardener"]
    first = hits(api, "Who was my employer before?")[0]
    assert (first.content, first.details["state"]) == ("Works at Acme", "ended")


def test_a_message_that_states_something_else_besides_stays(api: Api) -> None:
    activate(api)
    say(api, "I live in Lyon and keep a parrot", created_at="2024-01-01T10:00:00Z")
    api.extract_memories(user_id="ana", thread_id="t1")
    memories = [found("Lives in Lyon", attribute="home", value="Lyon"), found("Keeps a parrot", attribute="pet")]
    complete(api, claim(api, "extract_memories"), memories=memories)
    add(api, "Lives in Porto", attribute="home")
    assert "I live in Lyon and keep a parrot" in texts(api, "parrot", sources=["message"])


# Then -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["Where did I live before?", "Wo war früher mein Wohnort?"])
def test_a_question_about_then_finds_the_former_value_and_its_end(api: Api, query: str) -> None:
    for town, day in (("Lyon", "01-01"), ("Porto", "03-01")):
        heard(api, f"I live in {town}", f"Lives in {town}", day, attribute="home", value=town)
    first = hits(api, query)[0]
    assert (first.source, first.content, first.details["state"]) == ("memory", "Lives in Lyon", "replaced")
    assert first.details["valid_to"].startswith("2024-03-01T10:00:00")


@pytest.mark.parametrize("reason", ["corrected", "deleted", "expired"])
def test_a_question_about_then_does_not_find_what_was_never_true_or_is_gone(api: Api, reason: str) -> None:
    doctor = add(api, "Sees Dr Adler", attribute="doctor")
    if reason == "corrected":
        api.end_memory(user_id="ana", memory_id=doctor, reason="corrected")
    elif reason == "deleted":
        api.end_memory(user_id="ana", memory_id=doctor)
        api.delete_memory(user_id="ana", memory_id=doctor)
    else:
        api.end_memory(user_id="ana", memory_id=doctor)
        api.query("update memory.memories set expires_at = now() - interval '1 day' returning 1")
    assert texts(api, "Who was my doctor before?") == []


# Spaces and cost ------------------------------------------------------------------------------------------------------


def test_a_search_with_spaces_finds_the_attribute_of_the_user(api: Api) -> None:
    api.create_space(space="team")
    api.grant_space(space="team", user_id="ana", access="write")
    add(api, "Is at Acme", attribute="employer")
    add(api, "The team eats lunch at noon", user_id="space:team")
    assert texts(api, "Where do I work?", spaces=["team"])[:1] == ["Is at Acme"]
