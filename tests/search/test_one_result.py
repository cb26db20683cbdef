"""A memory and the message that it was drawn from are one result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.search_world import embed, register
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("A12")


def say(api: Api, *contents: str, thread_id: str = "t1") -> None:
    for content in contents:
        api.add_message(user_id="ana", thread_id=thread_id, role="user", content=content)


def draw(api: Api, content: str, *seqs: int, thread_id: str = "t1") -> str:
    """A memory that extraction has drawn from these messages."""
    [row] = api.query(
        """
        insert into memory.memories (user_id, content, thread_id, source_seqs, source)
        values ('ana', %(content)s, %(thread_id)s, %(seqs)s, 'extraction') returning memory_id::text
        """,
        content=content,
        thread_id=thread_id,
        seqs=list(seqs),
    )
    return str(row.memory_id)


def search(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "mode": "keyword", **arguments})
    return found


def parts(result: Any, name: str) -> list[tuple[str, str]]:
    return [(part["id"], part["content"]) for part in result.details.get(name, [])]


def test_the_message_stands_in_the_details_of_a_better_memory(api: Api) -> None:
    say(api, "Hello", "Well, what shall I say, as long as nobody minds, I would have some tea, if there is any")
    memory_id = draw(api, "Likes tea", 1)
    [result] = search(api)
    assert (result.source, result.id) == ("memory", memory_id)
    assert (result.details["source"], result.details["source_seqs"]) == ("extraction", [1])
    [part] = result.details["source_messages"]
    assert part.keys() == {"id", "content", "score", "valid_from"}
    assert part["id"] == "t1/1"
    assert part["content"].startswith("Well, what")
    assert 0 < part["score"] < result.score
    assert "memories" not in result.details


def test_the_memory_stands_in_the_details_of_a_better_message(api: Api) -> None:
    say(api, "Green tea")
    memory_id = draw(api, "The user has said on the phone that tea is fine", 0)
    [result] = search(api, "green tea")
    assert (result.source, result.id) == ("message", "t1/0")
    assert [part[0] for part in parts(result, "memories")] == [memory_id]


def test_freed_places_go_to_the_next_texts(api: Api) -> None:
    for number in range(12):
        say(api, f"I had tea number {number} yesterday")
        draw(api, f"Had tea number {number}", number)
    draw(api, "Owns a cup for tea, a spoon for tea, and a table on which the tea stands", 400)
    everything = search(api, top_k=20)
    assert len(everything) == 13
    assert sum(len(parts(result, name)) for result in everything for name in ("source_messages", "memories")) == 12
    for top_k in (1, 3, 10, 12, 13):
        ids = [result.id for result in search(api, top_k=top_k)]
        assert ids == [result.id for result in everything[:top_k]]


def test_a_memory_of_many_messages_hides_none(api: Api) -> None:
    """It is a summary of them, and what they say is more than what it says."""
    say(api, *(f"{number}: this is about tea, among much else that is said here" for number in range(6)))
    draw(api, "Tea", *range(6))
    assert [result.source for result in search(api)] == ["memory", *["message"] * 6]


def test_equal_wording_is_one_result_without_a_named_source(api: Api) -> None:
    say(api, "I drink  TEA", "I drink tea, too")
    api.add_memory(user_id="ana", content="I drink tea")
    assert len(search(api)) == 2


def test_a_search_of_one_source_shows_it_as_it_is(api: Api) -> None:
    say(api, "I drink tea")
    draw(api, "Drinks tea", 0)
    for source in ("memory", "message"):
        [result] = search(api, sources=[source])
        assert result.source == source
        assert result.details.keys().isdisjoint({"source_messages", "memories"})


@pytest.mark.parametrize("filters", [{"tags_all": ["none"]}, {"memory_types": ["fact"]}])
def test_filters_apply_to_both(api: Api, filters: dict[str, Any]) -> None:
    say(api, "I drink tea")
    draw(api, "Drinks tea", 0)
    assert len(search(api, **filters)) == (0 if "tags_all" in filters else 1)


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_they_are_one_result_by_meaning_too(api: Api, mode: str) -> None:
    say(api, "Ich trinke Tee")
    memory_id = draw(api, "Drinks tea", 0)
    register(api, "three", dimensions=3)
    api.activate_model(name="three")
    embed(api, memory_id, [1, 0, 0])
    embed(api, "t1/0", [4, 3, 0], source="message")
    [result] = search(api, mode=mode, query_embedding="[1,0,0]")
    assert (result.id, parts(result, "source_messages")) == (memory_id, [("t1/0", "Ich trinke Tee")])
    if mode == "vector":
        assert result.score == pytest.approx(1.0)


def test_a_memory_of_another_user_is_not_joined(api: Api) -> None:
    say(api, "I drink tea")
    api.query(
        "insert into memory.memories (user_id, content, thread_id, source_seqs) values ('bob', 'Tea', 't1', '{0}') "
        "returning 1"
    )
    assert [(result.source, len(parts(result, "memories"))) for result in search(api)] == [("message", 0)]
