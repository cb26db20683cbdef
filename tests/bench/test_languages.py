"""The benchmark's set of languages: the same rows in each, at the same places, and figures by language."""

from __future__ import annotations

import pytest

from bench.quality import languages
from bench.quality.evidence import ALL, Finding


@pytest.mark.parametrize("language", languages.LANGUAGES)
def test_each_language_has_the_rows_of_english(language: str) -> None:
    def shape(row: list[str]) -> tuple[int, list[str]]:
        return len(row), [said[:3] for said in row[: max(1, len(row) - 1)]]

    rows = languages.rows(language)
    assert [shape(row) for row in rows] == [shape(row) for row in languages.rows(languages.ENGLISH)]
    texts = [text for row in rows for text in row]
    assert len(set(texts)) == len(texts)
    assert all(text == text.strip() and text for text in texts)


def test_a_question_has_its_evidence_at_the_same_place_in_each_language() -> None:
    made = languages.samples()
    assert [sample["sample_id"] for sample in made] == list(languages.USERS)
    places = [[asked["evidence"] for asked in sample["qa"]] for sample in made]
    assert all(each == places[0] for each in places)
    assert all(
        len([name for name in sample["conversation"] if name.startswith("session_")]) == 2 * languages.THREADS
        for sample in made
    )


def test_the_evidence_is_what_was_said_in_the_language_of_the_question() -> None:
    answers = {
        row[-1]: {said.split(": ", 1)[1] for said in row[:-1]}
        for language in languages.LANGUAGES
        for row in languages.rows(language)
        if len(row) > 1
    }
    for sample in languages.samples():
        said = {
            turn["dia_id"]: turn["text"]
            for turns in sample["conversation"].values()
            if isinstance(turns, list)
            for turn in turns
        }
        for asked in sample["qa"]:
            assert {said[turn] for turn in asked["evidence"]} == answers[asked["question"]]


def test_threads_of_the_mixed_user_have_several_languages() -> None:
    language_of = {
        said.split(": ", 1)[1]: language
        for language in languages.LANGUAGES
        for row in languages.rows(language)
        for said in row[: max(1, len(row) - 1)]
    }
    mixed = languages.samples()[-1]["conversation"]
    threads = [{language_of[turn["text"]] for turn in turns} for turns in mixed.values() if isinstance(turns, list)]
    assert min(map(len, threads)) > 1
    assert set.union(*threads) == set(languages.LANGUAGES)


def test_figures_are_those_of_each_user_beside_english() -> None:
    questions = languages.questions(languages.samples())
    findings = [Finding(asked.groups, 1, (7,) if asked.user_id == "de" else (3,), (1,)) for asked in questions]
    figures = languages.compare({"keyword": findings})["keyword"]
    assert figures["de"]["recall"] == {"5": 0, "10": 1, "20": 1}
    assert figures["de"]["difference"]["5"] == {"mean": -1, "low": -1, "high": -1}
    assert figures["mixed"]["difference"]["5"] == {"mean": 0, "low": 0, "high": 0}
    assert figures["en"]["difference"]["5"] is None
    assert all(asked.groups == {ALL, asked.user_id} for asked in questions)
