"""A reply ends known memories, and hides facts that contradict others, only where the statement speaks of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.evidence.steps import hear, memory
from tests.kinds.facts import claimed, counts, current, hand_in, know
from tests.support.protocol import age, claim, complete
from tests.support.sqlapi import Api

pytestmark = [pytest.mark.compares_words, pytest.mark.feature("F3", "F6")]
BEES = {"content": "Keeps bees in Wales"}
ACME = {"content": "Is a welder at Acme", "attribute": "employer", "metadata": {"value": "Acme"}}
SAID = "My sister Maya moved to Porto last month."


def replied(api: Api, said: list[str], known: list[dict[str, Any]], **reply: Any) -> tuple[dict[str, Any], set[str]]:
    """The result of an extraction that knows these memories, in this order, and what is current afterwards."""
    user_id = hear(api, said)
    for each in known:
        api.add_memory(user_id=user_id, **each)
    age(api, 1)
    api.extract_memories(user_id=user_id, thread_id="t")
    job = claim(api, "extract_memories", user_id=user_id)
    numbers = {each["content"]: each["number"] for each in job.payload["known"]}
    for entry in reply.get("memories", []):
        entry["replaces"] = [numbers.get(content, content) for content in entry.get("replaces", [])]
    for entry in reply.get("ends", []):
        entry["number"] = numbers[entry["number"]]
    outcome = complete(api, job, **{"memories": [], **reply})
    return outcome, {row.content for row in api.list_memories(user_id=user_id)}


def test_a_statement_replaces_nothing_of_which_it_does_not_speak(api: Api) -> None:
    new = memory("Maya moved to Porto", [0], replaces=[BEES["content"], ACME["content"]])
    outcome, left = replied(api, [SAID], [BEES, ACME], memories=[new])
    assert (outcome["inserted"], outcome["ended"], outcome["refused"]) == (1, 0, 0)
    assert outcome["refusals"] == {"no evidence": 2}
    assert left == {BEES["content"], ACME["content"], "Maya moved to Porto"}


@pytest.mark.parametrize(
    ("said", "known", "new"),
    [
        ("I sold the bees.", BEES, {"content": "Sold everything"}),  # the message has a word of the memory
        ("I left my company.", ACME, {"content": "Left the company"}),  # the message names its attribute
        ("Bosch it is now!", ACME, {"content": "Moved to Bosch", "attribute": "employer", "value": "Bosch"}),
        ("Yes, all of them.", BEES, {"content": "Sold the bees"}),  # the statement has a word, and so has the question
    ],
)
def test_a_statement_ends_what_it_speaks_of(api: Api, said: str, known: dict[str, Any], new: dict[str, Any]) -> None:
    heard = ["Hello!", "a: Did you sell the bees?", said]
    outcome, left = replied(api, heard, [known], memories=[memory(**{"seqs": [2], **new}, replaces=[known["content"]])])
    assert (outcome["ended"], outcome.get("refusals")) == (1, None)
    assert left == {new["content"]}
    outcome, left = replied(api, heard, [known], ends=[{"number": known["content"], "seqs": [2]}])
    assert outcome["ended"] == (0 if said.startswith("Bosch") else 1)


def test_facts_without_a_word_in_common_do_not_contradict_each_other(api: Api) -> None:
    facts = ("Lives in Berlin", "Plays the cello on Fridays")
    know(api, *facts, source="extraction")
    outcome = hand_in(api, claimed(api), (), (facts,))
    assert outcome == counts(kept=2, refused=1) | {"refusals": {"no evidence": 1}}
    assert current(api) == list(facts)


@pytest.mark.parametrize(
    ("older", "newer", "contradicted"),
    [
        ("Lives in Berlin", "Moved out of Berlin", 1),
        ("我住在柏林", "我住在慕尼黑", 1),
        ("Is a vegetarian", "Loves steak", 0),  # only their sense tells what they are about
    ],
)
def test_facts_that_contradict_each_other_have_words_in_common(
    api: Api, older: str, newer: str, contradicted: int
) -> None:
    know(api, older, newer, source="extraction")
    assert hand_in(api, claimed(api), (), ((older, newer),))["contradicted"] == contradicted
