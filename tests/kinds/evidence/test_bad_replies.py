"""Nothing of a reply that does not rest on the messages is stored, and no message gives way to a bad summary."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.kinds.evidence.steps import (
    CONVERSATIONS,
    KEEPS_NOTHING,
    active,
    compression,
    extracted,
    extraction,
    memory,
    refusal,
)
from tests.support.protocol import activate, age, claim, complete
from tests.support.sqlapi import Api

pytestmark = pytest.mark.compares_words

TASKS = [
    "This text has been merged with previous summary and the new messages to create a JSON object",
    "A JSON object with the fields content, memory_type, subject, attribute and value",
    "The output is an array of objects, each of which has a property named seqs",
    '{"type": "object", "properties": {"summary": {"type": "string"}}}',
    '```json\n{"memories": []}\n```',
    "I am an AI language model and cannot access earlier data",
    "Here is the list of facts extracted from the dialogue in the requested format",
    "lorem ipsum dolor sit amet consectetur adipiscing elit",
]
FACTS = [
    "The user's son {name} is allergic to nuts",
    "{name} will marry in {place} next summer",
    "The user bought a yellow submarine from {name}",
    "{name} and the user climbed Kilimanjaro together",
    "The password of the intranet is hunter2",
    "The user owes {name} forty thousand dollars",
    "The user collects stamps from {place}",
    "Der Nutzer züchtet Kaninchen mit {name}",
    "Der Nutzer hat {place} noch nie besucht",
    "L'utilisateur vend des tapis à {place}",
    "El usuario vende alfombras en {place}",
    "用户在火星上种土豆",
    "ユーザーは宇宙飛行士である",
]
NAMES = ["Tom", "Zebedee", "Wilhelmina", "Xanthippe", "Mr Oduya", "Kowalczyk"]
PLACES = ["Reykjavík", "Ulaanbaatar", "Ouagadougou-Nord", "Saskatoon", "Wagga Wagga"]


def prompts(api: Api) -> list[str]:
    """The sentences of the built-in prompts of the two kinds of jobs."""
    return [
        sentence.strip("- ")
        for row in api.query(
            "select template from memory.prompts where name in ('extract_memories', 'compress_thread')"
        )
        for sentence in re.split(r"(?<=[.:;])\s+", re.sub(r"\{\{\w+\}\}", "", row.template))
        if len(sentence.split()) >= 8
    ]


def bad_text(chance: random.Random, echoes: list[str], here: dict[str, Any]) -> str:
    """One text as a bad model writes it: about the task, made up, or of another conversation."""
    fact = chance.choice(FACTS).format(name=chance.choice(NAMES), place=chance.choice(PLACES))
    other = chance.choice([row for row in CONVERSATIONS if row is not here])
    text: str = chance.choice([
        chance.choice(TASKS),
        chance.choice(echoes),
        " ".join(chance.sample(echoes, 2)),
        fact,
        f"{fact}. " * chance.randint(3, 20),
        chance.choice(other["memories"])[0],
        other["summary"],
    ])  # fmt: skip
    return text


@pytest.mark.feature("F2", "F6")
@pytest.mark.parametrize(
    ("seed", "rounds"), [(0, 5), *(pytest.param(seed, 25, marks=pytest.mark.nightly) for seed in range(1, 5))]
)
def test_nothing_of_bad_replies_is_stored_and_nothing_is_put_away(api: Api, seed: int, rounds: int) -> None:
    """A thousand replies: extractions of one to five memories, and summaries that would take the place of all."""
    api.set_policy(settings=KEEPS_NOTHING)
    chance = random.Random(seed)
    echoes = prompts(api)
    for _ in range(rounds):
        here = chance.choice(CONVERSATIONS)
        job = compression(api, here["said"])
        length = active(api, job.user_id)
        for _ in range(5):  # a refused summary leaves the lease: the job is tried again
            text = bad_text(chance, echoes, here)
            reason = refusal(api, job, text, metadata={"topics": ["JSON"], "entities": NAMES})
            assert reason.startswith("result: summary is refused ("), text
        assert active(api, job.user_id) == length
        for _ in range(5):
            job = extraction(api, here["said"], known="Repairs harpsichords in Tallinn")
            seqs = list(range(len(here["said"])))[::2]
            bad = [
                memory(bad_text(chance, echoes, here), [chance.choice(seqs)], replaces=[1])
                for _ in range(chance.randint(1, 5))
            ]
            outcome = complete(api, job, memories=bad, ends=[{"number": 1, "seqs": [chance.choice(seqs)]}])
            refused = sum(outcome["refusals"].values())
            assert (outcome["inserted"], outcome["ended"], refused) == (0, 0, len(bad) + 1), bad
    assert api.value("select count(*) from memory.memories where source <> 'user' or superseded_at is not null") == 0
    assert api.value("select count(*) from memory.summaries where summary is not null") == 0


SAID = [
    "Hi, my sister Maya moved to Porto last month and works at Critical Software there.",
    "a: Nice!",
    "She loves it.",
]


BAD = {
    "no evidence": "The user's son Tom is allergic to nuts",
    "another language": "Die Schwester Maya wohnt in Porto und arbeitet bei Critical Software",
    "unknown names": "The user's sister Greta moved to Lisbon and works at Bosch",
    "repeats the prompt": "Take what a message of the user states or confirms, each fact for itself. Maya in Porto",
    "repeats itself": "Maya moved to Porto, 30 adults, " + "30 year-olds, " * 9,
    "no prose": '{"sister": "Maya moved to Porto"}',
    "too long": "Maya moved to Porto. " + "Maya, Porto, Critical Software, sister; " * 20,
}


@pytest.mark.feature("F2", "F6")
def test_each_reason_is_counted_by_its_name(api: Api) -> None:
    bad = [memory(content, [0]) for content in BAD.values()]
    outcome = extracted(api, extraction(api, SAID), memory("Maya moved to Porto", [0]), *bad)
    assert (outcome["inserted"], outcome["refused"], outcome["refusals"]) == (1, len(bad), dict.fromkeys(BAD, 1))


@pytest.mark.feature("F2")
def test_a_value_that_nobody_said_is_left_out_with_its_attribute(api: Api) -> None:
    maya = memory("Maya moved to Porto", [0], subject="sister Maya", attribute="home")
    job = extraction(api, SAID)
    extracted(api, job, {**maya, "value": "Lisbon"}, {**maya, "content": "Maya works in Porto", "value": "Porto"})
    stored = {row.content: row for row in api.list_memories(user_id=job.user_id)}
    left_out = stored["Maya moved to Porto"]
    assert (left_out.attribute, "value" in left_out.metadata) == (None, False)
    assert stored["Maya works in Porto"].attribute == "home"


@pytest.mark.feature("F2")
def test_an_answer_is_understood_by_what_it_answers(api: Api) -> None:
    said = ["Where shall we eat?", "a: Are you allergic to peanuts?", "Yes."]
    assert extracted(api, extraction(api, said), memory("The user is allergic to peanuts", [2]))["inserted"] == 1


@pytest.mark.feature("F6")
def test_models_that_translate_are_not_compared_by_words_but_by_all_else(api: Api) -> None:
    api.set_policy(settings={"models": {"translates": True}})
    german = memory("Die Schwester des Nutzers wohnt in Porto", [0])
    echo = memory("Take what a message of the user states or confirms, each fact for itself", [0])
    outcome = extracted(api, extraction(api, SAID), german, echo)
    assert (outcome["inserted"], outcome["refusals"]) == (1, {"repeats the prompt": 1})


@pytest.mark.feature("D7", "F6")
def test_a_summary_that_says_too_little_puts_no_message_away(api: Api) -> None:
    api.set_policy(settings=KEEPS_NOTHING)
    job = compression(api, [text for row in CONVERSATIONS[:12] for text in row["said"]])
    length = active(api, job.user_id)
    assert "(too short)" in refusal(api, job, "They talked of Porto.")
    assert "(no evidence)" in refusal(api, job, "OK.")
    assert active(api, job.user_id) == length > 30


@pytest.mark.feature("F6", "F7")
def test_refusals_are_in_the_ledger_and_the_doctor_names_them(api: Api) -> None:
    activate(api)
    job = extraction(api, SAID)
    bad = [memory("A JSON object", [0]), memory("The user's son Tom is allergic to nuts", [0]), {"content": 5}]
    calls = [{"tokens_in": 10}, {"tokens_in": 20}]
    complete(api, job, calls, memories=[memory("Maya moved to Porto", [0]), *bad])
    expected = {"malformed": 1, "no evidence": 2}
    assert api.query("select tokens_in, refusals from memory.model_calls order by call_id") == [
        (10, None),
        (20, expected),
    ]
    [usage] = api.query("select refused, refusals from memory.model_usage")
    assert usage == (3, expected)
    [check] = [row for row in api.doctor() if row.check_name == "refused replies"]
    assert check.ok
    assert check.detail.startswith("degraded: ")
    assert "gpt: no evidence 2, malformed 1" in check.detail
    age(api, 8, "model_calls", "called_at")
    [check] = [row for row in api.doctor() if row.check_name == "refused replies"]
    assert check.detail == "nothing of the last week's replies was refused"


@pytest.mark.feature("D7", "F6")
def test_entries_of_lists_that_nobody_said_are_left_out(api: Api) -> None:
    api.set_policy(settings=KEEPS_NOTHING)
    job = compression(api, SAID)
    lists = {
        "topics": ["moving house"],
        "entities": ["Porto", "Bosch", 5],
        "decisions": ["Buy a boat"],
    }
    outcome = complete(api, job, summary="The user's sister Maya moved to Porto.", metadata=lists)
    assert outcome["refusals"] == {"malformed": 1, "no evidence": 2}
    [summary] = api.get_thread_summary(user_id=job.user_id, thread_id="t")
    assert summary.metadata == {"topics": ["moving house"], "entities": ["Porto"], "decisions": []}


@pytest.mark.feature("C14", "F6")
def test_an_article_must_rest_on_its_memories(api: Api) -> None:
    for content in ("Visited Rome with Ana", "Took a train to Rome", "Ate pizza in Rome"):
        api.connection.execute(
            "insert into memory.memories (user_id, memory_type, content, source, created_at)"
            " values ('ana', 'episodic', %s, 'extraction', now() - interval '8 days')",
            [content],
        )
    api.consolidate(user_id="ana")
    bad = {"title": "Purpose", "content": "The goal is to produce valid JSON output", "numbers": [1, 2]}
    good = {"title": "Rome", "content": "A trip to Rome by train, with pizza", "numbers": [2, 3]}
    outcome = complete(api, claim(api, "consolidate"), articles=[bad, good])
    assert (outcome["articles"], outcome["refused"], outcome["refusals"]) == (1, 1, {"no evidence": 1})
    assert [document.title for document in api.list_documents(user_id="ana")] == ["Rome"]
