"""What a sentence does to known statements whose words it has: "Dr Osei retired", "swapped Spotify for Tidal".

No phrase of an attribute is needed: a few words of change ([changes] in the lists) beside words of a known statement
tell that it is over, and another value of its kind in the sentence takes its place, with its attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .event_times import times_in
from .fact import Stated
from .facts import Reader
from .figures import ANY_DAY, figures, stem
from .lists import ATTRIBUTES
from .phrases import Phrases, Word, phrases, words_in
from .subjects import USER
from .values import plain_value, with_value

_SHORT = 3
"""Of so few words a value is, in which a verb may be a noun: "parental leave"."""
_NEAR = 9
"""Words of a change stand so many words from those of the statement at most."""
_PERSONS = frozenset(["partner", "doctor", "dentist", "contact", "manager", "flatmate", "pet", "child"])
_TASTES = frozenset(
    ["like", "dislike", "preference", "favourite", "sport", "hobby", "language", "instrument", "allergy"]
)
"""What happens to a thing ends no taste for it: "the jazz concert was cancelled"."""
_ENDS_OF_CLAUSES = frozenset(",;:.!?…()—–")


class Change(NamedTuple):
    """A known statement that is over, and the value that takes its place, if the sentence has it, with its words."""

    row: Stated
    value: str | None
    start: int
    end: int


@dataclass(frozen=True)
class _Keys:
    """The words of a statement: those of its value, those of all of it, the names among them, and the first."""

    value: frozenset[str]
    content: frozenset[str]
    names: frozenset[str]
    first: frozenset[str]


@lru_cache(maxsize=4096)
def _keys(value: str, content: str, language: str) -> _Keys:
    lists = phrases(language)
    of_value, of_content = ([*_telling(text, lists)] for text in (value, content))
    names = (word for word in of_content if word.is_capitalised and (word.start or lists.capital_nouns))
    sets = (of_value, of_content, names, of_content[:1])
    return _Keys(*(frozenset(stem(word.text) for word in words) for words in sets))


def _telling(text: str, lists: Phrases) -> Iterator[Word]:
    """The words that tell what a statement is about."""
    words, times = words_in(text, lists.language), times_in(text, ANY_DAY, lists.language)
    for at, word in enumerate(words):
        is_empty = (
            len(word.text) < 2
            or not word.text[0].isalpha()
            or word.text in lists.empty
            or any(time.start <= word.start < time.end for time in times)
            or (word.text in lists.forms and not (word.is_capitalised or _is_noun(words, at, lists)))
            or (at and lists.stop.longest(words, at) and not word.is_capitalised)
        )
        if not is_empty:
            yield word


def _is_noun(words: list[Word], at: int, lists: Phrases) -> bool:
    """Whether what looks like a verb is a noun: "the fire warden", "parental leave" as a value."""
    single = lists.single
    return len(words) <= _SHORT or (at > 0 and words[at - 1].text in single["articles"] | single["own"])


class Mentions:
    """A sentence that was read, beside what is known."""

    def __init__(self, reader: Reader, rows: list[Stated], pending: list[Stated], values: Mapping[str, str]) -> None:
        self.values = values
        """Of each attribute, whether it has one value at a time or many."""
        self.reader, self.text, self.lists = reader, reader.text, reader.lists
        self.words = self.text.words
        self.stems = [stem(word.text) for word in self.words]
        ours = frozenset(self.stems)
        singular = [word._replace(text=each) for word, each in zip(self.words, self.stems, strict=True)]
        self.named = frozenset(
            found[1][0]
            for words in (self.words, singular)
            for at in range(len(words))
            if (found := self.lists.nouns.longest(words, at))
        )
        """The attributes that the sentence names."""
        self.known, self.of_base = rows, Counter(row.base for row in rows)
        self.rows = [
            row
            for row in rows
            if row.base in self.named or not ours.isdisjoint(self._keys(row).content | self._keys(row).value)
        ]
        self.pending = pending
        """Statements that the message has named before, or ended without a successor."""

    def _keys(self, row: Stated) -> _Keys:
        return _keys(row.value, row.content, self.lists.language)

    def changes(self) -> Iterator[Change]:
        """The known statements that the sentence ends or gives another value."""
        done = []
        for row in self.rows:
            places = self._mention(row)
            change = (self._over(row, places) if places else None) or self._another_figure(row)
            if not (change and change.value) and (places or row.base in self.named) and row not in self.pending:
                self.pending.append(row)
            if change and not change.value:
                change = self._now(row) or change
            if change:
                yield change
                done.append(row)
        for row in self.pending[::-1]:
            if row not in done and (change := self._now(row)):
                yield change
                return
        for row in self.known:  # "gone vegan"
            is_listed = row not in done and ATTRIBUTES.get(row.base, {}).get("kind") in self.lists.kinds
            if is_listed and (change := self._turned(row)):
                yield change

    def _turned(self, row: Stated) -> Change | None:
        """Another value of a list than the one that is known: "switched to a vegan diet"."""
        for at in range(len(self.words)):
            found = self.lists.takes.longest(self.words, at)
            if found and self._is_ours(row, at) and (value := self._value(row, self._past_gap(found[0], []))):
                return Change(row, *value)
        return None

    def meant(self) -> list[Stated]:
        """The known statements whose value the sentence has."""
        return [row for row in self.rows if self._mention(row)]

    def _now(self, row: Stated) -> Change | None:
        """The value of a statement that the message names: "It's Tobias these days"."""
        words, lists = self.words, self.lists
        is_one = self.values.get(row.base, "one") == "one"
        if not row.attribute or not (is_one or row not in self.known):
            return None
        for at in range(len(words)):
            told = lists.tells.longest(words, at)
            start, end = self._clause(at)
            is_now = told and any(
                lists.lately.longest(words, place) for place in range(start, min(end + 2, len(words)))
            )
            if told and is_now and self._is_ours(row, at) and (value := self._value(row, told[0])):
                return Change(row, *value)
        return None

    # Which words of the sentence mean a known statement

    def _mention(self, row: Stated) -> list[int]:
        """The places of the words that mean a statement: its value or a name in it, or half of what it tells."""
        keys = self._keys(row)
        found = [place for place, each in enumerate(self.stems) if each in keys.value | keys.content]
        said = {self.stems[place] for place in found}
        own = said & (keys.value if row.attribute else keys.names | keys.first)
        is_meant = own or (said and 2 * len(said) >= len(keys.content))
        if is_meant or row.base not in self.named or self.of_base[row.base] > 1:
            return found if is_meant else []
        is_one = self.values.get(row.base, "one") == "one"
        nouns = () if is_one else ATTRIBUTES.get(row.base, {}).get(self.lists.language, ())  # "the allergy is gone"
        return [at for at, word in enumerate(self.words) if at and word.text in nouns and self._is_definite(at - 1)]

    def _has_article(self, at: int) -> bool:
        return self.text.word(at) in self.lists.single["articles"]

    def _is_definite(self, at: int) -> bool:
        return self.words[at].text in self.lists.single["the"] | self.lists.single["own"]

    # What is over

    def _over(self, row: Stated, places: list[int]) -> Change | None:
        lists, words = self.lists, self.words
        for at in range(len(words)):
            if (drop := lists.drops.longest(words, at) or lists.swaps.longest(words, at)) and self._is_ours(row, at):
                place = self._past_gap(drop[0], places)
                end = self._behind(place, places)
                is_bare = lists.bare.longest(words, at) is not None
                is_over = (place in places and self._ends_phrase(row, end)) or (not is_bare and self._has_article(end))
                if place in places and is_over and not (is_bare and self._is_definite(place - 1)):
                    return self._replaced(row, at, end, is_swap=True)
            if at in places and at - 1 not in places and row.base not in _TASTES and self._is_ours(row, at):
                end = self._behind(at, places)
                if passed := self._passed(row, end):
                    return self._replaced(row, at, passed, is_swap=False)
            if (split := lists.around.longest(words, at)) and self._is_ours(row, at):
                place = self._past_gap(split[0], places)
                end = self._behind(place, places)
                end += self._is_part(row, end)
                if place in places and (found := split[1].longest(words, end)):
                    return self._replaced(row, at, found[0], is_swap=False)
            no_more = lists.no_more.longest(words, at)
            near = self._in_clause(at, places) if no_more else None
            if no_more and near is not None and self._is_ours(row, max(near, at), may_deny=True):
                return self._replaced(row, min(near, at), max(no_more[0], near + 1), is_swap=False)
        return None

    def _past_gap(self, place: int, places: list[int]) -> int:
        """The place behind words that may stand between a verb and what it is about."""
        single, limit = self.lists.single, place + 5
        idle = single["articles"] | single["own"] | single["the"] | single["of"] | single["from"] | single["stop_thing"]
        idle = idle | single["old"] | single["never"]
        while place < min(limit, len(self.words)) and place not in places:
            if self.text.word(place) not in idle and not self.lists.skip.longest(self.words, place):
                break
            place += 1
        return place

    def _behind(self, place: int, places: list[int]) -> int:
        while place in places or (
            place + 1 in places and (self.text.word(place) in self.lists.single["of"] or self.text.word(place) in "'&")
        ):
            place += 1
        return place

    def _passed(self, row: Stated, place: int) -> int | None:
        """The place behind a predicate that says that its subject is over: "has died", "is off", "'s sold"."""
        lists, words = self.lists, self.words
        is_person = row.base in _PERSONS or not row.attribute
        while not self._ends_phrase(row, place) and self._is_part(row, place):  # "the Gazette subscription ran out"
            place += 1
        at, has_helper = place, lists.verb_last  # "Abo gekündigt"
        while at < len(words):
            found = lists.passes.longest(words, at)
            gone = lists.goes.longest(words, at) if is_person and not found else None
            found = found or (gone if gone and not lists.skip.longest(words, gone[0]) else None)  # "left early"
            if found and self._ends_phrase(row, found[0]):
                return found[0]
            for tree in (lists.is_over, lists.drops, lists.swaps) if has_helper else ():
                found = tree.longest(words, at)
                is_away = found and words[at].text in lists.away and found[0] == at + 1  # "Gwen is off until Monday"
                is_over = row.base not in _PERSONS and found and self.text.ends_clause(found[0])
                if found and (is_over if is_away else self._ends_phrase(row, found[0])):
                    return found[0]
            if words[at].text in lists.helpers:
                at, has_helper = at + 1, True
            elif self.text.is_time[at]:
                at += 1
            elif skipped := lists.skip.longest(words, at) or (has_helper and lists.first.longest(words, at)):
                at = skipped[0]
            else:
                break
        return None

    def _is_part(self, row: Stated, at: int) -> bool:
        """Whether a word names the kind of what is mentioned before it: "the Gazette subscription"."""
        nouns = ATTRIBUTES.get(row.base, {}).get(self.lists.language, ())
        return at < len(self.words) and (
            self.words[at].text in nouns
            or self.words[at].text in self.lists.generic
            or self.stems[at] in self._keys(row).content
        )

    def _ends_phrase(self, row: Stated, at: int) -> bool:
        return self._is_part(row, at) or self.text.ends_phrase(at)

    def _clause(self, at: int) -> tuple[int, int]:
        """The first place of a clause, and the one behind it."""
        start = end = at
        while start > 0 and not self._breaks(start - 1):
            start -= 1
        while end < len(self.words) and not self._breaks(end):
            end += 1
        return start, end

    def _breaks(self, at: int) -> bool:
        word = self.words[at].text
        return word in _ENDS_OF_CLAUSES or word in self.lists.single["but"] or word in self.lists.single["trailing"]

    def _in_clause(self, at: int, places: list[int]) -> int | None:
        start, end = self._clause(at)
        near = [place for place in places if start <= place < end and abs(place - at) <= _NEAR]
        return min(near, key=lambda place: abs(place - at)) if near else None

    def _is_ours(self, row: Stated, at: int, may_deny: bool = False) -> bool:
        """Whether the clause before a place is about the same subject, and says what is so."""
        lists, words = self.lists, self.words
        start, _ = self._clause(at)
        for place in range(start, at):
            word = words[place].text
            effect = lists.between.longest(words, place, -1)
            may = may_deny and (effect or (0, ""))[1] in ("not", "maybe")
            if effect and effect[1] in ("maybe", "plan", "not") and not may:
                return False
            if word in lists.single["third"] | lists.single["third_own"] and row.subject == USER:
                return False
            if lists.others.longest(words, place):
                return False
        subjects = [each for each in self.reader.subjects if start <= each.start < at and each.end <= at]
        return all(
            each.name in (USER, row.subject) or each.name.split()[-1].lower() in plain_value(row.content).split()
            for each in subjects
        )

    # What takes its place

    def _replaced(self, row: Stated, start: int, end: int, is_swap: bool) -> Change:
        """The statement that is over, with the value of its kind behind the words that say so."""
        single = self.lists.single
        if is_swap:
            at = end
            while at < len(self.words) and self.lists.skip.longest(self.words, at):
                at += 1
            if self.text.word(at) in self.lists.takes_place and (found := self._value(row, at + 1)):
                return Change(row, *found)
        for at in range(end, len(self.words)):
            ends = self._breaks(at) or self.text.word(at) in single["and"]
            if ends and (found := self._first_value(row, at + 1)):
                return Change(row, *found)
        return Change(row, None, start, end)

    def _first_value(self, row: Stated, start: int) -> tuple[str, int, int] | None:
        """The value of a clause that says what we have now."""
        _, end = self._clause(start)
        lists, words = self.lists, self.words
        for at in range(start, end):
            found = lists.takes.longest(words, at) or lists.tells.longest(words, at)
            if found and self._is_ours(row, at):
                for place in range(self._past_gap(found[0], []), end):
                    if value := self._value(row, place):
                        return value
                    if ATTRIBUTES.get(row.base, {}).get("kind") not in ("person", "name", "place"):
                        break
        return None

    def _value(self, row: Stated, at: int) -> tuple[str, int, int] | None:
        """A value of the kind of the one that it replaces."""
        while at < len(self.words) and self.lists.skip.longest(self.words, at):
            at += 1
        kind = ATTRIBUTES.get(row.base, {}).get("kind", "text")
        kinds = {"number": ("number", "address"), "text": ("name", "thing"), "date": ("date",)}
        for each in kinds.get(kind, (kind,)):
            for value in self.text.values(each, at):
                said = self.text.of(value)
                if said and stem(said) not in self._keys(row).value:
                    return said, value.start, value.end
        return None

    # Another number or time

    def _another_figure(self, row: Stated) -> Change | None:
        """The statement with another number or time for the same thing: "15k for the kitchen", of a budget of 12k."""
        keys = self._keys(row)
        known, said = figures(row.content, self.lists), figures(self.text.text, self.lists)
        if not known or not said or row.base in _TASTES:
            return None
        is_named = bool(row.attribute) and row.base in self.named
        topics = {each for each in self.stems if each in keys.content}
        now = self.lists.single["now"] | self.lists.single["change"]
        is_change = any(word.text in now for word in self.words)
        same = [(old, new) for old in known for new in said if old.unit == new.unit]
        same = same or [(o, n) for o in known for n in said if o.frame == n.frame and not (o.unit or n.unit)]
        for old, new in same or [(old, new) for old in known[:1] for new in said[:1] if is_named and is_change]:
            is_told = (
                is_named
                or (old.frame == new.frame and old.unit == new.unit)
                or topics - {old.unit}
                or (old.unit and old.unit not in self.lists.units)
            )
            if old.text == new.text or (any(each.text == old.text for each in said) and not is_change) or not is_told:
                continue
            at = new.place
            before = self.text.word(at - 1)
            is_so = is_change or before in self.lists.single["to"] or self._states(at)
            if is_so and self._is_ours(row, at) and (not new.is_time or is_change):
                said_so = with_value(row.value, old.text, new.text) if row.attribute else new.text
                return Change(row, said_so or f"{row.value} {new.text}", at, at + 1)
        return None

    def _states(self, at: int) -> bool:
        """Whether the speaker states something in the clause of a word."""
        start, _ = self._clause(at)
        return any(each.name == USER and start <= each.start < at for each in self.reader.subjects) or any(
            self.lists.is_.longest(self.words, place) for place in range(start, at)
        )
