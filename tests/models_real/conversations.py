"""Believable conversations, and what a good model remembers of them.

Each file of threads/ has the messages (`user: text`, under lines with a date and a time), and labels of memories:

- facts: what has to be remembered. They were written by somebody who had not read the prompts.
- also: what may be remembered besides.
- never: what would be false.

A label such as "Leeds & moved|lives & -Hull" fits a memory in which each part between `&` occurs, in one of its
spellings between `|` (regular expressions, in any case); with `-` before it a part must not occur.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


FOLDER = Path(__file__).with_name("threads")
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d)|(user|assistant|tool): (.+)")


@dataclass(frozen=True)
class Conversation:
    """One thread of one user, both named like its file."""

    name: str
    messages: list[dict[str, Any]]
    facts: list[str]
    also: list[str]
    never: list[str]

    def first(self, messages: int | None) -> Conversation:
        """The conversation up to a message."""
        return replace(self, messages=self.messages[:messages])


@dataclass(frozen=True)
class Score:
    """How many facts are remembered, and how many memories are right.

    Attributes:
        found: facts that a memory states.
        facts: all facts.
        right: memories that state a fact or what else is true.
        memories: all memories.
        false: memories that state something false.
        missing: the labels of facts that no memory states.
        unknown: the memories that fit no label, which somebody has to read.
    """

    found: int
    facts: int
    right: int
    memories: int
    false: list[str]
    missing: list[str]
    unknown: list[str]


def conversations() -> list[Conversation]:
    """All of them, the shortest first."""
    read = []
    for path in FOLDER.glob("*.toml"):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        read.append(Conversation(path.stem, list(_messages(data["talk"])), data["facts"], data["also"], data["never"]))
    return sorted(read, key=lambda each: len(each.messages))


def _messages(talk: str) -> Iterable[dict[str, Any]]:
    """A message a minute after each line with a time."""
    moment = datetime.datetime.min
    for line in talk.strip().splitlines():
        match = _LINE.fullmatch(line)
        if not match:
            raise ValueError(f"neither a time nor a message: {line}")
        if match[1]:
            moment = datetime.datetime.fromisoformat(match[1]).replace(tzinfo=datetime.timezone.utc)
        else:
            yield {"role": match[2], "content": match[3], "created_at": moment.isoformat()}
            moment += datetime.timedelta(minutes=1)


def fits(label: str, text: str) -> bool:
    """Whether a label fits the text of a memory."""
    for part in label.split(" & "):
        spellings = part.removeprefix("-")
        if bool(re.search(spellings, text, re.IGNORECASE)) == part.startswith("-"):
            return False
    return True


def judged(conversation: Conversation, memories: Sequence[str]) -> Score:
    """How the memories of a conversation compare with its labels."""
    false = [text for text in memories if any(fits(label, text) for label in conversation.never)]
    true = [
        text
        for text in memories
        if text not in false and any(fits(label, text) for label in [*conversation.facts, *conversation.also])
    ]
    missing = [label for label in conversation.facts if not any(fits(label, text) for text in memories)]
    return Score(
        found=len(conversation.facts) - len(missing),
        facts=len(conversation.facts),
        right=len(true),
        memories=len(memories),
        false=false,
        missing=missing,
        unknown=[text for text in memories if text not in true and text not in false],
    )


def shared_words(text: str, said: str) -> int:
    """How many words of a text, of four letters or more, the messages have too, be it with another ending."""
    return len(_stems(text) & _stems(said))


def _stems(text: str) -> set[str]:
    return {word[:5].casefold() for word in re.findall(r"\w{4,}|\d+", text)}
