"""The set of the benchmark: what its files hold, and when it was said.

Each file of the folder ``set`` has the items of one language. An item is what one user says over some months:

- ``kind``: the old statement is ``replaced`` by another value, has ``ended`` without one, or is ``corrected``: it was
  never true. In ``both_stay`` it stays true whatever is said later, in ``nothing`` no statement is to be remembered.
- ``part``: ``held_out`` items measure rules that were tuned on ``open`` ones, and nobody looks at them meanwhile.
- ``extracted``: whether extraction runs after ``each message`` of the user or after ``each conversation`` of a day.
- ``old``, ``new``: words that name the old and the new value, each of which may have several forms. ``not_now``: words
  of a plan, a wish, a past, a quotation or another person that must not become a fact of the old statement's subject.
- ``question_now``, whose answer is the new value, or in ``both_stay`` the old one and the new one where there is one;
  ``question_then``, whose answer is the old value.
- ``messages``: ``thread`` numbers the user's threads, and ``time`` is in UTC.
- ``gold``: what a perfect model extracts, each from the ``message`` of that place. ``replaces``, ``ends`` and
  ``corrects`` name an earlier element of ``gold`` by its place. ``valid_from`` and ``valid_to`` are "N days ago",
  "last year" or a year, and left out where the message says nothing of them.
"""

from __future__ import annotations

import datetime
import functools
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SET = Path(__file__).parent / "set"
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "zh", "ja")
KINDS = ("replaced", "ended", "corrected", "both_stay", "nothing")
PARTS = ("open", "held_out")

# Today at midnight, once for the whole run: "N days ago" is counted from here.
TODAY = datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True)
class Message:
    """What was said, by whom and when."""

    days_ago: int
    time: str
    thread: int
    role: str
    content: str

    @property
    def at(self) -> datetime.datetime:
        """When it was said."""
        hours, minutes = map(int, self.time.split(":"))
        return TODAY - datetime.timedelta(days=self.days_ago) + datetime.timedelta(hours=hours, minutes=minutes)


@dataclass(frozen=True)
class Statement:
    """What a perfect model extracts from a message."""

    message: int
    content: str
    memory_type: str
    subject: str
    attribute: str
    value: str
    values: str
    status: str
    replaces: int | None = None
    ends: int | None = None
    corrects: int | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def changes(self) -> int | None:
        """The place of the earlier statement that holds no longer because of this one."""
        return next((place for place in (self.replaces, self.ends, self.corrects) if place is not None), None)


@dataclass(frozen=True)
class Item:
    """A conversation, what changes in it, and how to ask for it."""

    id: str
    kind: str
    part: str
    extracted: str
    messages: Sequence[Message]
    gold: Sequence[Statement] = ()
    old: Sequence[str] = ()
    new: Sequence[str] = ()
    not_now: Sequence[str] = ()
    question_now: str | None = None
    question_then: str | None = None
    language: str = ""

    @property
    def change(self) -> Statement | None:
        """What replaces, ends or corrects the old statement, if another statement does."""
        return next((each for each in self.gold if each.changes is not None), None)

    @property
    def change_at(self) -> int:
        """The place of the message by which the old statement holds no longer, or which leaves it true."""
        if self.change:
            return self.change.message
        never = [each.message for each in self.gold if each.status == "never_true"]
        return never[0] if never else max(place for place, each in enumerate(self.messages) if each.role == "user")

    def batches(self) -> list[list[int]]:
        """The places of messages that are extracted together, which are of one thread and day."""
        batches: list[list[int]] = []
        for place, message in enumerate(self.messages):
            before = self.messages[place - 1]
            begins = self.extracted == "each message" and message.role == "user"
            if not place or begins or (before.days_ago, before.thread) != (message.days_ago, message.thread):
                batches.append([])
            batches[-1].append(place)
        return batches


def items(languages: Sequence[str] = LANGUAGES, parts: Sequence[str] = PARTS) -> list[Item]:
    """The items of these languages and parts."""
    return [item for language in languages for item in _of(language) if item.part in parts]


@functools.cache
def _of(language: str) -> list[Item]:
    found: list[dict[str, Any]] = tomllib.loads((SET / f"{language}.toml").read_text(encoding="utf-8"))["item"]
    return [
        Item(
            **{
                **each,
                "language": language,
                "messages": [Message(**message) for message in each["messages"]],
                "gold": [Statement(**statement) for statement in each.get("gold", ())],
            }
        )
        for each in found
    ]


def moment(text: str | None, said_at: datetime.datetime, *, ends: bool = False) -> datetime.datetime | None:
    """When a validity begins or ends, given as in ``gold``."""
    if text is None:
        return None
    if text.endswith(" days ago"):
        return TODAY - datetime.timedelta(days=int(text.removesuffix(" days ago")))
    year = said_at.year - 1 if text == "last year" else int(text)
    return datetime.datetime(year + ends, 1, 1, tzinfo=datetime.timezone.utc)


def names(text: str, words: Sequence[str]) -> bool:
    """Whether a text holds one of the words: whole words, where the script parts words."""
    return any(_pattern(word).search(text) for word in words)


@functools.cache
def _pattern(word: str) -> re.Pattern[str]:
    is_parted = not re.search("[\u3040-\u30ff\u4e00-\u9fff]", word)
    edges = (r"(?<!\w)", r"(?!\w)") if is_parted else ("", "")
    return re.compile(re.escape(word).join(edges), re.IGNORECASE)
