"""Reconciliation of duplicates: which memory stays, and with which text."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.kinds.facts import assert_counter_is_exact, counts, current, know, reconcile, superseded
from tests.kinds.reconcile_memories.pairs import DUPLICATES, LOOK_ALIKES, Pair
from tests.support.sqlapi import Api


@pytest.mark.feature("E10", "E11", "F2")
def test_one_of_several_duplicates_stays_with_the_best_values_of_all(api: Api) -> None:
    know(api, "Likes tea", confidence=0.75, importance=0.75, tags=["b", "a"], valid_from="2024-02-01T00:00:00Z")
    new = {"metadata": {"subject": "User", "x": 1}, "valid_from": "2024-01-01T00:00:00Z"}
    [stays] = know(api, "Likes green tea", confidence=0.5, importance=0.25, tags=["c"], **new)
    assert reconcile(api, (("Likes tea", "Likes green tea"),)) == counts(kept=1, merged=1)
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
@pytest.mark.parametrize("pair", DUPLICATES, ids=lambda pair: pair.newer)
def test_a_fact_that_says_all_of_a_duplicate_takes_its_place(api: Api, pair: Pair) -> None:
    know(api, pair.older, pair.newer, source="extraction", memory_type="fact")
    outcome = counts(kept=1, merged=1) if pair.is_seen else counts(kept=2, refused=1)
    assert reconcile(api, ((pair.older, pair.newer),)) == outcome


@pytest.mark.feature("E10")
@pytest.mark.parametrize("pair", LOOK_ALIKES, ids=lambda pair: pair.newer)
def test_a_fact_that_says_something_else_is_no_duplicate(api: Api, pair: Pair) -> None:
    know(api, pair.older, pair.newer, source="extraction")
    assert reconcile(api, ((pair.older, pair.newer),)) == counts(kept=2, refused=1)
    assert superseded(api) == {}


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        ("Likes tea", "Likes green tea in the morning", 1),
        ("Enjoys tea", "Likes tea", 0),
        ("Lives with Anna, works with Bea", "Works with Anna, lives with Bea", 0),
        ("Owes Anna ten euros", "Anna owes ten euros", 0),
        ("Likes\u00a0tea", "Likes green\u202ftea in\u1680the\ufeff morning", 1),
        ("喜欢喝茶", "早上喜欢喝茶", 1),
    ],
)
def test_a_stated_fact_is_merged_only_into_a_fact_with_its_exact_words(
    api: Api, older: str, newer: str, merged: int
) -> None:
    know(api, older, newer)
    assert reconcile(api, ((older, newer),))["merged"] == merged


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("source", "older", "newer", "stays"),
    [
        ("extraction", "Has two cats called Miso and Pickle", "Owns a pair of cats, Miso and Pickle", "newer"),
        ("extraction", "Likes green tea in the morning", "Likes tea", "older"),  # says all that the newer says
        ("user", "Likes green tea in the morning", "Likes tea", "older"),
        ("user", "I'm a nurse", "I am a nurse", "newer"),
    ],
)
def test_of_two_wordings_the_newer_stays_unless_the_older_says_all_of_it(
    api: Api, source: str, older: str, newer: str, stays: str
) -> None:
    know(api, older, newer, source=source)
    wordings = {"older": older, "newer": newer}
    assert reconcile(api, ((older, newer),)) == counts(kept=1, merged=1)
    assert current(api) == [wordings[stays]]


@pytest.mark.feature("E10", "B8")
def test_chains_and_sets_of_duplicates_become_one_and_others_in_them_stay(api: Api) -> None:
    tea, really, green, morning = "Likes tea", "Really likes tea", "Likes green tea", "Likes green tea in the morning"
    api.set_policy(settings={"memories": {"max_per_agent": 5}})
    know(api, tea, really, "Likes boats", green, morning, source="extraction")
    assert reconcile(api, ((tea, really, "Likes boats", green), (green, morning))) == counts(kept=2, merged=3)
    assert current(api) == ["Likes boats", morning]
    assert superseded(api)[green] == ("duplicate", morning)
    assert_counter_is_exact(api)


@pytest.mark.feature("E10")
def test_a_web_page_that_repeats_a_statement_changes_nothing_about_it(api: Api) -> None:
    [stays] = know(api, "Likes green tea")
    know(api, "Likes tea", source="web", valid_from="2020-01-01T00:00:00Z")
    assert reconcile(api, (("Likes green tea", "Likes tea"),)) == counts(kept=1, merged=1)
    row = api.get_memory(user_id="ana", memory_id=stays)
    assert (row.content, row.valid_from, row.version) == ("Likes green tea", None, 1)


@pytest.mark.feature("E10")
def test_nothing_is_decided_about_long_texts(api: Api) -> None:
    long = "Likes tea " + "and cake " * 250
    know(api, "Likes tea", long)
    assert reconcile(api, (("Likes tea", long),), (("Likes tea", long),)) == counts(kept=2, refused=2)
