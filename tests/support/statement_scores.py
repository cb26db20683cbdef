"""How well the built-in model finds what people say of themselves, in messages that are labelled.

A line of a file has a label (fact, preference or none), a topic, a message, and the words of the message that state
the fact or preference. Each message is read alone, so the other lines do not help to tell its language.

    python -m tests.support.statement_scores FOLDER     one line of figures for each file of the folder
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

from agent_memory_models.jobs import extract_memories

from .model_payloads import TYPES, Json, users

_WORD = re.compile(r"\w+")


class Labelled(NamedTuple):
    """A message, and what in it is worth keeping."""

    label: str
    topic: str
    message: str
    span: str


class Scores(NamedTuple):
    """Shares from 0 to 1 over the messages of one file, and counts.

    Attributes:
        recall: of the facts and preferences, those of which a memory holds all words.
        precision: of the memories, those that come from a labelled statement.
        types: of these memories, those that have the type of the label.
        stated: how many facts and preferences there are.
        memories: how many memories were made.
        from_none: how many of them were made of messages that state nothing.
        milliseconds: CPU time for one message.
    """

    recall: float
    precision: float
    types: float
    stated: int
    memories: int
    from_none: int
    milliseconds: float


def labelled(path: Path) -> list[Labelled]:
    return [Labelled(*line.split("\t")) for line in path.read_text().splitlines()]


def memories_of(message: str) -> list[Json]:
    payload = {"messages": users(message), "memory_types": TYPES}
    memories: list[Json] = extract_memories._by_patterns(payload)["memories"]
    return memories


def scores(rows: list[Labelled]) -> Scores:
    started = time.process_time()
    found = [memories_of(row.message) for row in rows]
    seconds = time.process_time() - started
    stated = [(row, memories) for row, memories in zip(rows, found, strict=True) if row.label != "none"]
    recalled = sum(any(_words(row.span) <= _words(memory["content"]) for memory in made) for row, made in stated)
    right = [(row, memory) for row, made in stated for memory in made if _is_about(memory["content"], row.span)]
    count = sum(map(len, found))
    return Scores(
        recalled / max(len(stated), 1),
        len(right) / max(count, 1),
        sum(memory["memory_type"] == row.label for row, memory in right) / max(len(right), 1),
        len(stated),
        count,
        sum(len(made) for row, made in zip(rows, found, strict=True) if row.label == "none"),
        seconds * 1000 / max(len(rows), 1),
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _is_about(memory: str, span: str) -> bool:
    """Whether the two share at least half of the words of the shorter one."""
    ours, theirs = _words(memory), _words(span)
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


if __name__ == "__main__":
    print("file    recall  precision  types  stated  memories  from none  ms")
    for file in sorted(Path(sys.argv[1]).glob("*.tsv")):
        s = scores(labelled(file))
        print(
            f"{file.stem:6}  {s.recall:6.3f}  {s.precision:9.3f}  {s.types:5.3f}  {s.stated:6}  {s.memories:8}"
            f"  {s.from_none:9}  {s.milliseconds:.2f}"
        )
