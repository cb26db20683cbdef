"""The same conversations in six languages, to measure whether recall is as good in each as in English.

``languages/<language>.tsv`` has the same rows in each language, written as people talk in it. A row is what was said,
after the initial of who said it, and then the question that this answers; rows with two statements need both for the
answer, and rows without a question answer none. Each language is a user with 40 threads, and the rows stand in the same
places for all, so that each question has its counterpart in English. One more user mixes the languages within threads,
and is asked in the language of the statement.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.quality import evidence
from bench.quality.context import Filling
from bench.quality.evidence import ALL, Finding, Question, Sample

FOLDER = Path(__file__).with_name("languages")
ENGLISH, MIXED = "en", "mixed"
LANGUAGES = (ENGLISH, "de", "es", "pt", "fr", "zh")
USERS = (*LANGUAGES, MIXED)
SPEAKERS = {"N": "Nora", "P": "Paul"}
THREADS = 40
DEPTHS = (5, 10, 20)
BUDGET = 2000
SEED = 25

Row = list[str]


def rows(language: str) -> list[Row]:
    """What was said, and the question as the last one where there are several."""
    return [line.split("\t") for line in (FOLDER / f"{language}.tsv").read_text().splitlines()]


def samples() -> list[Sample]:
    """A conversation for each of USERS, in LoCoMo's layout."""
    written = {language: rows(language) for language in LANGUAGES}
    count = len(written[ENGLISH])
    turn = random.Random(SEED).sample(range(count), count)
    mixed = [written[LANGUAGES[place % len(LANGUAGES)]][row] for row, place in enumerate(turn)]
    return [_sample(user, written.get(user, mixed)) for user in USERS]


def _sample(user: str, written: Sequence[Row]) -> Sample:
    said = [(number, text) for number, row in enumerate(written) for text in row[: max(1, len(row) - 1)]]
    random.Random(SEED).shuffle(said)
    conversation: dict[str, Any] = dict(zip(("speaker_a", "speaker_b"), SPEAKERS.values(), strict=True))
    evident: dict[int, list[str]] = {}
    for session in range(1, THREADS + 1):
        held = datetime(2025, 1, 6, 18, 30) + timedelta(weeks=session)
        conversation[f"session_{session}_date_time"] = held.strftime("%I:%M %p on %d %B, %Y")
        turns: list[dict[str, str]] = []
        conversation[f"session_{session}"] = turns
        for number, text in said[session - 1 :: THREADS]:
            initial, words = text.split(": ", 1)
            turns.append({"speaker": SPEAKERS[initial], "dia_id": f"D{session}:{len(turns) + 1}", "text": words})
            evident.setdefault(number, []).append(turns[-1]["dia_id"])
    asked = [
        {"question": row[-1], "category": 4 if len(row) == 2 else 1, "evidence": evident[number]}
        for number, row in enumerate(written)
        if len(row) > 1
    ]
    return {"sample_id": user, "conversation": conversation, "qa": asked}


def questions(made: Sequence[Sample]) -> list[Question]:
    """The questions of all users, each user a group; those of each have the same order."""
    return [replace(asked, groups=frozenset({ALL, asked.user_id})) for asked in evidence.questions(made)]


def compare(findings: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """For each method and user: recall by depth, and the difference to English."""
    return {method: _compare(each) for method, each in findings.items()}


def _compare(findings: Sequence[Finding]) -> dict[str, Any]:
    by_user = {user: [each for each in findings if user in each.groups] for user in USERS}
    return {
        user: {
            "questions": len(each),
            "recall": {str(depth): sum(one.recall(depth) for one in each) / len(each) for depth in DEPTHS},
            "difference": {
                str(depth): evidence.difference(each, by_user[ENGLISH], depth, ALL) if user != ENGLISH else None
                for depth in DEPTHS
            },
        }
        for user, each in by_user.items()
    }


def held(fillings: Mapping[int, Sequence[Filling]]) -> dict[str, float]:
    """For each user: the share of questions whose whole evidence a context of BUDGET tokens holds."""
    return {user: fmean(each.is_whole for each in fillings[BUDGET] if user in each.groups) for user in USERS}
