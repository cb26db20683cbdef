"""The layout of a context: what a provider's cache of prompts can keep comes first and stays."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.context.steps import parts, remember, said
from tests.support.protocol import ANA, claim, complete, say
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("A4", "F31")
BOAT = "The boat is called Marabel and lies in Genoa."


def shared(before: list[Any], after: list[Any]) -> int:
    """How many parts two contexts have in common at their beginning."""
    same = [a[1:3] == b[1:3] for a, b in zip(before, after, strict=False)]
    return (*same, False).index(False)


def asked(context: list[Any]) -> list[Any]:
    return [part for part in context if part.metadata["cache"] == "volatile"]


@pytest.fixture
def everything(api: Api) -> Api:
    """A thread with everything that a context may have."""
    api.set_policy(
        settings={
            "summary": {"enabled": False},
            "cadence": {"fact_extraction_every_n": 0},
            "knowledge_base": {"enable_cross_session_context": True, "search_triggers": ["remind me"]},
        }
    )
    say(api, "We talked about the boat in the harbour.", BOAT, thread_id="t0")
    api.summarize_thread(user_id="ana", thread_id="t0")
    complete(api, claim(api, "summarize_thread"), summary="They talked about the boat.")
    api.summarize_user(user_id="ana")
    complete(api, claim(api, "summarize_user"), summary="Ana sails.")
    say(api, "Be brief.", role="system")
    say(api, *(f"{number} " + "Some words about the weather of today. " * 10 for number in range(30)))
    api.summarize_thread(**ANA)
    complete(api, claim(api, "summarize_thread"), summary="They talked about the weather.")
    remember(api, "Owns a dog")
    say(api, "Remind me of the boat, please: where is Marabel?")
    return api


def test_what_stays_longest_comes_first(everything: Api) -> None:
    context = everything.get_context(**ANA, max_tokens=1500)
    order = [(part.source, part.role, part.metadata["cache"]) for part in context]
    assert order[:5] == [
        ("instructions", "system", "stable"),
        ("user_summary", "system", "stable"),
        ("memories", "system", "stable"),
        ("cross_session", "system", "volatile"),
        ("thread_summary", "system", "thread"),
    ]
    assert set(order[5:-2]) == {("message", "user", "thread")}
    assert order[-2:] == [("recalled", "user", "volatile"), ("message", "user", "thread")]
    assert BOAT in context[-2].content
    everything.set_policy(settings={"context": {"volatile_role": "system"}})
    assert {part.role for part in asked(everything.get_context(**ANA))} == {"system"}


def test_all_that_is_remembered_stands_before_the_thread_on_request(everything: Api) -> None:
    expected = ["message", "memories", "user_summary", "recalled", "cross_session", "thread_summary", "message"]
    context = everything.get_context(**ANA, max_tokens=1500, layout="before")
    assert list(dict.fromkeys(part.source for part in context[1:])) == expected[1:]
    assert {part.role for part in context if part.source != "message"} == {"system"}
    everything.set_policy(settings={"context": {"layout": "before"}})
    assert [part[:5] for part in everything.get_context(**ANA, max_tokens=1500)] == [part[:5] for part in context]
    with refused("layout"):
        everything.get_context(**ANA, layout="after")
    with refused("settings"):
        everything.set_policy(settings={"context": {"layout": "after"}})


def test_a_thread_that_grows_keeps_its_beginning(api: Api) -> None:
    """It moves in steps of about half of what is shown, never by a message a turn."""
    api.set_policy(settings={"context": {"keep_recalled": False}})
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
    say(api, BOAT, thread_id="earlier")
    remember(api, *(f"fact {number}" for number in range(5)))
    before: list[Any] = []
    moved = []
    for turn in range(60):
        about = ("the boat Marabel", "the weather")[turn % 2]
        say(api, f"{turn} What about {about} and all other things that we may talk of on a day like this one?")
        context = api.get_context(**ANA, max_tokens=1000)
        assert context[0].source == "memories"
        assert context[-1].content.startswith(f"{turn} ")
        assert sum(part.token_count for part in context) <= 1000
        lasting = [part for part in context if part.metadata["cache"] != "volatile"]
        if before and shared(before, lasting) < len(before):
            assert shared(before, lasting) == 1  # the memories stay
            moved.append(turn)
        before = lasting
        say(api, f"{turn} That is a long story, and there is much to be said about all of this.", role="assistant")
    steps = [later - earlier for earlier, later in itertools.pairwise(moved)]
    assert len(moved) >= 3
    assert sum(step < 4 for step in steps) <= 1  # where the thread no longer is whole
    assert sum(steps) / len(steps) >= 3.5


def test_standing_memories_stay_whatever_is_asked_and_grow_at_their_end(api: Api) -> None:
    remember(api, "Owns a dog", "Works in Lisbon", importance=0.9)
    blocks = {dict(parts(api, query=query))["memories"] for query in (None, "dog", "Where do I work?", "unheard of")}
    assert len(blocks) == 1
    remember(api, "Plays the cello", importance=1)
    [block] = blocks
    assert dict(parts(api))["memories"] == block.replace("Lisbon", "Lisbon\n3. Plays the cello")


def test_memories_that_do_not_fit_are_shown_where_the_question_asks_for_them(api: Api) -> None:
    remember(
        api, *(f"Has read volume {number} of the long history of the city and its rivers" for number in range(160))
    )
    remember(api, "Owns a parrot called Lorenzo", importance=0)
    say(api, "What is my parrot called?")
    context = api.get_context(**ANA, recall=False)
    assert [(part.source, part.metadata["cache"]) for part in context] == [
        ("memories", "stable"), ("memories", "volatile"), ("message", "thread")
    ]  # fmt: skip
    assert "Lorenzo" not in context[0].content
    assert context[1].content.count("\n1. ") == 1
    assert "\n1. Owns a parrot called Lorenzo\n" in context[1].content
    assert said(context[1])["memories"][0]["relevance"] == 1
    say(api, "Which horse won?")
    assert [part.source for part in api.get_context(**ANA)] == ["memories", "message", "message"]


@pytest.mark.feature("F16")
def test_what_was_asked_for_stays_the_same_while_tools_are_called(api: Api) -> None:
    for number in range(20):
        say(api, f"Boat story number {number}: " + f"and then we sailed on for {number} days " * 5, thread_id="earlier")
    say(api, *(f"{number} Something else. " * 10 for number in range(6)))
    say(api, "Tell me a boat story, and how we sailed on.")
    before = api.get_context(**ANA, max_tokens=3000)
    place = len(before) - 2
    assert before[place].source == "recalled"
    for number in range(16):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        api.add_messages(
            **ANA,
            messages=[
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "content": f"result {number} " + "word " * 60, "tool_call_id": f"c{number}"},
            ],
        )
        context = api.get_context(**ANA, max_tokens=3000)
        assert sum(part.token_count for part in context) <= 3000
        if number < 4:
            assert context[: len(before)] == before
        elif number < 8:  # the thread begins later
            assert [part.content for part in context if part.source == "recalled"] == [before[place].content]
        assert [part.content for part in context].count(before[-1].content) == 1


@pytest.mark.feature("F16")
class TestSilence:
    def test_nothing_is_recalled_where_nothing_near_was_said(self, api: Api) -> None:
        api.register_model(
            name="ada", kind="embedding", provider="openai", model="ada", settings={"nothing_below": 0.2}
        )
        api.activate_model(name="ada")
        api.set_policy(settings={"search": {"embed_messages": True}})
        say(api, "We had tea in the harbour and went home late in the evening.", thread_id="earlier")
        complete(api, claim(api, "embed"), embeddings=[[1, 0]])
        query = {"query": "Which trains to the mountains leave in the evening on a Sunday in June?"}
        far, near = {**query, "query_embedding": "[0.3,1]"}, {**query, "query_embedding": "[1,0.3]"}
        assert asked(api.get_context(**ANA, **far)) == []
        explained = [part.metadata for part in api.get_context(**ANA, **far, explain=True) if part.source == "recalled"]
        assert [left["reason"] for left in explained] == ["nothing near was said"]
        assert len(asked(api.get_context(**ANA, **near))) == 1
        api.set_policy(settings={"context": {"min_relevance": 0}})
        assert len(asked(api.get_context(**ANA, **far))) == 1

    def test_recall_stops_where_it_gets_thin(self, api: Api) -> None:
        say(api, BOAT, thread_id="a")
        say(api, "My sister has a boat as well, and a house by the sea.", thread_id="b")
        query = {"query": "Where does the boat called Marabel lie in Genoa?"}
        [part] = asked(api.get_context(**ANA, **query))
        assert [message["thread_id"] for message in part.metadata["messages"]] == ["a"]
        explained = api.get_context(**ANA, **query, explain=True)
        assert ("recalled", "under the cut") in {(left.source, left.metadata.get("reason")) for left in explained}
        api.set_policy(settings={"context": {"recall_cut": 0}})
        [part] = asked(api.get_context(**ANA, **query))
        assert {message["thread_id"] for message in part.metadata["messages"]} == {"a", "b"}

    def test_a_short_answer_comes_with_its_question(self, api: Api) -> None:
        for number in range(6):
            say(api, f"Which colour has boat {number} in the harbour?", thread_id="old", role="assistant")
            say(api, f"Boat {number}: blue{number}", thread_id="old")
            say(api, *("The weather was fine and we had a long walk by the river." for _ in range(4)), thread_id="old")
        [part] = asked(api.get_context(**ANA, query="Boat 5"))
        lines = part.content.splitlines()
        assert lines[lines.index("user: Boat 5: blue5") - 1] == "assistant: Which colour has boat 5 in the harbour?"


@pytest.mark.feature("B11")
def test_filters_say_which_memories_may_stand_there(api: Api) -> None:
    remember(api, "Owns a dog", tags=["home"])
    remember(api, "Works in Lisbon", tags=["work"], metadata={"by": "hr"})
    remember(api, "Likes tea", memory_type="preference")

    def shown(**filters: Any) -> set[str]:
        blocks = [content for _, content in parts(api, **filters)]
        rendered = api.render_memories(user_id="ana", **filters)
        found = {word for word in ("dog", "Lisbon", "tea") if any(word in block for block in blocks)}
        assert found == {word for word in ("dog", "Lisbon", "tea") if word in rendered}
        return found

    assert shown() == {"dog", "Lisbon", "tea"}
    assert shown(memory_types=["preference"]) == {"tea"}
    assert shown(tags_any=["home", "work"]) == {"dog", "Lisbon"}
    assert shown(exclude_tags=["work"]) == {"dog", "tea"}
    assert shown(filter={"by": "hr"}) == {"Lisbon"}
    assert shown(memory_types=["preference"], tags_any=["home"]) == set()
    with refused("memory_types"):
        api.get_context(**ANA, memory_types=["no such type"])


@pytest.mark.feature("B11", "B12")
def test_a_block_has_twenty_memories_and_on_request_only_those_that_are_relevant(api: Api) -> None:
    remember(api, "Owns a parrot called Lorenzo", *(f"Has read book {number}" for number in range(24)))
    block = api.render_memories(user_id="ana", query="What is the parrot called?", min_relevance=0.3)
    assert block.endswith("**\n1. Owns a parrot called Lorenzo")
    assert api.render_memories(user_id="ana", query="Which horse won?", min_relevance=0.3) == ""
    assert api.render_memories(user_id="ana").splitlines()[-1].startswith("20. ")
