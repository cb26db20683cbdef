"""Where a sentence has a phrase of the lists, and what stands in its slots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from .event_times import times_in
from .phrases import Phrases, Slot, Tree, Word, words_in

MAX_WORDS_OF_A_VALUE = 8
_MAX_STEPS = 4000
"""Of one search for a phrase; more would be a sentence made to waste time."""
_CURRENCIES = frozenset("$€£¥+#")
_TITLES = frozenset(["st", "dr", "mr", "mrs", "ms", "prof", "sr", "sra", "fr", "hr", "dott"])
_OF = "the of de da do dos das del della di la las los le les du des am an der den van von upon e & y"
_OF_NAMES = frozenset(_OF.split())
_NAMED = frozenset(["place", "name", "person", "school", "org"])
_WITH_ARTICLES = frozenset(["thing", "list", "org", "text", "school", "name", "person"])
_HEADS = frozenset(["profession", "club", "pet", "vehicle", "business", "school", "hobby", "no_role"])
"""The list has the last words of such values: "senior developer", "rescue dog"."""
_GO_ON = frozenset(["pet", "vehicle", "school", "car_model", "phone_model", "laptop_model"])
"""Words with capital letters belong to such values: "cat Miso", "Tesla Model 3"."""


class Value(NamedTuple):
    """The words of a value: the first one, and the one behind the last."""

    start: int
    end: int


class Match(NamedTuple):
    """A phrase in a sentence: what it says of which attribute, where it ends, how well it fits, and its values."""

    attribute: str
    act: str
    end: int
    fits: int
    value: Value | None
    old: Value | None
    is_denied: bool


class Text:
    """A sentence with its words and times."""

    def __init__(self, text: str, lists: Phrases, day: date | None, known: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.lists = lists
        self.known = known
        """The attributes that have a value so far: "the number" is ours then."""
        self.words: list[Word] = self._completed(words_in(text, lists.language))
        self.times = times_in(text, day, lists.language) if day else []
        self.is_time = [any(time.start <= word.start < time.end for time in self.times) for word in self.words]
        self.has_capitals = any(word.is_capitalised for word in self.words)

    def _completed(self, words: list[Word]) -> list[Word]:
        """The words with those that the first clause leaves out: "(I am) allergic to nuts"."""
        at = 0
        while at < len(words):
            if self.lists.is_regular and any(form == "ing" for _, form, _ in self.lists.forms.get(words[at].text, ())):
                place = words[at].start
                return [*words[:at], *(Word(word, place, place, False) for word in ("i", "am")), *words[at:]]
            if found := self.lists.dropped.longest(words, at):
                place = words[at].start
                return [*words[:at], *(Word(word, place, place, False) for word in found[1]), *words[at:]]
            if words[at].text[0].isalnum() and not (filler := self.lists.mild.longest(words, at)):
                mark = next((n for n in range(at + 1, min(at + 6, len(words))) if words[n].text in ":-–—!"), None)
                if mark is None:
                    break
                at = mark + 1
            else:
                at = filler[0] if words[at].text[0].isalnum() and filler else at + 1
        return words

    def span(self, start: int, end: int) -> str:
        """The text of some words."""
        return self.text[self.words[start].start : self.words[end - 1].end] if end > start else ""

    def of(self, value: Value | None) -> str | None:
        """The text of a value, of a time without its preposition."""
        if not value:
            return None
        start, end = self.words[value.start].start, self.words[value.end - 1].end
        return self.text[next((time.bare for time in self.times if time.start == start), start) : end].strip()

    def word(self, at: int) -> str:
        """The word at a place, or nothing behind the end."""
        return self.words[at].text if 0 <= at < len(self.words) else ""

    def begins(self, at: int) -> bool:
        """Whether only words that say nothing stand before a verb: "btw sold my car"."""
        words, place = self.words, 0
        while place < at:
            if not words[place].text[0].isalnum():
                place += 1
            elif found := (self.lists.mild.longest(words, place) or self.lists.skip.longest(words, place)):
                place = found[0]
            else:
                return words[at - 1].text in (":", "-", "–", "—", "!")
        return place == at

    def ends_clause(self, at: int) -> bool:
        """Whether a place is behind the last word of a clause."""
        return at >= len(self.words) or not self.word(at)[0].isalnum() or self.word(at) in self.lists.single["and"]

    def ends_phrase(self, at: int) -> bool:
        """Whether no object or further noun stands at a place: "I lost my Monzo card" is not about Monzo."""
        words, single = self.words, self.lists.single
        if at >= len(words) or not words[at].text[0].isalnum() or self.is_time[at]:
            return True
        if words[at].text in single["own"] | single["third_own"] | single["articles"]:
            return False
        joins = ("and", "but", "trailing", "stop_thing", "from", "to", "of")
        return (
            any(words[at].text in single[name] for name in joins)
            or words[at].text in self.lists.helpers | self.lists.takes_place
            or any(tree.longest(words, at) for tree in (self.lists.stop, self.lists.skip))
        )

    def match(self, tree: Tree, at: int) -> Match | None:
        """The phrase of a tree that fits best the words from one on."""
        self.steps = 0
        best: Match | None = None
        for found in self._walk(tree, at, 0, None, None, False):
            if best is None or (found.fits, found.end) > (best.fits, best.end):
                best = found
        return best

    def _walk(
        self, tree: Tree, at: int, fits: int, value: Value | None, old: Value | None, denied: bool
    ) -> Iterator[Match]:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            return
        if tree.says is not None:
            attribute, act = tree.says
            yield Match(attribute, act, at, fits, value, old, denied)
        if "." in tree.children and self._ends_clause(at):
            yield from self._walk(tree.children["."], at, fits + 2, value, old, denied)
        if at == len(self.words):
            return
        word, lists = self.words[at].text, self.lists
        if child := tree.children.get(word):
            yield from self._walk(child, at + 1, fits + 2, value, old, denied)
        if child := tree.children.get(f"={word}"):
            began = Value(value.start if value and value.end == at else at, at + 1)
            yield from self._walk(child, at + 1, fits + 3, began, old, denied)
        for slot, child in tree.slots:
            for found in self.values(slot.kind, at):
                here = fits + (3 if slot.kind in lists.kinds else 1)
                new = value if slot.is_old or slot.kind == "rest" else found
                yield from self._walk(child, found.end, here, new, found if slot.is_old else old, denied)
                if not child.children:
                    break
        if self.is_time[at]:
            following = at + 1
            while following < len(self.words) and self.is_time[following]:
                following += 1
            yield from self._walk(tree, following, fits, value, old, denied)
        elif no := lists.negation.longest(self.words, at):
            yield from self._walk(tree, no[0], fits, value, old, True)
        elif skipped := lists.skip.longest(self.words, at):
            yield from self._walk(tree, skipped[0], fits, value, old, denied)

    def _ends_clause(self, at: int) -> bool:
        if at == len(self.words) or self.is_time[at] or not self.words[at].text[0].isalnum():
            return True
        return self.words[at].text in self.lists.single["and"] or self.lists.skip.longest(self.words, at) is not None

    # Values

    def values(self, kind: str, at: int) -> Iterator[Value]:
        """What may stand in a slot from a word on, the longest first."""
        words, lists = self.words, self.lists
        if at >= len(words):
            return
        if kind in lists.kinds:
            yield from self._listed(kind, at)
            return
        if kind == "role":
            yield from self._role(at)
            return
        if kind == "date":
            end = at
            while end < len(words) and (self.is_time[end] or (self.word(end) in lists.single["and"] and end > at)):
                end += 1
            if end > at:
                yield Value(at, end)
            return
        start = at
        if kind in _WITH_ARTICLES or kind == "place":
            articles = lists.single["the"] if kind == "place" else lists.single["articles"]
            while self.word(start) in articles:
                start += 1
        lead = start
        if kind in ("person", "name", "org") and self.word(start) in lists.single["titles"]:
            while self.word(start) in lists.single["titles"] | {"."}:
                start += 1
            at = start
        end = self._trimmed(start, self._extent(kind, start))
        if end <= start or not self._fits(kind, at, start, end):
            return
        if kind == "word":
            yield from (Value(start, stop) for stop in range(start + 1, min(end, start + 3) + 1))
        else:
            yield from (Value(lead, stop) for stop in range(end, start, -1))

    def _listed(self, kind: str, at: int) -> Iterator[Value]:
        words, lists = self.words, self.lists
        for head in range(at, min(at + (3 if kind in _HEADS else 1), len(words))):
            if found := lists.kinds[kind].longest(words, head):
                end = found[0]
                while kind in _GO_ON and end < len(words) and not self.is_time[end]:
                    joins = words[end].text in _OF_NAMES and end + 1 < len(words) and words[end + 1].is_capitalised
                    if not (joins or words[end].is_capitalised or words[end].text[0].isdigit()):
                        break
                    end += 1
                yield Value(at, end)
                return
            word = words[head].text
            if not word[0].isalpha() or word in lists.single["articles"] or lists.stop.longest(words, head):
                return

    def may_be_aside(self, at: int) -> bool:
        """Whether a phrase without a verb may begin at a word."""
        children, word = self.lists.aside.children, self.words[at].text
        return word in children or any(next(self.values(slot.kind, at), None) for slot, _ in self.lists.aside.slots)

    def _role(self, at: int) -> Iterator[Value]:
        """What somebody is who is that at a place with a name: "estimator with Brellworth Homes"."""
        single = self.lists.single
        for end in range(at + 1, min(at + 5, len(self.words) - 1)):
            word = self.words[end - 1].text
            if not word[0].isalpha() or word in single["articles"] or self.lists.stop.longest(self.words, end - 1):
                return
            behind = end + 1 + (self.word(end + 1) in single["the"])
            if self.word(end) in single["at"] and behind < len(self.words):
                is_named = self.words[behind].is_capitalised and not self.is_time[behind]
                if is_named and not next(self._listed("no_role", at), None):
                    yield Value(at, end)
                return

    def _trimmed(self, start: int, end: int) -> int:
        """The end without adverbs, articles and prepositions behind a value."""
        single = self.lists.single
        idle = single["articles"] | single["and"] | single["of"] | single["change"]
        while end > start:
            if self.words[end - 1].text in idle:
                end -= 1
            elif (found := self.lists.between.longest(self.words, end - 1, -1)) and found[1] in ("skip", "not"):
                end = found[0] + 1
            else:
                break
        return end

    def _extent(self, kind: str, start: int) -> int:
        """The end of the longest value of a kind that begins at a word."""
        if kind in ("age", "size"):
            return start + 1
        if kind == "shoe":  # "EU 42"
            return start + 1 + (self.word(start) in ("eu", "uk", "us", "it", "fr", "de"))
        words, single, end = self.words, self.lists.single, start
        named = kind in _NAMED and start < len(words) and self._is_name(words[start])
        while end < min(len(words), start + MAX_WORDS_OF_A_VALUE):
            word = words[end]
            if kind in ("number", "address") and (word.text in _CURRENCIES or word.text[0].isdigit()):
                end += 1
                continue
            if self.is_time[end]:
                break
            if not word.text[0].isalnum():
                is_title = word.text == "." and end > start and words[end - 1].text in _TITLES
                if not is_title and word.text not in "&#" and not (kind == "number" and word.text == "%"):
                    break
            elif named:
                joins = word.text in _OF_NAMES and word.text not in single["and"] - {"&"}
                if not self._is_name(word) and not (joins and end + 1 < len(words) and self._is_name(words[end + 1])):
                    break
            elif end > start and word.text in single["and"]:
                after = self.word(end + 1)
                is_new = after in self.lists.forms or self.lists.stop.longest(words, end + 1)
                if not after or is_new or kind not in ("list", "thing", "text"):
                    break
            elif (self.lists.stop.longest(words, end) and (kind != "text" or end > start)) or (
                word.text in single["stop_thing"] and kind not in ("text", "address", "mail", "rest")
            ):
                break
            end += 1
        return end

    def _fits(self, kind: str, at: int, start: int, end: int) -> bool:
        first = self.words[start]
        if first.text in self.lists.single["never"] and not (first.is_capitalised and start):
            return False
        if self.lists.stop.longest(self.words, start) and not first.is_capitalised:
            return False
        if self.lists.negation.longest(self.words, start):
            return False
        if kind == "age":
            return (first.text in self.lists.numbers and not self.is_time[start]) or (
                first.text.isdigit() and 0 < int(first.text) < 130
            )
        if kind in ("number", "address"):
            has_digit = any(mark.isdigit() for word in self.words[start:end] for mark in word.text)
            begins = first.text[0].isdigit() or first.text in _CURRENCIES
            return (has_digit and (kind == "address" or begins)) or (
                kind == "number" and first.text in self.lists.numbers
            )
        if kind == "mail":
            return "@" in "".join(word.text for word in self.words[start:end])
        if kind in ("person", "name") and first.text in self.lists.subject_words:
            return False
        if kind == "person":
            return first.is_capitalised
        if kind == "bare":
            return first.text not in self.lists.single["articles"]
        if kind == "place" and first.text in self.lists.single["not_place"]:
            return False
        if kind in ("place", "name", "school"):
            return first.is_capitalised or (start == at and self._is_name(first))
        if kind == "size":
            return first.text[0].isdigit()
        if kind == "shoe":
            return self.words[end - 1].text[0].isdigit()
        if kind == "zone":
            return first.is_capitalised and first.text.isalpha() and 3 <= len(first.text) <= 4
        return first.text[0].isalnum() or first.text in _CURRENCIES

    def _is_name(self, word: Word) -> bool:
        """Whether it has a capital letter, or nothing in the sentence has."""
        if word.is_capitalised or word.text[0].isdigit():
            return True
        if self.has_capitals or self.lists.capital_nouns or not word.text[0].isalpha():
            return False
        return word.text not in self.lists.single["articles"] | self.lists.single["stop_thing"]


__all__ = ["Match", "Slot", "Text", "Value"]
