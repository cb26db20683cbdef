"""Measures of an item: what is remembered, found and shown once everything was said.

A text **states the old value** if it names the old value and not the new one, and was said before the change (in a
correction within one message: if it was drawn from that message). A text **states the change** if it names the new
value, or where nothing follows the old one, if it was said in the message that ends it or drawn from there.

- ``known``: the perfect model was told of the statement that changes.
- ``old remembered``: a current memory stated the old value before the change.
- ``old gone``: no current memory states the old value. Counted where one did before, or does now; a failure where the
  perfect model was not told of the old statement.
- ``new remembered``: a current memory states the new value.
- ``now first``, ``by keyword``: ``search(question_now)`` in the default mode and by keyword finds a text that states
  the change before every text that states the old value. Where the old one ended, finding neither is right as well.
  A memory with its end in ``details`` (``valid_to``) does not count as stating the old value if nothing follows it.
- ``context``: ``get_context(query => question_now)`` of a new thread, in 2,000 tokens, is right. It is judged by lines.
  One of them states the change (where the old value ended, only if another one states the old value). Each line that
  states the old value is one of the past: it has a mark "(until ...", or it stands outside of the memories, under a
  line that is a date (one that ends with a year), and a line further down states the change. In ``both_stay`` a line
  states the old value, and a line the new one where there is one.
- ``as of``: ``list_memories(as_of)`` halfway between the old statement and the change shows the old value, and not one
  that was corrected. Counted where the old value was remembered, or is shown.
- ``then``: ``search(question_then)`` finds a memory that states the old value, with its end in ``details``. Counted
  where the old value was remembered.
- ``stays``: in ``both_stay``, a current memory states the old value. Counted where one did before the last message.
- ``both remembered``: in ``both_stay`` with two values, a current memory states the new value.
- ``nothing false``: no current memory with an attribute gives the subject of the old statement a value of ``not_now``.
- ``nothing``: there is no memory at all.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_memory import Context, ContextPart, DegradedWarning, MemoryRecord, SearchResult

from bench.changes.items import Item, moment, names
from bench.changes.talks import PERFECT, Talk
from bench.quality.stored import Database

MEASURES = (
    "known",
    "old remembered",
    "old gone",
    "new remembered",
    "now first",
    "by keyword",
    "context",
    "as of",
    "then",
    "stays",
    "both remembered",
    "nothing false",
    "nothing",
)
MAX_TOKENS = 2000
ALL = 1000


@dataclass
class Verdict:
    """What was measured of an item, and what to look at where a measure fails."""

    item: Item
    measures: dict[str, bool] = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        """The measures that failed, and what was not remembered in the first place."""
        return [name for name, is_right in self.measures.items() if not is_right]


@dataclass(frozen=True)
class Line:
    """A line of a context, whether it is one of the memories, and whether a date stands above it in its part."""

    text: str
    is_memory: bool
    is_dated: bool

    @property
    def is_ended(self) -> bool:
        """Whether the line says until when it held."""
        return "(until " in self.text


def judge(database: Database, item: Item, model: str) -> Verdict:
    """Has a new user say the item, and measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegradedWarning)  # without an embedding model words are compared
        return _Judge(Talk(database, item, model), model).verdict()


class _Judge:
    def __init__(self, talk: Talk, model: str) -> None:
        self._talk = talk
        self._item = talk.item
        self._model = model
        self._found = Verdict(talk.item)
        self._before: list[MemoryRecord] = []

    def verdict(self) -> Verdict:
        self._talk.hold(self._look_before)
        current = self._memories()
        self._found.shown["current"] = [f"{each.content} [{each.subject}/{each.attribute}]" for each in current]
        if self._item.kind == "nothing":
            self._found.measures["nothing"] = not self._memories(include_superseded=True)
            return self._found
        had_old = any(map(self._is_old, self._before))
        if self._item.kind == "both_stay":
            self._stays(had_old, current)
        else:
            self._changes(had_old, current)
        return self._found

    def _look_before(self) -> None:
        self._before = self._memories()

    def _changes(self, had_old: bool, current: Sequence[MemoryRecord]) -> None:
        is_old = any(map(self._is_old, current))
        if self._model == PERFECT and self._item.change:
            self._found.measures["known"] = not self._talk.unknown
        self._found.measures["old remembered"] = had_old
        if had_old or is_old:
            self._found.measures["old gone"] = not is_old and not self._talk.unknown
        if self._item.new:
            self._found.measures["new remembered"] = any(names(each.content, self._item.new) for each in current)
        self._found.measures["now first"] = self._is_now_first("hybrid")
        self._found.measures["by keyword"] = self._is_now_first("keyword")
        self._found.measures["context"] = self._is_context_right()
        as_of = self._memories(as_of=self._between())
        was_old = any(map(self._is_old, as_of))
        if had_old or was_old:
            self._found.measures["as of"] = was_old != (self._item.kind == "corrected")
        if had_old and self._item.question_then:
            self._found.measures["then"] = self._is_then_found()

    def _stays(self, had_old: bool, current: Sequence[MemoryRecord]) -> None:
        old = [each for each in current if names(each.content, self._item.old)]
        if had_old:
            self._found.measures["stays"] = bool(old)
        if self._item.new:
            self._found.measures["both remembered"] = any(names(each.content, self._item.new) for each in current)
        if self._item.not_now:
            subjects = {each.subject for each in old} | {"user"}
            false = [each for each in current if each.attribute and each.subject in subjects]
            self._found.measures["nothing false"] = not any(names(each.content, self._item.not_now) for each in false)
        shown = [line.text for line in lines(self._context())]
        self._found.measures["context"] = all(any(names(text, words) for text in shown) for words in self._values())

    def _values(self) -> list[Sequence[str]]:
        return [self._item.old, self._item.new] if self._item.new else [self._item.old]

    def _between(self) -> datetime.datetime:
        """A time at which the old value held, or was thought to hold."""
        change, said_at = self._item.change, self._item.messages[self._item.change_at].at
        if change is None or change.changes is None:  # corrected within one message
            return said_at
        begins = self._item.messages[self._item.gold[change.changes].message].at
        ends = min(said_at, moment(change.valid_from or change.valid_to, said_at) or said_at)
        return begins + (ends - begins) / 2

    def _is_now_first(self, mode: Any) -> bool:
        hits = self._talk.memory.search(self._talk.user_id, self._item.question_now, mode=mode)
        self._found.shown[f"search {mode}"] = [f"{each.source}: {each.content}" for each in hits]
        old = next((place for place, hit in enumerate(hits) if self._is_old_hit(hit)), None)
        now = next((place for place, hit in enumerate(hits) if self._is_change(hit.content, self._place(hit))), None)
        if now is None:
            return not self._item.new and old is None
        return old is None or now < old

    def _is_old_hit(self, hit: SearchResult) -> bool:
        has_ended = not self._item.new and hit.source == "memory" and _end(hit) is not None
        return self._states_old(hit.content, self._place(hit)) and not has_ended

    def _is_then_found(self) -> bool:
        hits = self._talk.memory.search(self._talk.user_id, self._item.question_then)
        self._found.shown["search then"] = [f"{each.source}: {each.content} {_end(each)}" for each in hits]
        return any(
            hit.source == "memory" and self._states_old(hit.content, self._place(hit)) and _end(hit) for hit in hits
        )

    def _context(self) -> Context:
        context = self._talk.memory.get_context(
            self._talk.user_id, "a new thread", query=self._item.question_now, max_tokens=MAX_TOKENS
        )
        self._found.shown["context"] = [f"{part.source}: {part.content}" for part in context]
        return context

    def _is_context_right(self) -> bool:
        drawn = [each for each in self._memories(include_superseded=True) if self._is_of_change(self._source(each))]
        of_change = {self._item.messages[self._item.change_at].content, *(each.content for each in drawn)}
        return shows_now(self._item, of_change, lines(self._context()))

    def _is_old(self, memory: MemoryRecord) -> bool:
        return self._states_old(memory.content, self._source(memory))

    def _states_old(self, text: str, place: int) -> bool:
        if not names(text, self._item.old) or names(text, self._item.new):
            return False
        return place < self._item.change_at or (self._item.kind == "corrected" and self._item.change is None)

    def _is_change(self, text: str, place: int) -> bool:
        return names(text, self._item.new) if self._item.new else self._is_of_change(place)

    def _is_of_change(self, place: int) -> bool:
        return place == self._item.change_at

    def _source(self, memory: MemoryRecord) -> int:
        return self._first(memory.thread_id, memory.source_seqs)

    def _place(self, hit: SearchResult) -> int:
        details = hit.details or {}
        return self._first(hit.thread_id, [details["seq"]] if hit.source == "message" else details.get("source_seqs"))

    def _first(self, thread_id: str | None, seqs: Sequence[int] | None) -> int:
        """The place of the first message that a text was drawn from, -1 if there is none: later ones may end it."""
        return min((self._talk.place[thread_id, seq] for seq in seqs or ()), default=-1)

    def _memories(self, **arguments: Any) -> list[MemoryRecord]:
        return self._talk.memory.list_memories(self._talk.user_id, row_limit=ALL, **arguments)


def lines(context: Iterable[ContextPart]) -> list[Line]:
    """The lines of all parts of a context."""
    found = []
    for part in context:
        is_dated = False
        for text in part.content.splitlines():
            is_dated = is_dated or re.fullmatch(r"\S.{,30}\b\d{4}\W*", text) is not None
            found.append(Line(text, part.source == "memories", is_dated))
    return found


def shows_now(item: Item, of_change: Collection[str], shown: Sequence[Line]) -> bool:
    """Whether the lines of a context show what changed as it is now, and the old value only as one of the past.

    ``of_change``: the message of the change, and what was drawn from it.
    """
    old, change = [], []
    for number, line in enumerate(shown):
        is_of_change = any(text in line.text for text in of_change)
        if names(line.text, item.new) if item.new else is_of_change:
            change.append(number)
        elif names(line.text, item.old) and not is_of_change:
            old.append((number, line))
    if not change:
        return not item.new and all(line.is_ended for _, line in old)
    return all(line.is_ended or (line.is_dated and not line.is_memory and number < max(change)) for number, line in old)


def _end(hit: SearchResult) -> str | None:
    """Until when a memory holds, if it does not hold for ever."""
    return (hit.details or {}).get("valid_to")
