"""Lines that stand deep inside outputs of programs, and what a person asks who remembers such an output only roughly.

facts.jsonl has ten of each kind of output: the line (or lines), the question, and the part of the line that answers
it, which neither the question nor anything else in the conversation has. The first, third, fifth ... were tuned on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Fact(NamedTuple):
    """What is asked, the text that a context has to hold, and whether search was tuned on it."""

    line: str
    question: str
    answer: str
    is_tuned: bool


def facts() -> dict[str, list[Fact]]:
    """The facts of each kind of output."""
    known: dict[str, list[Fact]] = {}
    for line in Path(__file__).with_name("facts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        of_kind = known.setdefault(row["kind"], [])
        of_kind.append(Fact(row["line"], row["question"], row["answer"], is_tuned=len(of_kind) % 2 == 0))
    return known


def made_fact(question: str, answer: str) -> Fact:
    """A fact of an output that is made up whole."""
    return Fact("", question, answer, is_tuned=len(question) % 2 == 0)
