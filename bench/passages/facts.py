"""Lines that stand deep inside outputs of programs, and what a person asks who remembers such an output only roughly.

facts.jsonl has ten of each kind of output: the line (or lines), the question, and the part of the line that answers
it, which neither the question nor anything else in the conversation has. The first, third, fifth ... were tuned on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Fact(NamedTuple):
    """What is asked, and the text that a context has to hold."""

    line: str
    question: str
    answer: str


def facts() -> dict[str, list[Fact]]:
    """The facts of each kind of output."""
    known: dict[str, list[Fact]] = {}
    for line in Path(__file__).with_name("facts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        known.setdefault(row["kind"], []).append(Fact(row["line"], row["question"], row["answer"]))
    return known
