"""Reconciliation of contradictions: which memory stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import about, assert_counter_is_exact, counts, current, know, reconcile, superseded
from tests.support.pairs_of_facts import CONTRADICTIONS, UNRELATED
from tests.support.pairs_of_facts import Pair as Facts
from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api

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
def test_the_newer_fact_wins_then_the_more_confident_one(
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
def test_a_fact_that_lost_a_contradiction_wins_no_other(api: Api) -> None:
    know(api, "Is 30", "Is 31", "Is 32")
    assert reconcile(api, None, (("Is 31", "Is 32"), ("Is 30", "Is 31"))) == counts(kept=2, contradicted=1, refused=1)
    assert current(api) == ["Is 30", "Is 32"]


@pytest.mark.feature("E10")
def test_a_fact_that_won_a_contradiction_can_lose_the_next(api: Api) -> None:
    know(api, "Is 30", "Is 31", "Is 32")
    assert reconcile(api, None, (("Is 30", "Is 31"), ("Is 31", "Is 32"))) == counts(kept=1, contradicted=2)
    assert current(api) == ["Is 32"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("named", ["Lives in Oslo", "Lives in Oslo with Anna"])
def test_a_fact_that_contradicts_a_duplicate_contradicts_the_one_that_stays(api: Api, named: str) -> None:
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
