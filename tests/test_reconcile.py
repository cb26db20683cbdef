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
from protocol import ANA, activate, age, claim, complete, lease, make_due, nothing_to_do, open_jobs, say
from sqlapi import Api, refused, rolled_back

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
def test_duplicates_become_one_memory_with_the_best_of_each(api: Api) -> None:
    old = know(api, "Drinks tea", confidence=0.5, importance=0.75, tags=["b", "a"], valid_from="2024-01-01T00:00:00Z")
    new = know(api, "Tea is nice", confidence=0.75, importance=0.25, tags=["c"], metadata={"subject": "User", "x": 1})
    assert reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"}) == counts(kept=0, merged=2)
    [merged] = api.list_memories(user_id="ana")
    assert (merged.content, merged.confidence, merged.importance) == ("Likes tea", 0.75, 0.75)
    assert merged.tags == ["a", "b", "c"]
    assert merged.metadata.pop("merged_from") in ([str(i) for i in (*old, *new)], [str(i) for i in (*new, *old)])
    assert merged.metadata == {"subject": "User", "x": 1}
    assert api.value("select source from memory.memories where content = 'Likes tea'") == "reconciliation"
    assert superseded(api) == {
        "Drinks tea": ("duplicate", "Likes tea"),
        "Tea is nice": ("duplicate", "Likes tea"),
    }
    assert_counter_is_exact(api)


@pytest.mark.feature("E10", "F2")
def test_a_merged_memory_names_the_messages_of_the_newest(api: Api) -> None:
    for content in ("I drink tea", "I like tea"):
        [seq] = say(api, content)
        api.extract_memories(**ANA)
        complete(
            api, claim(api, "extract_memories"), memories=[{"content": content, "memory_type": "fact", "seqs": [seq]}]
        )
    reconcile(api, {("I drink tea", "I like tea"): "Likes tea"})
    assert api.query("select thread_id, source_seqs from memory.memories where content = 'Likes tea'") == [("t1", [1])]


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize(
    ("text", "given", "winner", "outcome"),
    [
        ("likes   TEA", ("Likes tea", "Tea is nice"), "Likes tea", counts(kept=2, merged=1)),
        ("Owns a boat", ("Likes tea", "Tea is nice"), "Owns a boat", counts(kept=1, merged=2)),
    ],
    ids=["one of them", "a third"],
)
def test_a_merged_text_that_is_known_already_is_not_stored_twice(
    api: Api, text: str, given: Pair, winner: str, outcome: dict[str, int]
) -> None:
    know(api, "Likes tea", "Tea is nice", "Owns a boat")
    before = api.value("select count(*) from memory.memories")
    assert reconcile(api, {given: text}) == outcome
    assert api.value("select count(*) from memory.memories") == before
    assert superseded(api) == {content: ("duplicate", winner) for content in given if content != winner}
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_a_merged_text_is_not_given_up_for_a_memory_that_has_expired(api: Api) -> None:
    [over] = know(api, "Likes tea")
    api.update_memory(user_id="ana", memory_id=over, expires_at="2020-01-01")
    know(api, "Drinks tea", "Tea is nice")
    assert reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"}) == counts(kept=0, merged=2)
    assert current(api) == ["Likes tea"]
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_a_merged_text_is_not_given_up_for_a_memory_about_someone_else(api: Api) -> None:
    know(api, "Likes tea", **about("Anna"))
    know(api, "Drinks tea", "Tea is nice")
    assert reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"}) == counts(kept=3, refused=1)
    assert current(api) == ["Likes tea", "Drinks tea", "Tea is nice"]


@pytest.mark.feature("E10")
def test_facts_about_someone_else_become_one_about_them(api: Api) -> None:
    know(api, "Drinks tea", "Tea is nice", **about("Anna"))
    assert reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"}) == counts(kept=0, merged=2)
    assert [(row.content, row.metadata["subject"]) for row in api.list_memories(user_id="ana")] == [
        ("Likes tea", "Anna")
    ]
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_chained_duplicates_become_one(api: Api) -> None:
    know(api, "a", "b", "c", "d")
    assert reconcile(api, {("a", "b"): "ab", ("b", "c"): "abc"}) == counts(kept=1, merged=3)
    assert current(api) == ["d", "abc"]
    assert superseded(api) == {
        "a": ("duplicate", "ab"),
        "b": ("duplicate", "ab"),
        "ab": ("duplicate", "abc"),
        "c": ("duplicate", "abc"),
    }
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_duplicates_named_twice_are_merged_once(api: Api) -> None:
    know(api, "a", "b")
    job = claimed(api)
    twice = [{"numbers": [1, 2], "content": "ab"}, {"numbers": [2, 1], "content": "ab"}]
    assert complete(api, job, duplicates=twice, contradictions=[{"numbers": [1, 2]}]) == counts(
        kept=0, merged=2, refused=2
    )
    assert current(api) == ["ab"]


@pytest.mark.feature("E10")
def test_a_fact_that_has_ended_can_be_merged(api: Api) -> None:
    know(api, "Lived in Oslo", "Used to live in Oslo", valid_to="2020-01-01")
    assert reconcile(api, {("Lived in Oslo", "Used to live in Oslo"): "Lived in Oslo once"})["merged"] == 2


@pytest.mark.feature("E10", "B8")
def test_merging_at_the_limit_costs_no_other_memory(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 4}})
    know(api, "oldest", "a", "b", "c")
    reconcile(api, {("a", "b"): "ab"})
    assert current(api) == ["oldest", "c", "ab"]
    assert_counter_is_exact(api)


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
@pytest.mark.parametrize("named", ["Lives in Oslo", "Home is Oslo"])
def test_what_contradicts_a_duplicate_contradicts_what_it_became(api: Api, named: str) -> None:
    know(api, "Lives in Oslo", "Home is Oslo", "Lives in Rome")
    outcome = reconcile(api, {("Lives in Oslo", "Home is Oslo"): "Oslo is home"}, ((named, "Lives in Rome"),))
    assert outcome == counts(kept=1, merged=2, contradicted=1)
    assert current(api) == ["Lives in Rome"]


@pytest.mark.feature("E10")
def test_a_fact_that_was_said_again_wins_over_what_was_said_in_between(api: Api) -> None:
    for year, content in (("2020", "Lives in Oslo"), ("2022", "Lives in Rome"), ("2024", "Oslo is home")):
        know(api, content, valid_from=f"{year}-01-01T00:00:00Z")
    reconcile(api, {("Lives in Oslo", "Oslo is home"): "Lives in Oslo again"}, (("Oslo is home", "Lives in Rome"),))
    assert current(api) == ["Lives in Oslo again"]


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
    outcome = reconcile(api, {found: "Tea"}) if section == "duplicates" else reconcile(api, None, (found,))
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
    old, _, other = know(api, "old", "new", "other")
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
    found = ("old", "new")
    outcome = hand_in(api, job, {found: "both"}) if section == "duplicates" else hand_in(api, job, None, (found,))
    assert (outcome["merged"], outcome["contradicted"], outcome["refused"]) == (0, 0, 1)
    assert api.value("select md5(string_agg(m::text, '' order by memory_id)) from memory.memories as m") == before


@pytest.mark.feature("E10")
def test_one_refusal_does_not_stop_the_rest(api: Api) -> None:
    know(api, "a", "b", "c", "d")
    know(api, "x", agent_id="sales")
    outcome = reconcile(api, {("a", "x"): "ax", ("a", "b"): "ab"}, (("d", "x"), ("c", "d")))
    assert outcome == counts(kept=2, merged=2, contradicted=1, refused=2)
    assert current(api) == ["d", "x", "ab"]
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
    ids = know(api, "Drinks tea", "Tea is nice")
    reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"})
    [merged] = api.list_memories(user_id="ana")
    for memory_id in ids:
        api.restore_memory(user_id="ana", memory_id=memory_id)
    api.delete_memory(user_id="ana", memory_id=merged.memory_id)
    assert current(api) == ["Drinks tea", "Tea is nice"]
    assert_counter_is_exact(api)


# What goes with a thread ----------------------------------------------------------------------------------------------


def learn(api: Api, thread_id: str, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted from a thread; their ids."""
    say(api, "Hello", thread_id=thread_id)
    return know(api, *contents, thread_id=thread_id, source="extraction", **arguments)


@pytest.mark.feature("D11", "E10")
@pytest.mark.parametrize(("deleted", "holds_again"), [("t1", "Tea is nice"), ("t2", "Drinks tea")])
def test_what_was_merged_from_the_memories_of_a_thread_goes_with_it(api: Api, deleted: str, holds_again: str) -> None:
    learn(api, "t1", "Drinks tea")
    learn(api, "t2", "Tea is nice")
    reconcile(api, {("Drinks tea", "Tea is nice"): "Likes tea"})
    know(api, "Loves tea")
    reconcile(api, {("Likes tea", "Loves tea"): "Likes tea very much"})
    assert current(api) == ["Likes tea very much"]
    api.delete_thread(user_id="ana", thread_id=deleted)
    assert current(api) == [holds_again, "Loves tea"]
    assert superseded(api) == {}
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
    """Store memories of a week ago."""
    ids = [
        memory_id
        for number, content in enumerate(contents)
        for memory_id in know(api, content, memory_type=("context", "episodic")[number % 2], **arguments)
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
    for agent_id in ("sales", "support"):
        know(worker, *[f"{agent_id} {number}" for number in range(20)], agent_id=agent_id)
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

    with ThreadPoolExecutor(len(clients)) as pool:
        turns = [pool.submit(write, number) for number in range(len(clients))]
        try:
            for turn in range(15):
                job = claimed(worker)
                sales = [fact["number"] for fact in job.payload["facts"] if fact["content"].startswith(("client", "s"))]
                by_group = {fact["number"]: fact["group"] for fact in job.payload["facts"]}
                one, other = next((a, b) for a in sales for b in sales if a < b and by_group[a] == by_group[b])
                complete(
                    worker,
                    job,
                    duplicates=[{"numbers": [one, other], "content": f"merged {turn}"}],
                    contradictions=[{"numbers": [one, sales[-1]]}],
                )
        finally:
            done.set()
        assert sum(future.result() for future in turns) > 15
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
