"""What the profile of the built-in model keeps longest."""

from __future__ import annotations

import pytest
from agent_memory_models.text.statements import is_lasting

from tests.support.model_payloads import run, user_summary, users


@pytest.mark.feature("E7")
def test_a_profile_keeps_name_work_health_and_documents_longest() -> None:
    lasting = [
        "My name is Ana.",
        "I work at Globex.",
        "I am allergic to peanuts.",
        "My passport expires in May 2027.",
    ]
    fruits = ("apples", "pears", "plums", "figs", "dates", "limes", "kiwis", "grapes", "mangos", "olives")
    sports = ("tennis", "golf", "chess", "judo", "rugby", "darts", "polo", "squash", "boxing", "rowing")
    others = [f"I like {thing}." for thing in fruits + sports]
    lines = run("summarize_user", user_summary(users(*lasting, *others)))["summary"].splitlines()
    assert lines[1:] == [f"- {said}" for said in [*lasting, *others[4:]]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Ich heiße Jonas.", True),
        ("J'ai une allergie aux noix.", True),
        ("Mi pasaporte caduca en mayo.", True),
        ("My sister is allergic to nuts.", False),
        ("I like visas.", False),
        ("I like jazz.", False),
    ],
)
def test_name_work_health_and_documents_last(statement: str, expected: bool) -> None:
    assert is_lasting(statement) == expected
