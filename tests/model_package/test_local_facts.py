"""The built-in provider: which facts it takes for duplicates and for contradictions."""

from __future__ import annotations

import pytest

from tests.support.model_payloads import reconciliation, run


@pytest.mark.feature("E10")
def test_equal_claims_are_duplicates() -> None:
    facts = [
        "I'm a nurse!",
        "I am a  NURSE",
        "I'm not a nurse.",
        "I like tea.",
        "I don't like tea.",
        "I do not like tea",
    ]
    assert run("reconcile_memories", reconciliation(*facts))["duplicates"] == [
        {"numbers": [1, 2]},
        {"numbers": [5, 6]},
    ]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("newer", "older", "contradict"),
    [
        ("I live in Rome.", "I live in Lisbon, near the river.", True),
        ("I live in Rome.", "I live in a small flat.", False),
        ("My name is Ana.", "my name's Bea and I work at Acme.", True),
        ("My favorite color is green.", "My favourite colour is blue.", True),
        ("I've moved to Lisbon.", "I live in Lisbon now.", False),
        ("I moved to dark mode.", "I live in Berlin.", False),
        ("I want to move to Lisbon.", "I live in Berlin.", False),
        ("I work as a teacher.", "I work as a nurse at the clinic.", True),
        ("I now prefer aisle seats.", "I prefer a window seat.", True),
        ("I prefer aisle seats.", "I now prefer window seats.", False),  # only "now" says that something changed
        ("I now prefer planes over trains.", "I prefer trains over planes.", True),
        ("Ich wohne in Rostock.", "J'habite à Lyon.", True),
        ("My sister Ana lives in Rome.", "I live in Lisbon.", False),
        ("My sister Ana lives in Rome.", "My sister Ana lives in Porto.", True),
        ("I used to live in Rome.", "I live in Lisbon.", False),
    ],
)
def test_only_single_values_contradict(newer: str, older: str, contradict: bool) -> None:
    result = run("reconcile_memories", reconciliation(newer, older))
    assert result["contradictions"] == ([{"numbers": [1, 2]}] if contradict else [])


def test_facts_of_other_groups_or_subjects_are_left_alone() -> None:
    payload = reconciliation("I live in Rome.", "I live in Rome.", "I live in Lisbon.", "I live in Lisbon.")
    payload["facts"][1]["group"] = payload["facts"][2]["group"] = 2
    payload["facts"][2]["subject"] = "Anna"
    payload["facts"][3]["subject"] = "Bea"
    result = run("reconcile_memories", payload)
    assert (result["duplicates"], result["contradictions"]) == ([], [])
