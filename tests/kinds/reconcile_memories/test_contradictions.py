"""Reconciliation of contradictions: which memory stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import assert_counter_is_exact, counts, current, know, reconcile, superseded
from tests.kinds.reconcile_memories.pairs import CONTRADICTIONS, Pair
from tests.support.sqlapi import Api

OLD, NEW = {"valid_from": "2024-01-01T00:00:00Z"}, {"valid_from": "2024-02-01T00:00:00Z"}


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize(
    ("oslo", "rome", "winner"),
    [
        ({}, {}, "Lives in Rome"),  # stored later
        (NEW, OLD, "Lives in Oslo"),  # true since later
        ({}, OLD, "Lives in Oslo"),
        ({**OLD, "confidence": 1}, {**NEW, "confidence": 0.1}, "Lives in Rome"),
        ({**NEW, "confidence": 0.9}, {**NEW, "confidence": 0.8}, "Lives in Oslo"),
        (NEW, NEW, "Lives in Rome"),
    ],
)
def test_the_newer_fact_wins_then_the_more_confident_one(
    api: Api, oslo: dict[str, Any], rome: dict[str, Any], winner: str
) -> None:
    know(api, "Lives in Oslo", **oslo)
    know(api, "Lives in Rome", **rome)
    assert reconcile(api, (), (("Lives in Oslo", "Lives in Rome"),)) == counts(kept=1, contradicted=1)
    [loser] = {"Lives in Oslo", "Lives in Rome"} - {winner}
    assert current(api) == [winner]
    assert superseded(api) == {loser: ("replaced", winner)}
    assert_counter_is_exact(api)


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize(
    ("contradictions", "stay", "refused"),
    [
        ((("Is 31", "Is 32", "Is 30"),), ["Is 32"], 0),
        ((("Is 31", "Is 32"), ("Is 30", "Is 31")), ["Is 30", "Is 32"], 1),  # what has lost wins no other
        ((("Is 30", "Is 31"), ("Is 31", "Is 32")), ["Is 32"], 0),  # and what has won can lose the next
    ],
)
def test_several_facts_that_contradict_each_other(
    api: Api, contradictions: tuple[tuple[str, ...], ...], stay: list[str], refused: int
) -> None:
    know(api, "Is 30", "Is 31", "Is 32")
    outcome = counts(kept=len(stay), contradicted=3 - len(stay), refused=refused)
    assert reconcile(api, (), contradictions) == outcome
    assert current(api) == stay


@pytest.mark.feature("E10")
@pytest.mark.parametrize("at_once", [True, False])
def test_a_fact_that_was_said_again_wins_over_what_was_said_in_between(api: Api, at_once: bool) -> None:
    again = ("Lives in Oslo, Norway", "Lives in Oslo")
    for year, content in (("2020", again[0]), ("2022", "Lives in Rome"), ("2024", again[1])):
        know(api, content, valid_from=f"{year}-01-01T00:00:00Z")
    contradiction = (again[0], "Lives in Rome")
    reconcile(api, (again,), (contradiction,) if at_once else ())
    if not at_once:
        reconcile(api, (), (contradiction,))
    assert current(api) == [again[0]]
    for year, known in (("2021", []), ("2023", ["Lives in Rome"]), ("2025", [])):
        assert current(api, as_of=f"{year}-01-01T00:00:00Z") == [again[0], *known]


@pytest.mark.feature("E10")
@pytest.mark.parametrize("pair", CONTRADICTIONS, ids=lambda pair: pair.newer)
def test_the_newer_of_contradicting_facts_stays_whatever_their_words(api: Api, pair: Pair) -> None:
    know(api, pair.older, pair.newer, source="extraction")
    assert reconcile(api, (), ((pair.older, pair.newer),)) == counts(kept=1, contradicted=1)
    assert current(api) == [pair.newer]
