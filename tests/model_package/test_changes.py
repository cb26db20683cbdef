"""Facts that change, without a model: subjects, attributes, what a statement replaces, ends or corrects, and when."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from agent_memory_models.text.lists import ATTRIBUTES, STATEMENTS, TIMES
from agent_memory_models.text.phrases import ANY

from tests.support.model_payloads import SAID_AT, Json, extraction, run, users

PAIRS = Path(__file__).parent / "changes"
"""What happens to the first statement (replaced, ended, corrected, or it stays), the statement, and a later one."""


def extracted(*contents: str, known: list[Json] = [], **more: Any) -> Json:  # noqa: B006
    return run("extract_memories", {**extraction(users(*contents)), "known": known, **more})


def holding(*contents: str, known: list[Json] = []) -> list[Json]:  # noqa: B006
    memories: list[Json] = extracted(*contents, known=known)["memories"]
    return [memory for memory in memories if memory["status"] == "holds"]


def known_of(*contents: str) -> list[Json]:
    kept = ("content", "memory_type", "subject", "attribute", "value")
    return [
        {"number": number, "said_at": SAID_AT, **{name: memory.get(name) for name in kept}}
        for number, memory in enumerate(holding(*contents), 1)
    ]


def facts(*contents: str) -> list[tuple[Any, ...]]:
    memories = extracted(*contents)["memories"]
    return [
        (memory["subject"], memory["attribute"], memory["value"], memory["status"])
        for memory in memories
        if memory.get("attribute")
    ]


@pytest.mark.feature("B5")
@pytest.mark.parametrize("language", [path.stem for path in sorted(PAIRS.glob("*.tsv"))])
def test_a_later_statement_changes_what_is_known(language: str) -> None:
    for row in (PAIRS / f"{language}.tsv").read_text().splitlines():
        happens, before, after = row.split("\t")
        known = known_of(before)
        result = extracted(after, known=known)
        new = [memory for memory in result["memories"] if memory["status"] == "holds"]
        gone = [number for memory in new for number in memory.get("replaces", ())]
        gone += [end["number"] for end in result["ends"]]
        assert known, row
        assert bool(gone) == (happens != "stays"), row
        assert new or happens not in ("replaced", "corrected"), row
        if happens == "corrected":
            assert [memory["corrects"] for memory in new if memory["replaces"]] == [True], row


@pytest.mark.parametrize(
    ("contents", "stated"),
    [
        (
            ["My brother Joss lives in Bern.", "Joss has moved to Basel."],
            [("brother Joss", "home", "Bern", "holds"), ("brother Joss", "home", "Basel", "holds")],
        ),
        (
            ["My sister Ana lives in Rome. She works at Fiat."],
            [("sister Ana", "home", "Rome", "holds"), ("sister Ana", "employer", "Fiat", "holds")],
        ),
        (["My daughter's phone number is 555 123."], [("daughter", "phone", "555 123", "holds")]),
        (["My work phone number is 555 123."], [("user", "phone/work", "555 123", "holds")]),
        (["My customer number at Telco is 88213."], [("user", "customer number/Telco", "88213", "holds")]),
        (["I used to live in Rome."], [("user", "home", "Rome", "ended")]),
        (["Als Kind wohnte ich in Ulm."], [("user", "home", "Ulm", "ended")]),
        (["Next month I move to Porto."], [("user", "home", "Porto", "planned")]),
        (["Ich ziehe nächsten Monat nach Porto."], [("user", "home", "Porto", "planned")]),
        (["I'd love to live in Rome. If I lived in Rome, I would be happy."], []),
        (["We're thinking of moving to Porto. Do I live in Porto?"], []),
        (["She said I live in a bubble. My favourite line is 'My name is Cassandor'."], []),
    ],
)
def test_a_statement_has_a_subject_an_attribute_and_a_status(
    contents: list[str], stated: list[tuple[str, ...]]
) -> None:
    assert facts(*contents) == stated


def test_a_subject_that_is_known_is_met_by_its_name() -> None:
    known = known_of("My brother Joss lives in Bern.")
    [memory] = holding("Joss has moved to Basel.", known=known)
    assert (memory["subject"], memory["replaces"]) == ("brother Joss", [1])


@pytest.mark.parametrize(
    ("contents", "content", "value"),
    [
        (["I'm allergic to peanuts.", "No wait, almonds, not peanuts."], "I'm allergic to almonds.", "almonds"),
        (["I'm 43.", "typo, 34"], "I'm 34.", "34"),
        (
            ["My phone number is 555-111.", "Sorry, I gave you the wrong number, it's 555-222."],
            "My phone number is 555-222.",
            "555-222",
        ),
        (["I'm allergic to peanuts.", "Not peanuts but almonds."], "I'm allergic to almonds.", "almonds"),
    ],
)
def test_a_correction_has_the_attribute_of_what_it_corrects(contents: list[str], content: str, value: str) -> None:
    wrong, right = holding(*contents)
    assert (right["content"], right["value"], right["corrects"]) == (content, value, True)
    assert (right["subject"], right["attribute"]) == (wrong["subject"], wrong["attribute"])


@pytest.mark.feature("B5")
@pytest.mark.parametrize(
    ("said", "is_correction"),
    [("No wait, the 30th.", True), ("Wait, the 30th?", False), ("Shall I tell them, or wait until the 30th?", False)],
)
def test_a_question_corrects_nothing(said: str, is_correction: bool) -> None:
    known = [{**row, "said_at": None} for row in known_of("My interview is on the 10th.")]
    assert [memory["replaces"] for memory in holding(said, known=known)] == [[1]] * is_correction


@pytest.mark.feature("B5")
@pytest.mark.parametrize(("days", "is_meant"), [(0, True), (1, True), (2, False), (-40, False)])
def test_a_correction_that_names_no_old_value_is_about_the_last_day(days: int, is_meant: bool) -> None:
    said_at = date.fromisoformat(SAID_AT[:10]) - timedelta(days=days)
    known = [{**row, "said_at": said_at.isoformat()} for row in known_of("I'm allergic to peanuts.")]
    assert [memory["replaces"] for memory in holding("No wait, almonds.", known=known)] == [[1]] * is_meant
    assert [memory["replaces"] for memory in holding("No wait, almonds, not peanuts.", known=known)] == [[1]]


def test_a_denial_ends_what_was_said_before_in_the_same_messages() -> None:
    told = extracted("I play the violin.", "I no longer play the violin.")["memories"]
    assert [(memory["status"], memory["value"], memory["seqs"]) for memory in told] == [
        ("holds", "violin", [0]),
        ("ended", "violin", [1]),
    ]


def test_a_denial_of_what_is_not_known_stays_a_statement() -> None:
    [memory] = holding("I'm not vegan.")
    assert (memory["content"], memory.get("attribute")) == ("I'm not vegan.", None)


def test_an_earlier_time_ends_only_what_is_known_with_this_value() -> None:
    known = known_of("I live in Rome.")
    assert extracted("I used to live in Oslo.", known=known)["ends"] == []
    [end] = extracted("I used to live in Rome.", known=known)["ends"]
    assert (end["number"], end["corrects"]) == (1, False)


@pytest.mark.parametrize(
    ("question", "greetings"),
    [
        ("Come posso cambiare la mia password? Non la trovo più.", ["Buongiorno a tutti", "Certo"]),
        ("¿Cómo puedo cambiar mi contraseña? No la encuentro.", ["¡Buenos días!", "Perfecto"]),
        ("Wie kann ich mein Passwort ändern?", ["Guten Morgen!", "Hallo zusammen"]),
    ],
)
def test_a_greeting_is_nothing(question: str, greetings: list[str]) -> None:
    """The question tells the language of the thread."""
    assert extracted(question, *greetings)["memories"] == []


@pytest.mark.parametrize(
    ("content", "times"),  # said on Wednesday, 1 May 2024: event_time, valid_from, valid_to
    [
        ("I moved to Porto last week.", ("2024-04-22", "2024-04-22", None)),
        ("I moved to Porto yesterday.", ("2024-04-30", "2024-04-30", None)),
        ("I moved to Porto on May 5, 2023.", ("2023-05-05", "2023-05-05", None)),
        ("I moved to Porto in March 2024.", ("2024-03-01", "2024-03-01", None)),
        ("I moved to Porto in March.", ("2024-03-01", "2024-03-01", None)),
        ("I've lived in Porto since last summer.", ("2023-06-01", "2023-06-01", None)),
        ("I've lived in Porto for three years.", (None, "2021-05-01", None)),
        ("I live in Porto until June.", (None, None, "2024-06-30")),
        ("Last year I lived in Porto.", (None, "2023-01-01", "2023-12-31")),
        ("Ich wohne seit Mai 2019 in Porto.", ("2019-05-01", "2019-05-01", None)),
        ("Ich bin vor zwei Jahren nach Porto gezogen.", ("2022-05-01", "2022-05-01", None)),
        ("Me mudé a Porto el 5 de mayo de 2023.", ("2023-05-05", "2023-05-05", None)),
        ("J'ai déménagé à Porto il y a deux ans.", ("2022-05-01", "2022-05-01", None)),
        ("Mudei-me para o Porto na semana passada.", ("2024-04-22", "2024-04-22", None)),
        ("Mi sono trasferita a Porto due anni fa.", ("2022-05-01", "2022-05-01", None)),
        ("Ik woon sinds maart 2019 in Porto.", ("2019-03-01", "2019-03-01", None)),
    ],
)
def test_times_become_an_event_or_a_validity(content: str, times: tuple[str | None, ...]) -> None:
    [memory] = extracted(content)["memories"]
    assert (memory["event_time"], memory["valid_from"], memory["valid_to"]) == times


def test_a_time_that_comes_makes_a_plan() -> None:
    [memory] = extracted("From next month on I work at Globex.")["memories"]
    assert (memory["status"], memory["valid_from"]) == ("planned", "2024-06-01")


@pytest.mark.parametrize("language", sorted(STATEMENTS))
def test_lists_name_known_attributes_and_kinds(language: str) -> None:
    lists = STATEMENTS[language]
    settings = {"words", "subjects", "changes", "between", "dropped", "verbs", "nouns", "kinds", ANY}
    settings |= {"models", "aside", "over"}
    named = {name for name, value in lists.items() if isinstance(value, dict)} - settings
    named |= {name for table in ("models", "aside", "over") for name in lists.get(table, {})}
    assert {name.partition("/")[0] for name in named} <= set(ATTRIBUTES)
    assert set(lists.get("models", {}).values()) <= set(lists["kinds"])
    assert language in TIMES
    assert all(attribute["values"] in ("one", "many") for attribute in ATTRIBUTES.values())
