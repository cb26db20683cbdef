"""The benchmark's set of languages: the same rows in each, at the same places, and figures by language."""

from __future__ import annotations

from bench.quality import languages
from bench.quality.evidence import ALL, Finding


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


def test_figures_are_those_of_each_user_beside_english() -> None:
    questions = languages.questions(languages.samples())
    findings = [Finding(asked.groups, 1, (7,) if asked.user_id == "de" else (3,), (1,)) for asked in questions]
    figures = languages.compare({"keyword": findings})["keyword"]
    assert figures["de"]["recall"] == {"5": 0, "10": 1, "20": 1}
    assert figures["de"]["difference"]["5"] == {"mean": -1, "low": -1, "high": -1}
    assert figures["mixed"]["difference"]["5"] == {"mean": 0, "low": 0, "high": 0}
    assert figures["en"]["difference"]["5"] is None
    assert all(asked.groups == {ALL, asked.user_id} for asked in questions)
