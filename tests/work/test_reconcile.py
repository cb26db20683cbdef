"""Memories that are put in order: reconciliation of facts, and consolidation of old ones into articles."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.model_payloads import run
from tests.support.pairs_of_facts import CONTRADICTIONS, DUPLICATES, LOOK_ALIKES, UNRELATED
from tests.support.pairs_of_facts import Pair as Facts
from tests.support.protocol import ANA, activate, age, claim, complete, lease, make_due, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api, refused, rolled_back

Pair = tuple[str, ...]


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def know(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store facts, the newest last; their ids."""
    return [api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id for content in contents]


def about(subject: str) -> dict[str, Any]:
    return {"metadata": {"subject": subject}}


def current(api: Api, **arguments: Any) -> list[str]:
    """Contents that readers see, oldest first."""
    return [row.content for row in reversed(api.list_memories(**{"user_id": "ana", **arguments}))]


def superseded(api: Api) -> dict[str, tuple[str, str]]:
    """Of each content that gave way the reason and the content that took its place."""
    rows = {row.memory_id: row for row in api.list_memories(user_id="ana", include_superseded=True)}
    return {
        row.content: (row.supersede_reason, rows[row.superseded_by].content)
        for row in rows.values()
        if row.superseded_at is not None
    }


def claimed(api: Api, **arguments: Any) -> Any:
    """A reconciliation on demand."""
    api.reconcile_memories(user_id="ana", **arguments)
    return claim(api, "reconcile_memories")


def numbers(job: Any, contents: Pair) -> list[int]:
    by_content = {fact["content"]: fact["number"] for fact in job.payload["facts"]}
    return [by_content[content] for content in contents]


def hand_in(
    api: Api, job: Any, duplicates: dict[Pair, str] | None = None, contradictions: tuple[Pair, ...] = ()
) -> Any:
    """What a model finds, in contents instead of numbers; the job's result."""
    return complete(
        api,
        job,
        duplicates=[{"numbers": numbers(job, pair), "content": text} for pair, text in (duplicates or {}).items()],
        contradictions=[{"numbers": numbers(job, pair)} for pair in contradictions],
    )


def reconcile(api: Api, duplicates: dict[Pair, str] | None = None, contradictions: tuple[Pair, ...] = ()) -> Any:
    return hand_in(api, claimed(api), duplicates, contradictions)


def counts(kept: int, merged: int = 0, contradicted: int = 0, refused: int = 0) -> dict[str, int]:
    return {"kept": kept, "merged": merged, "contradicted": contradicted, "refused": refused}


def assert_counter_is_exact(api: Api) -> None:
    stored = (
        "select agent_id, count(*) from memory.memories where superseded_at is null and deleted_at is null group by 1"
    )
    counted = "select agent_id, memory_count from memory.memory_scopes where memory_count > 0"
    assert sorted(api.query(counted)) == sorted(api.query(stored))


# What a model is given ------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10")
def test_a_model_sees_the_newest_facts_under_small_numbers_and_no_ids(api: Api) -> None:
    know(
        api, "Likes tea", confidence=0.75, valid_from="2024-05-01T00:00:00Z", memory_type="preference", **about("Anna")
    )
    know(api, "Owns a boat", agent_id="sales")
    know(api, "Said hello", memory_type="episodic")
    ids = know(api, "Lives in Oslo")
    know(api, "Lives in Rome", user_id="bob")
    payload = claimed(api).payload
    newest, _, oldest = payload["facts"]
    assert [(fact["number"], fact["content"], fact["group"]) for fact in payload["facts"]] == [
        (1, "Lives in Oslo", 1),
        (2, "Owns a boat", 2),
        (3, "Likes tea", 1),
    ]
    assert oldest == {
        "number": 3,
        "content": "Likes tea",
        "memory_type": "preference",
        "subject": "anna",
        "confidence": 0.75,
        "known_since": "2024-05-01T00:00:00+00:00",
        "group": 1,
    }
    created_at = api.get_memory(user_id="ana", memory_id=ids[0]).created_at
    assert (newest["subject"], datetime.fromisoformat(newest["known_since"])) == ("user", created_at)
    assert not any(str(row.memory_id) in str(payload) for row in api.query("select memory_id from memory.memories"))


@pytest.mark.feature("E10")
@pytest.mark.parametrize(("asked", "given"), [({}, 50), ({"n": 2}, 2), ({"n": 60}, 60), ({"n": 1000}, 70)])
def test_at_most_n_facts_are_looked_at(api: Api, asked: dict[str, int], given: int) -> None:
    know(api, *[f"fact {number}" for number in range(70)])
    facts = claimed(api, **asked).payload["facts"]
    assert [fact["content"] for fact in facts] == [f"fact {69 - number}" for number in range(given)]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("n", [1, 0, -5, 1001, None])
def test_n_has_bounds(api: Api, n: int | None) -> None:
    with refused("n"):
        api.reconcile_memories(user_id="ana", n=n)


@pytest.mark.feature("E10")
def test_what_is_not_current_is_not_looked_at(api: Api) -> None:
    deleted, over, old, new, _ = know(api, "deleted", "over", "old", "new", "other")
    api.delete_memory(user_id="ana", memory_id=deleted)
    api.update_memory(user_id="ana", memory_id=over, expires_at="2020-01-01")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    assert [fact["content"] for fact in claimed(api).payload["facts"]] == ["other", "new"]


# Duplicates -----------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10", "E11", "F2")
def test_of_duplicates_one_stays_with_the_best_of_each(api: Api) -> None:
    know(api, "Likes tea", confidence=0.75, importance=0.75, tags=["b", "a"], valid_from="2024-02-01T00:00:00Z")
    new = {"metadata": {"subject": "User", "x": 1}, "valid_from": "2024-01-01T00:00:00Z"}
    [stays] = know(api, "Likes green tea", confidence=0.5, importance=0.25, tags=["c"], **new)
    assert reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"}) == counts(kept=1, merged=1)
    [merged] = api.list_memories(user_id="ana")
    assert (merged.memory_id, merged.content, merged.confidence, merged.importance) == (
        stays,
        "Likes green tea",
        0.75,
        0.75,
    )
    assert (merged.tags, merged.metadata) == (["a", "b", "c"], {"subject": "User", "x": 1})
    assert merged.valid_from == datetime.fromisoformat("2024-01-01T00:00:00+00:00")
    assert api.value("select array_agg(distinct source) from memory.memories") == ["user"]
    assert superseded(api) == {"Likes tea": ("duplicate", "Likes green tea")}
    # What it was before is in its history.
    api.restore_memory(user_id="ana", memory_id=stays, version=1)
    [row] = api.list_memories(user_id="ana")
    assert (row.tags, row.confidence, row.importance) == (["c"], 0.5, 0.25)
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_a_duplicate_that_gains_nothing_is_not_changed(api: Api) -> None:
    [stays] = know(api, "Likes green tea")
    know(api, "Likes tea")
    reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"})
    assert api.get_memory(user_id="ana", memory_id=stays).version == 1


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize("text", ["likes   TEA", "Likes tea.", "I like tea", "Likes tea"])
def test_the_text_that_stays_is_named_whatever_its_case_and_punctuation(api: Api, text: str) -> None:
    know(api, "Likes tea", "Loves tea", source="extraction")
    before = api.value("select count(*) from memory.memories")
    is_named = text != "I like tea"
    outcome = counts(kept=1, merged=1) if is_named else counts(kept=2, refused=1)
    assert reconcile(api, {("Likes tea", "Loves tea"): text}) == outcome
    assert api.value("select count(*) from memory.memories") == before
    assert superseded(api) == ({"Loves tea": ("duplicate", "Likes tea")} if is_named else {})
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
@pytest.mark.parametrize("source", ["user", "extraction"])
@pytest.mark.parametrize(
    "text", ["Not allergic to anything", "Allergic", "Likes tea", "☕", "Allergic to nuts and penicillin"]
)
def test_no_sentence_of_a_models_own_is_stored(api: Api, source: str, text: str) -> None:
    know(api, "Allergic to nuts", "Allergic to nuts and shellfish", "Likes tea", source=source)
    before = api.state()["memories"]
    found = ("Allergic to nuts", "Allergic to nuts and shellfish")
    assert reconcile(api, {found: text}) == counts(kept=3, refused=1)
    assert api.state()["memories"] == before


@pytest.mark.feature("E10")
def test_duplicates_about_someone_else_stay_about_them(api: Api) -> None:
    know(api, "Likes tea", "Likes green tea", **about("Anna"))
    assert reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"}) == counts(kept=1, merged=1)
    assert [(row.content, row.metadata) for row in api.list_memories(user_id="ana")] == [
        ("Likes green tea", {"subject": "Anna"})
    ]
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_chained_duplicates_become_one(api: Api) -> None:
    tea, green, morning = "Likes tea", "Likes green tea", "Likes green tea in the morning"
    know(api, tea, green, morning, "Owns a boat")
    assert reconcile(api, {(tea, green): green, (green, morning): morning}) == counts(kept=2, merged=2)
    assert current(api) == [morning, "Owns a boat"]
    assert superseded(api) == {tea: ("duplicate", green), green: ("duplicate", morning)}
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_duplicates_named_twice_are_merged_once(api: Api) -> None:
    know(api, "Likes tea", "Likes green tea")
    job = claimed(api)
    twice = [{"numbers": numbers, "content": "Likes green tea"} for numbers in ([1, 2], [2, 1])]
    assert complete(api, job, duplicates=twice, contradictions=[{"numbers": [1, 2]}]) == counts(
        kept=1, merged=1, refused=2
    )
    assert current(api) == ["Likes green tea"]


@pytest.mark.feature("E10")
def test_of_a_set_those_stay_that_are_no_duplicates(api: Api) -> None:
    know(api, "Likes tea", "Enjoys tea", "Likes boats", "Likes green tea", source="extraction")
    found = ("Likes tea", "Enjoys tea", "Likes boats", "Likes green tea")
    assert reconcile(api, {found: "Likes green tea"}) == counts(kept=2, merged=2, refused=1)
    assert current(api) == ["Likes boats", "Likes green tea"]


@pytest.mark.feature("E10", "B8")
def test_merging_at_the_limit_costs_no_other_memory(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 4}})
    know(api, "oldest", "Likes tea", "Likes green tea", "Owns a boat")
    reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"})
    assert current(api) == ["oldest", "Likes green tea", "Owns a boat"]
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
@pytest.mark.parametrize("pair", DUPLICATES, ids=lambda pair: pair.newer)
def test_what_says_all_of_a_duplicate_takes_its_place(api: Api, pair: Facts) -> None:
    know(api, pair.older, pair.newer, source="extraction", memory_type="fact")
    outcome = counts(kept=1, merged=1) if pair.is_seen else counts(kept=2, refused=1)
    assert reconcile(api, {(pair.older, pair.newer): pair.newer}) == outcome


@pytest.mark.feature("E10")
@pytest.mark.parametrize("source", ["user", "extraction"])
@pytest.mark.parametrize("pair", [*LOOK_ALIKES, *CONTRADICTIONS, *UNRELATED], ids=lambda pair: pair.newer)
def test_what_says_something_else_is_no_duplicate(api: Api, source: str, pair: Facts) -> None:
    know(api, pair.older, pair.newer, source=source)
    given = (pair.older, pair.newer)
    for text in given:
        assert reconcile(api, {given: text}) == counts(kept=2, refused=1)
    assert superseded(api) == {}


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        ("Likes tea", "Likes green tea in the morning", 1),
        ("Likes tea.", "I like tea", 0),  # another form of a word may be another claim
        ("Enjoys tea", "Likes tea", 0),
        ("Lives with Anna, works with Bea", "Works with Anna, lives with Bea", 0),
        ("Owes Anna ten euros", "Anna owes ten euros", 0),
        ("喜欢喝茶", "早上喜欢喝茶", 1),
    ],
)
def test_what_was_stated_gives_way_only_to_its_very_words(api: Api, older: str, newer: str, merged: int) -> None:
    know(api, older, newer)
    assert reconcile(api, {(older, newer): newer})["merged"] == merged


@pytest.mark.feature("E10")
def test_nothing_is_decided_about_long_texts(api: Api) -> None:
    long = "Likes tea " + "and cake " * 250
    know(api, "Likes tea", long)
    assert reconcile(api, {("Likes tea", long): long}, (("Likes tea", long),)) == counts(kept=2, refused=2)


# Contradictions -------------------------------------------------------------------------------------------------------

OLD, NEW = {"valid_from": "2024-01-01T00:00:00Z"}, {"valid_from": "2024-02-01T00:00:00Z"}


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize(
    ("oslo", "rome", "winner"),
    [
        ({}, {}, "Lives in Rome"),  # stored later
        (NEW, OLD, "Lives in Oslo"),  # true since later
        (OLD, NEW, "Lives in Rome"),
        ({}, OLD, "Lives in Oslo"),
        ({**OLD, "confidence": 1}, {**NEW, "confidence": 0.1}, "Lives in Rome"),
        ({**NEW, "confidence": 0.9}, {**NEW, "confidence": 0.8}, "Lives in Oslo"),
        ({**NEW, "confidence": 0.8}, {**NEW, "confidence": 0.9}, "Lives in Rome"),
        (NEW, NEW, "Lives in Rome"),
    ],
)
def test_the_newer_wins_then_the_more_confident(
    api: Api, oslo: dict[str, Any], rome: dict[str, Any], winner: str
) -> None:
    know(api, "Lives in Oslo", **oslo)
    know(api, "Lives in Rome", **rome)
    assert reconcile(api, None, (("Lives in Oslo", "Lives in Rome"),)) == counts(kept=1, contradicted=1)
    [loser] = {"Lives in Oslo", "Lives in Rome"} - {winner}
    assert current(api) == [winner]
    assert superseded(api) == {loser: ("contradict", winner)}
    assert_counter_is_exact(api)


@pytest.mark.feature("E10", "E11")
def test_one_of_several_contradicting_facts_stays(api: Api) -> None:
    know(api, "Is 30", "Is 31", "Is 32", "Has a dog")
    assert reconcile(api, None, (("Is 31", "Is 32", "Is 30"),)) == counts(kept=2, contradicted=2)
    assert current(api) == ["Is 32", "Has a dog"]


@pytest.mark.feature("E10")
def test_who_lost_a_contradiction_wins_no_other(api: Api) -> None:
    know(api, "Is 30", "Is 31", "Is 32")
    assert reconcile(api, None, (("Is 31", "Is 32"), ("Is 30", "Is 31"))) == counts(kept=2, contradicted=1, refused=1)
    assert current(api) == ["Is 30", "Is 32"]


@pytest.mark.feature("E10")
def test_who_won_a_contradiction_can_lose_the_next(api: Api) -> None:
    know(api, "Is 30", "Is 31", "Is 32")
    assert reconcile(api, None, (("Is 30", "Is 31"), ("Is 31", "Is 32"))) == counts(kept=1, contradicted=2)
    assert current(api) == ["Is 32"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("named", ["Lives in Oslo", "Lives in Oslo with Anna"])
def test_what_contradicts_a_duplicate_contradicts_the_one_that_stays(api: Api, named: str) -> None:
    know(api, "Lives in Oslo", "Lives in Oslo with Anna", "Lives in Rome")
    pair = ("Lives in Oslo", "Lives in Oslo with Anna")
    outcome = reconcile(api, {pair: "Lives in Oslo with Anna"}, ((named, "Lives in Rome"),))
    assert outcome == counts(kept=1, merged=1, contradicted=1)
    assert current(api) == ["Lives in Rome"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("at_once", [True, False])
def test_a_fact_that_was_said_again_wins_over_what_was_said_in_between(api: Api, at_once: bool) -> None:
    again = ("Lives in Oslo, Norway", "Lives in Oslo")
    for year, content in (("2020", again[0]), ("2022", "Lives in Rome"), ("2024", again[1])):
        know(api, content, valid_from=f"{year}-01-01T00:00:00Z")
    contradiction = (again[0], "Lives in Rome")
    reconcile(api, {again: again[0]}, (contradiction,) if at_once else ())
    if not at_once:
        reconcile(api, None, (contradiction,))
    assert current(api) == [again[0]]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("source", ["user", "extraction"])
@pytest.mark.parametrize("pair", [*CONTRADICTIONS, *UNRELATED], ids=lambda pair: pair.newer)
def test_contradicting_facts_are_about_the_same_thing(api: Api, source: str, pair: Facts) -> None:
    know(api, pair.older, pair.newer, source=source)
    outcome = counts(kept=1, contradicted=1) if pair.is_seen else counts(kept=2, refused=1)
    assert reconcile(api, None, ((pair.older, pair.newer),)) == outcome
    assert current(api) == ([pair.newer] if pair.is_seen else [pair.older, pair.newer])


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("user_id", "arguments", "others"),
    [
        ("ana", {}, []),
        ("ana@example.com", {}, []),
        ("u1", about("Ana"), []),
        ("u1", {}, [f"Ana has been to town {number}" for number in range(8)]),
    ],
    ids=["the user's id", "an address", "the subject", "a name in every fact"],
)
def test_a_name_alone_makes_no_contradiction(
    api: Api, user_id: str, arguments: dict[str, Any], others: list[str]
) -> None:
    know(api, *others, "Ana is allergic to penicillin", "Ana works at a hospital", user_id=user_id, **arguments)
    api.reconcile_memories(user_id=user_id)
    job = claim(api, "reconcile_memories")
    assert complete(api, job, duplicates=[], contradictions=[{"numbers": [1, 2]}])["refused"] == 1


# What the user stated -------------------------------------------------------------------------------------------------


def extracted(api: Api, content: str, *said: str, role: str = "user", **arguments: Any) -> UUID:
    """The id of a memory that was extracted from what is said now."""
    seqs = say(api, *said, role=role, **arguments)
    api.extract_memories(**ANA)
    found = [{"content": content, "memory_type": "fact", "seqs": seqs}]
    complete(api, claim(api, "extract_memories"), memories=found)
    [row] = [row for row in api.list_memories(user_id="ana") if row.content == content]
    memory_id: UUID = row.memory_id
    return memory_id


def stated_before(api: Api, content: str, **arguments: Any) -> UUID:
    """The id of what was stated an hour ago."""
    [memory_id] = know(api, content, **arguments)
    api.connection.execute("update memory.memories set created_at = created_at - interval '1 hour'")
    return memory_id


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("stated", "content", "said", "gives_way"),
    [
        ("Lives in Berlin", "Lives in Munich", "I moved to Munich last week", True),
        ("Lives in Berlin", "Lives in Munich", "Hello", False),
        ("Lives in Berlin", "Lives in Munich", "Berlin is where I live", False),
        ("Allergic to penicillin", "Not allergic to penicillin", "I am not allergic to penicillin after all", True),
        ("Allergic to penicillin", "Not allergic to penicillin", "Is there penicillin in this?", False),
        ("Allergic to penicillin", "Not allergic to penicillin", "No, thanks", False),
        ("Allergic to penicillin", "Not allergic to anything", "I am not allergic to anything", False),
        ("Is 30 years old", "Is 31 years old", "It is my birthday, I am 31 now", True),
        ("Is 30 years old", "Is 31 years old", "It is my birthday after all these years", False),
    ],
)
def test_what_was_stated_gives_way_to_newer_words_of_the_user(
    api: Api, stated: str, content: str, said: str, gives_way: bool
) -> None:
    stated_before(api, stated)
    extracted(api, content, said)
    outcome = counts(kept=1, contradicted=1) if gives_way else counts(kept=2, refused=1)
    assert reconcile(api, None, ((stated, content),)) == outcome
    assert (stated in current(api)) == (not gives_way)


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    "case", ["older words", "the assistant's", "recalled", "gone", "another thread", "no evidence", "stated for later"]
)
def test_words_that_are_not_the_users_or_not_newer_hide_nothing(api: Api, case: str) -> None:
    said, stated = "I moved to Munich", "Lives in Berlin"
    if case != "older words":
        stated_before(api, stated, **({"valid_from": "2090-01-01"} if case == "stated for later" else {}))
    match case:
        case "recalled":
            memory_id = extracted(api, "Lives in Munich", said, metadata={"x": 1})
            api.connection.execute("""update memory.messages set metadata = '{"recalled": true}'""")
        case "the assistant's":
            memory_id = extracted(api, "Lives in Munich", said, role="assistant")
        case _:
            memory_id = extracted(api, "Lives in Munich", said)
    match case:
        case "older words":
            know(api, stated)
            api.update_memory(user_id="ana", memory_id=memory_id, importance=1)
            api.connection.execute("update memory.memories set valid_from = '2090-01-01' where content ~ 'Munich'")
            api.connection.execute("update memory.messages set created_at = created_at - interval '1 hour'")
        case "gone":
            api.connection.execute("delete from memory.messages")
        case "another thread":
            api.connection.execute("update memory.memories set thread_id = 't2' where source = 'extraction'")
        case "no evidence":
            api.connection.execute("update memory.memories set source_seqs = null")
        case "stated for later":
            api.connection.execute("update memory.memories set valid_from = '2091-01-01' where content ~ 'Munich'")
    assert reconcile(api, None, ((stated, "Lives in Munich"),)) == counts(kept=2, refused=1)
    assert superseded(api) == {}


@pytest.mark.feature("E10")
def test_what_was_stated_gives_way_as_a_duplicate_only_to_what_was_stated(api: Api) -> None:
    stated_before(api, "Likes tea")
    extracted(api, "Likes green tea", "I like green tea")
    pair = ("Likes tea", "Likes green tea")
    assert reconcile(api, {pair: "Likes green tea"}) == counts(kept=2, refused=1)
    know(api, "Likes tea in the morning")
    pair = ("Likes tea", "Likes tea in the morning")
    assert reconcile(api, {pair: "Likes tea in the morning"})["merged"] == 1
    # Nor in steps: what hides a stated memory was stated itself.
    pair = ("Likes tea in the morning", "Likes green tea")
    reconcile(api, None, (pair,))
    assert current(api) == ["Likes tea in the morning"]


@pytest.mark.feature("E10")
def test_an_extracted_memory_whose_text_somebody_changed_counts_as_stated(api: Api) -> None:
    extracted_ids = know(api, "Lives in Bern", "Lives in Munich", source="extraction")
    api.update_memory(user_id="ana", memory_id=extracted_ids[0], importance=1)
    api.update_memory(user_id="ana", memory_id=extracted_ids[0], content="Lives in Berlin")
    assert reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),)) == counts(kept=2, refused=1)


@pytest.mark.feature("E10")
@pytest.mark.parametrize(("source", "is_stated"), [("user", True), ("import", True), ("extraction", False)])
def test_an_extracted_memory_that_somebody_states_counts_as_stated(api: Api, source: str, is_stated: bool) -> None:
    [first, _] = know(api, "Lives in Berlin", "Lives in Munich", source="extraction")
    stored = api.add_memory(user_id="ana", content="lives in  Berlin", source=source)
    assert (stored.memory_id, stored.inserted) == (first, False)
    assert api.value("select is_stated from memory.memories where content ~ 'Berlin'") == is_stated
    assert reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),))["refused"] == is_stated
    assert api.value("select duplicates_skipped from memory.memory_scopes") == 1


@pytest.mark.feature("E10")
def test_the_built_in_model_says_what_may_be_done(api: Api) -> None:
    known = ["I'm a nurse.", "I like tea.", "I live in Lisbon.", "My name is Bea.", "I am 34 years old."]
    known += ["I am a  NURSE!", "I really like tea", "I live in Rome.", "My name's Ana", "I'm 35 years old"]
    know(api, *known)
    job = claimed(api)
    assert complete(api, job, **run("reconcile_memories", job.payload)) == counts(kept=5, merged=2, contradicted=3)
    assert current(api) == known[5:]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("sources", "is_stated"),
    [
        (["extraction", "extraction"], False),
        (["extraction", "user"], True),
        (["extraction", "import"], True),
        ([], True),
    ],
)
def test_what_a_former_version_merged_is_stated_when_one_of_its_sources_was(
    api: Api, sources: list[str], is_stated: bool
) -> None:
    ids = [know(api, f"Home {number}", source=source)[0] for number, source in enumerate(sources)]
    merged = know(api, "Lives in Berlin", source="reconciliation", metadata={"merged_from": [str(i) for i in ids]})
    metadata = {"merged_from": [str(merged[0])]}
    again = know(api, "Lives in Berlin, Germany", source="reconciliation", metadata=metadata)
    know(api, "Lives in Munich", source="extraction")
    for memory_id in (merged[0], again[0]):
        row = "select memory._is_stated(m) from memory.memories as m where memory_id = %(id)s"
        assert api.value(row, id=memory_id) == is_stated
    outcome = reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),))
    assert outcome["contradicted"] == (not is_stated)


@pytest.mark.feature("E10")
def test_every_fact_in_one_set_and_every_number_in_many_sets(api: Api) -> None:
    """What a hostile reply costs depends on the number of facts, not on the length of the reply."""
    facts = [
        f"{word} and things of kind {kind}" for kind, word in enumerate(["Tea", "Boats", "Rome", "Oslo", "Cats"] * 10)
    ]
    know(api, *facts)
    job = claimed(api)
    everything = list(range(1, 51))
    sets = [{"numbers": everything, "content": facts[-1]}] * 50
    before = api.state()["memories"]
    read = api.entries_read(lambda: complete(api, job, duplicates=sets, contradictions=[]))
    assert api.state()["memories"] == before
    assert api.get_job(user_id="ana", job_id=job.job_id).result == counts(kept=50, refused=50)
    assert read < 5000


# Guards ---------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10", "A3")
@pytest.mark.parametrize("section", ["duplicates", "contradictions"])
@pytest.mark.parametrize(
    "other",
    [{"agent_id": "sales"}, about("Anna"), {**about("Anna"), "agent_id": "sales"}],
    ids=["agent", "subject", "agent and subject"],
)
def test_no_fact_gives_way_to_one_of_another_agent_or_subject(api: Api, section: str, other: dict[str, Any]) -> None:
    know(api, "Likes tea")
    know(api, "Hates tea", **other)
    found = ("Likes tea", "Hates tea")
    outcome = reconcile(api, {found: found[0]}) if section == "duplicates" else reconcile(api, None, (found,))
    assert outcome == counts(kept=2, refused=1)
    assert current(api) == ["Likes tea", "Hates tea"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(("one", "other"), [("Anna", " ANNA"), ("", "user"), ("Zoë", "zoë"), (None, "User")])
def test_a_subject_is_the_same_in_any_case(api: Api, one: str | None, other: str) -> None:
    know(api, "Likes tea", metadata={"subject": one})
    know(api, "Hates tea", **about(other))
    assert reconcile(api, None, (("Likes tea", "Hates tea"),))["contradicted"] == 1


MALFORMED: dict[str, Any] = {
    "nothing": {},
    "no contradictions": {"duplicates": []},
    "no duplicates": {"contradictions": []},
    "an object": {"duplicates": {}, "contradictions": []},
    "null": {"duplicates": None, "contradictions": []},
    **{
        name: {"duplicates": [], "contradictions": [{"numbers": [1, 2]}, entry]}
        for name, entry in {
            "a number that is not in the list": {"numbers": [1, 4]},
            "zero": {"numbers": [0, 1]},
            "a negative number": {"numbers": [-1, 1]},
            "half a number": {"numbers": [1, 1.5]},
            "a huge number": {"numbers": [1, 10**400]},
            "a number as text": {"numbers": ["1", "2"]},
            "a null": {"numbers": [1, None]},
            "a list in the list": {"numbers": [[1], [2]]},
            "one number": {"numbers": [1]},
            "one number twice": {"numbers": [1, 1]},
            "one number in two ways": {"numbers": [1, 1.0]},
            "no numbers": {"numbers": []},
            "numbers of a wrong type": {"numbers": "1, 2"},
            "an entry that is a list": [1, 2],
            "an entry that is a number": 1,
            "an entry that is null": None,
        }.items()
    },
    **{
        f"{name} as the merged text": {"duplicates": [{"numbers": [1, 2], "content": text}], "contradictions": []}
        for name, text in {"null": None, "a blank": " \n", "a list": ["x"], "too much": "☕" * 100_000}.items()
    },
}


@pytest.mark.feature("E10", "F6")
@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_reply_is_refused_whole(api: Api, malformed: str) -> None:
    know(api, "a", "b", "c")
    job = claimed(api)
    before = api.state()
    with refused("result"):
        api.complete_job(**lease(job), result=MALFORMED[malformed])
    assert api.state() == before


@pytest.mark.feature("E10")
@pytest.mark.parametrize("section", ["duplicates", "contradictions"])
@pytest.mark.parametrize("meanwhile", ["changed", "deleted", "superseded", "expired", "swept", "deleted and restored"])
def test_what_changed_meanwhile_is_left_alone_and_counted(api: Api, section: str, meanwhile: str) -> None:
    old, _, other = know(api, "old tea", "new tea", "other")
    job = claimed(api)
    match meanwhile:
        case "changed":
            api.update_memory(user_id="ana", memory_id=old, content="changed")
        case "superseded":
            api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=other, reason="newer")
        case "expired" | "swept":
            api.update_memory(user_id="ana", memory_id=old, expires_at="2020-01-01")
        case _:
            api.delete_memory(user_id="ana", memory_id=old)
    if meanwhile == "swept":
        api.sweep()
    elif meanwhile == "deleted and restored":
        api.restore_memory(user_id="ana", memory_id=old)
    before = api.value("select md5(string_agg(m::text, '' order by memory_id)) from memory.memories as m")
    found = ("old tea", "new tea")
    outcome = hand_in(api, job, {found: "new tea"}) if section == "duplicates" else hand_in(api, job, None, (found,))
    assert (outcome["merged"], outcome["contradicted"], outcome["refused"]) == (0, 0, 1)
    assert api.value("select md5(string_agg(m::text, '' order by memory_id)) from memory.memories as m") == before


@pytest.mark.feature("E10")
def test_one_refusal_does_not_stop_the_rest(api: Api) -> None:
    know(api, "Likes tea", "Likes green tea", "Is 30", "Is 31")
    know(api, "Likes blue tea", agent_id="sales")
    duplicates: dict[Pair, str] = {
        ("Likes tea", "Likes blue tea"): "Likes blue tea",
        ("Likes tea", "Likes green tea"): "Likes green tea",
    }
    outcome = reconcile(api, duplicates, (("Is 31", "Likes blue tea"), ("Is 30", "Is 31")))
    assert outcome == counts(kept=3, merged=1, contradicted=1, refused=2)
    assert current(api) == ["Likes green tea", "Is 31", "Likes blue tea"]
    assert_counter_is_exact(api)


# Losers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E11", "F1")
def test_losers_are_hidden_kept_and_restorable(api: Api) -> None:
    oslo, _ = know(api, "Lives in Oslo", "Lives in Rome")
    before = api.value("select clock_timestamp()")
    reconcile(api, None, (("Lives in Oslo", "Lives in Rome"),))
    assert current(api) == ["Lives in Rome"]
    assert current(api, include_superseded=True) == ["Lives in Oslo", "Lives in Rome"]
    assert current(api, as_of=before) == ["Lives in Oslo", "Lives in Rome"]
    assert [hit.content for hit in api.search(user_id="ana", query="lives")] == ["Lives in Rome"]
    hits = api.search(user_id="ana", query="lives", include_superseded=True)
    assert {hit.content for hit in hits} == {"Lives in Oslo", "Lives in Rome"}
    loser = api.get_memory(user_id="ana", memory_id=oslo)
    assert (loser.supersede_reason, loser.superseded_at >= before) == ("contradict", True)
    api.restore_memory(user_id="ana", memory_id=oslo)
    assert current(api) == ["Lives in Oslo", "Lives in Rome"]
    assert_counter_is_exact(api)


@pytest.mark.feature("E11")
def test_duplicates_can_be_taken_apart_again(api: Api) -> None:
    tea, _ = know(api, "Likes tea", "Likes green tea")
    reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"})
    api.restore_memory(user_id="ana", memory_id=tea)
    assert current(api) == ["Likes tea", "Likes green tea"]
    assert_counter_is_exact(api)


@pytest.mark.feature("E11")
@pytest.mark.parametrize("reason", ["duplicate", "contradict"])
def test_a_loser_holds_again_when_the_winner_goes(api: Api, reason: str) -> None:
    oldest, older, newest = "Likes tea in Oslo", "Likes green tea in Oslo", "Likes green tea in Oslo daily"
    *_, winner = know(api, oldest, older, newest)
    if reason == "duplicate":
        reconcile(api, {(oldest, older): older, (older, newest): newest})
    else:
        reconcile(api, None, ((oldest, older), (older, newest)))
    assert current(api) == [newest]
    api.delete_memory(user_id="ana", memory_id=winner)
    assert current(api) == [older]
    api.restore_memory(user_id="ana", memory_id=winner)
    assert current(api) == [newest]
    assert_counter_is_exact(api)


# What goes with a thread ----------------------------------------------------------------------------------------------


def learn(api: Api, thread_id: str, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted from a thread; their ids."""
    say(api, "Hello", thread_id=thread_id)
    return know(api, *contents, thread_id=thread_id, source="extraction", **arguments)


@pytest.mark.feature("D11", "E10")
@pytest.mark.parametrize(
    ("deleted", "left"), [("t1", ["Likes green tea"]), ("t2", ["Likes tea"])], ids=["the loser's", "the winner's"]
)
def test_a_duplicate_holds_again_when_the_thread_of_the_other_one_is_deleted(
    api: Api, deleted: str, left: list[str]
) -> None:
    learn(api, "t1", "Likes tea")
    learn(api, "t2", "Likes green tea")
    reconcile(api, {("Likes tea", "Likes green tea"): "Likes green tea"})
    api.delete_thread(user_id="ana", thread_id=deleted)
    assert current(api, include_superseded=True) == left
    assert_counter_is_exact(api)


@pytest.mark.feature("D11", "E10")
def test_what_a_former_version_merged_from_the_memories_of_a_thread_goes_with_it(api: Api) -> None:
    [old] = learn(api, "t1", "Drinks tea")
    [new] = learn(api, "t2", "Tea is nice")
    metadata = {"merged_from": [str(old), str(new)]}
    [merged] = know(api, "Likes tea", source="reconciliation", thread_id="t2", metadata=metadata)
    for memory_id in (old, new):
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=merged, reason="duplicate")
    api.delete_thread(user_id="ana", thread_id="t1")
    assert current(api) == ["Tea is nice"]
    assert_counter_is_exact(api)


@pytest.mark.feature("D11", "C14")
def test_an_article_made_of_the_memories_of_a_thread_goes_with_it(api: Api) -> None:
    learn(api, "t1", "Was in Oslo")
    short_term(api, "Was in Rome", "Was in Porto", "Had tea", "Had coffee")
    api.connection.execute("update memory.memories set memory_type = 'episodic'")
    consolidated(
        api,
        ("Travels", "...", ("Was in Oslo", "Was in Rome", "Was in Porto")),
        ("Drinks", "...", ("Had tea", "Had coffee")),
    )
    assert current(api) == []
    api.delete_thread(**ANA)
    assert [row.title for row in api.list_documents(user_id="ana")] == ["Drinks"]
    assert current(api) == ["Was in Rome", "Was in Porto"]
    assert_counter_is_exact(api)


@pytest.mark.feature("D11", "E11")
@pytest.mark.parametrize("stored_again", [True, False])
def test_what_gave_way_to_the_memories_of_a_thread_holds_again_once(api: Api, stored_again: bool) -> None:
    moved = learn(api, "t1", "Lives in Rome", "Lives in Porto")
    for new in moved:
        [old] = learn(api, "t2", "Lives in Oslo")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    if stored_again:
        [old] = know(api, "Lives in Oslo")
    api.delete_thread(**ANA)
    assert [(row.memory_id, row.content) for row in api.list_memories(user_id="ana")] == [(old, "Lives in Oslo")]
    assert_counter_is_exact(api)


# When -----------------------------------------------------------------------------------------------------------------


def extract(api: Api, *contents: str) -> None:
    """One extraction that finds these facts."""
    [seq] = say(api, "Hello")
    api.extract_memories(**ANA)
    found = [{"content": content, "memory_type": "fact", "seqs": [seq]} for content in contents]
    complete(api, claim(api, "extract_memories"), memories=found)


@pytest.mark.feature("E13")
@pytest.mark.parametrize(
    ("cadence", "expected"),
    [({}, [5, 10]), ({"reconcile_every_n": 3}, [3, 6, 9, 12]), ({"reconcile_every_n": 0}, [])],
    ids=str,
)
def test_facts_are_reconciled_with_every_fifth_extraction(
    api: Api, cadence: dict[str, int], expected: list[int]
) -> None:
    api.set_policy(settings={"cadence": cadence})
    seen = []
    for number in range(1, 13):
        extract(api, f"fact {number}")
        for job in api.claim_jobs(worker="test", kinds=["reconcile_memories"]):
            seen.append(number)
            complete(api, job, duplicates=[], contradictions=[])
    assert seen == expected


@pytest.mark.feature("E13")
def test_the_extractions_of_all_threads_of_a_user_count(api: Api) -> None:
    for number in range(5):
        say(api, "Hello", thread_id=f"t{number}")
        api.extract_memories(user_id="ana", thread_id=f"t{number}")
        complete(api, claim(api, "extract_memories"), memories=[])
        assert ("reconcile_memories" in open_jobs(api)) == (number == 4)


@pytest.mark.feature("E10", "E15")
def test_automatic_reconciliation_with_nothing_new_asks_no_model_and_on_demand_always(api: Api) -> None:
    api.set_policy(settings={"cadence": {"reconcile_every_n": 1}})
    extract(api, "a", "b")
    hand_in(api, claim(api, "reconcile_memories"))
    extract(api)
    assert nothing_to_do(api, "reconcile_memories")
    extract(api, "A")
    assert nothing_to_do(api, "reconcile_memories")
    assert len(claimed(api).payload["facts"]) == 2
    api.connection.execute("update memory.jobs set lease_expires_at = now() where status = 'running'")
    assert len(claim(api, "reconcile_memories").payload["facts"]) == 2
    extract(api, "c")


@pytest.mark.feature("E10")
@pytest.mark.parametrize("facts", [0, 1])
def test_fewer_than_two_facts_need_no_model(api: Api, facts: int) -> None:
    know(api, *["only"] * facts)
    job_id = api.reconcile_memories(user_id="ana")
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}


@pytest.mark.feature("E10", "E15")
def test_two_requests_are_one_job_of_the_wider_kind(api: Api) -> None:
    know(api, *[f"fact {number}" for number in range(9)])
    assert len({api.reconcile_memories(user_id="ana", n=n) for n in (3, 7, 5)}) == 1
    assert len(claim(api).payload["facts"]) == 7


@pytest.mark.feature("E10", "E15")
def test_a_request_for_a_few_facts_does_not_narrow_an_automatic_reconciliation(api: Api) -> None:
    api.set_policy(settings={"cadence": {"reconcile_every_n": 1}})
    extract(api, *[f"fact {number}" for number in range(9)])
    api.reconcile_memories(user_id="ana", n=2)
    assert len(claim(api, "reconcile_memories").payload["facts"]) == 9


@pytest.mark.feature("E10", "E13")
@pytest.mark.parametrize(("n", "is_due"), [(2, True), (49, True), (50, False)])
def test_a_look_at_a_few_facts_does_not_take_the_place_of_the_automatic_one(api: Api, n: int, is_due: bool) -> None:
    api.set_policy(settings={"cadence": {"reconcile_every_n": 1}})
    know(api, *[f"fact {number}" for number in range(9)])
    hand_in(api, claimed(api, n=n))
    extract(api)
    assert nothing_to_do(api, "reconcile_memories") != is_due


# Consolidation --------------------------------------------------------------------------------------------------------


def short_term(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted a week ago."""
    ids = [
        memory_id
        for number, content in enumerate(contents)
        for memory_id in know(
            api, content, memory_type=("context", "episodic")[number % 2], **{"source": "extraction", **arguments}
        )
    ]
    age(api, days=8)
    return ids


def consolidated(api: Api, *articles: tuple[str, str, Pair], job: Any = None) -> Any:
    """Consolidate on demand into articles of a title, a text and the contents of their memories; the job's result."""
    if job is None:
        api.consolidate(user_id="ana")
        job = claim(api, "consolidate")
    by_content = {memory["content"]: memory["number"] for memory in job.payload["memories"]}
    entries = [
        {"title": title, "content": text, "numbers": [by_content[content] for content in contents]}
        for title, text, contents in articles
    ]
    return complete(api, job, articles=entries)


@pytest.mark.feature("C14")
def test_a_model_sees_old_short_term_memories_oldest_first_and_no_ids(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat", "Painted the boat")
    know(api, "Sailed to Rome", memory_type="episodic")
    know(api, "Owns a boat")
    api.consolidate(user_id="ana")
    payload = claim(api).payload
    assert [(m["number"], m["content"], m["memory_type"]) for m in payload["memories"]] == [
        (1, "Is looking for a boat", "context"),
        (2, "Bought a boat", "episodic"),
        (3, "Painted the boat", "context"),
    ]
    assert not any(str(memory_id) in str(payload) for memory_id in ids)


@pytest.mark.feature("C14", "F2")
def test_an_article_names_its_sources_and_takes_their_place(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat", "Rain")
    text = "Ana looked for a boat ☕ and bought one."
    outcome = consolidated(api, ("The boat", text, ("Bought a boat", "Is looking for a boat")))
    assert outcome == {"articles": 1, "consolidated": 2, "refused": 0}
    [article] = api.list_documents(user_id="ana", namespace="memories", doc_type="article")
    assert (article.title, article.content) == ("The boat", text)
    assert sorted(article.metadata["memory_ids"]) == sorted(map(str, ids[:2]))
    assert current(api) == ["Rain"]
    for memory_id in ids[:2]:
        source = api.get_memory(user_id="ana", memory_id=memory_id)
        assert (source.supersede_reason, source.superseded_by) == ("consolidated", article.document_id)
    [hit] = api.search(user_id="ana", query="boat")
    assert (hit.source, hit.id) == ("document", str(article.document_id))
    assert_counter_is_exact(api)


@pytest.mark.feature("C14")
def test_an_article_hides_nothing_that_was_stated(api: Api) -> None:
    short_term(api, "Allergic to penicillin", source="user")
    short_term(api, "Is travelling in May", "Has a fever")
    found = ("Allergic to penicillin", "Is travelling in May")
    assert consolidated(api, ("Health", "Not allergic to anything.", found)) == {
        "articles": 1,
        "consolidated": 1,
        "refused": 0,
    }
    assert current(api) == ["Allergic to penicillin", "Has a fever"]
    assert_counter_is_exact(api)
    # Nor is a second article made of it, unless the first one is gone.
    api.consolidate(user_id="ana")
    assert nothing_to_do(api)
    api.delete_document(user_id="ana", document_id=api.list_documents(user_id="ana")[0].document_id)
    api.consolidate(user_id="ana")
    assert "Allergic to penicillin" in [memory["content"] for memory in claim(api).payload["memories"]]


@pytest.mark.feature("C14", "E11")
def test_the_sources_of_an_article_can_be_restored(api: Api) -> None:
    ids = short_term(api, "a", "b")
    consolidated(api, ("ab", "a and b", ("a", "b")))
    assert current(api, include_superseded=True) == ["a", "b"]
    api.restore_memory(user_id="ana", memory_id=ids[0])
    assert current(api) == ["a"]
    assert_counter_is_exact(api)


@pytest.mark.feature("C14")
def test_a_memory_goes_into_one_article(api: Api) -> None:
    short_term(api, "a", "b", "c")
    outcome = consolidated(api, ("ab", "a and b", ("a", "b")), ("bc", "b and c", ("b", "c")))
    assert outcome == {"articles": 1, "consolidated": 2, "refused": 1}
    assert current(api) == ["c"]


@pytest.mark.feature("C14")
@pytest.mark.parametrize("meanwhile", ["changed", "deleted"])
def test_an_article_of_what_changed_meanwhile_is_refused_and_counted(api: Api, meanwhile: str) -> None:
    ids = short_term(api, "a", "b")
    api.consolidate(user_id="ana")
    job = claim(api)
    if meanwhile == "changed":
        api.update_memory(user_id="ana", memory_id=ids[0], content="changed")
    else:
        api.delete_memory(user_id="ana", memory_id=ids[0])
    outcome = consolidated(api, ("ab", "a and b", ("a", "b")), job=job)
    assert outcome == {"articles": 0, "consolidated": 0, "refused": 1}
    assert api.list_documents(user_id="ana") == []
    assert "b" in current(api)


ARTICLE = {"title": "ab", "content": "a and b", "numbers": [1, 2]}


@pytest.mark.feature("C14", "F6")
@pytest.mark.parametrize(
    "article",
    [
        "ab",
        None,
        {**ARTICLE, "title": None},
        {**ARTICLE, "title": " "},
        {**ARTICLE, "title": "☕" * 400},
        {**ARTICLE, "content": ""},
        {**ARTICLE, "content": "☕" * 100_000},
        {**ARTICLE, "numbers": [1]},
        {**ARTICLE, "numbers": [1, 1.0]},
        {**ARTICLE, "numbers": [1, 9]},
        {**ARTICLE, "numbers": None},
        {"title": "ab", "content": "a and b"},
    ],
    ids=lambda article: str(article)[:60],
)
def test_a_malformed_article_makes_the_whole_reply_refused(api: Api, article: Any) -> None:
    short_term(api, "a", "b")
    api.consolidate(user_id="ana")
    job = claim(api)
    before = api.state()
    for result in ({"articles": [ARTICLE, article]}, {"articles": article}, {}):
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("C14")
def test_articles_of_one_agents_memories_say_whose_they_are(api: Api) -> None:
    short_term(api, "a", "b", agent_id="sales")
    short_term(api, "c", agent_id="support")
    consolidated(api, ("abc", "a, b and c", ("a", "b", "c")))
    assert api.value("select agent_ids from memory.documents") == ["sales", "support"]
    assert_counter_is_exact(api)


@pytest.mark.feature("C14")
def test_a_sweep_queues_consolidation_when_ten_memories_are_a_week_old(api: Api) -> None:
    short_term(api, *[f"memory {number}" for number in range(9)])
    know(api, *[f"young {number}" for number in range(9)], memory_type="context")
    assert (api.sweep()["queued"], open_jobs(api)) == (0, [])
    short_term(api, "memory 9", user_id="ana")
    assert (api.sweep()["queued"], open_jobs(api)) == (1, ["consolidate"])
    assert (api.sweep()["queued"], open_jobs(api)) == (0, ["consolidate"])


@pytest.mark.feature("C14")
def test_what_was_looked_at_does_not_queue_consolidation_again(api: Api) -> None:
    short_term(api, *[f"memory {number}" for number in range(12)])
    api.sweep()
    consolidated(api, job=claim(api))
    assert (api.sweep()["queued"], open_jobs(api)) == (0, [])
    for number in range(10):
        assert api.sweep()["queued"] == 0
        moment = api.value("select max(created_at) + interval '1 second' from memory.memories")
        api.connection.execute(
            "insert into memory.memories (user_id, content, memory_type, created_at) values ('ana', %s, 'context', %s)",
            [f"later {number}", moment],
        )
    assert api.sweep()["queued"] == 1
    assert len(claim(api).payload["memories"]) == 22


@pytest.mark.feature("C14")
def test_memories_that_belong_nowhere_do_not_hide_the_newer_ones(api: Api) -> None:
    short_term(api, *[f"odd {number}" for number in range(120)])
    seen: set[str] = set()
    for turn in range(3):
        know(api, *[f"{turn} new {number}" for number in range(10)], memory_type="context")
        api.connection.execute(
            "update memory.memories set created_at = now() - interval '8 days' + %s * interval '1 hour' "
            "where content like %s",
            [turn + 1, f"{turn} new%"],
        )
        if api.sweep()["queued"]:
            job = claim(api, "consolidate")
            seen |= {memory["content"] for memory in job.payload["memories"]}
            consolidated(api, job=job)
    assert {f"{turn} new {number}" for turn in range(3) for number in range(10)} <= seen


@pytest.mark.feature("C14")
@pytest.mark.parametrize("memories", [0, 1])
def test_fewer_than_two_old_memories_need_no_model(api: Api, memories: int) -> None:
    short_term(api, *["only"] * memories)
    job_id = api.consolidate(user_id="ana")
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}


# Many at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10", "E14")
def test_reconciling_while_clients_write_loses_nothing(connect: Callable[..., psycopg.Connection]) -> None:
    worker, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    done = threading.Event()

    def write(number: int) -> int:
        turns = 0
        while not done.is_set():
            agent_id = ("sales", "support")[(number + turns) % 2]
            [memory_id] = know(clients[number], f"client {number} turn {turns}", agent_id=agent_id)
            clients[number].update_memory(user_id="ana", memory_id=memory_id, importance=0.75)
            if turns % 3 == 0:
                clients[number].delete_memory(user_id="ana", memory_id=memory_id)
            turns += 1
        return turns

    merged = contradicted = 0
    with ThreadPoolExecutor(len(clients)) as pool:
        turns = [pool.submit(write, number) for number in range(len(clients))]
        try:
            for turn in range(15):
                facts = (f"Likes tea {turn}", f"Likes tea {turn} times", f"Likes tea {turn + 1000} times")
                know(worker, *facts, agent_id=("sales", "support")[turn % 2])
                job = claimed(worker, n=1000)
                outcome = hand_in(worker, job, {facts[:2]: facts[1]}, (facts[1:],))
                merged += outcome["merged"]
                contradicted += outcome["contradicted"]
        finally:
            done.set()
        assert sum(future.result() for future in turns) > 15
    assert (merged, contradicted) == (15, 15)
    assert_counter_is_exact(worker)


@pytest.mark.feature("F6")
def test_a_job_of_a_provider_carries_its_prompt_and_one_of_the_built_in_model_none(api: Api) -> None:
    know(api, "a", "b")
    job = claimed(api)
    assert job.payload["prompt"] is None
    api.release_job(**lease(job))
    make_due(api)
    activate(api)
    assert claim(api).payload["prompt"]["name"] == "reconcile_memories"
