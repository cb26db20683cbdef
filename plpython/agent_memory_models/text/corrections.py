"""What a sentence without facts corrects: "no wait, almonds, not peanuts", "gah, trumpet!", "says 10 mg, sorry".

A correction takes subject and attribute from the newest statement that it can mean.
"""

from __future__ import annotations

import re
from datetime import date
from difflib import SequenceMatcher

from .event_times import day_of, times_in
from .fact import Fact, Stated
from .figures import figures
from .phrases import Word, phrases, words_in
from .values import plain_value, with_value

_SHORT = 4
"""A sentence of so many words may be no more than a value."""
_LONGEST_CORRECTION = 12
"""In words, without those that say that something was wrong."""
_MOST_PARTS = 12
"""Marks of a sentence whose parts are read."""
_WITHIN = frozenset("*&'’\"$€£+#/%-")
"""Marks that do not end a part of a sentence."""


class Corrections:
    """Reads the corrections of one conversation."""

    def __init__(self) -> None:
        self.holding: list[Stated] = []
        self.said_at = ""
        self.is_wrong = False
        """The sentence before said that a statement was wrong, and not what is right."""
        self.last = ""
        """The sentence before, if it is short."""

    def read(self, sentence: str, language: str, holding: list[Stated], said_at: str) -> list[Fact]:
        """What a sentence without facts corrects: all of it, or one of its parts: "gah, trumpet! Been a long day"."""
        self.holding, self.said_at = holding, said_at
        lists, words = phrases(language), words_in(sentence, language)
        if not words or sentence.endswith("?"):
            return []
        was_wrong, self.is_wrong = self.is_wrong, False
        says_wrong = [(at, found[0]) for at in range(len(words)) if (found := lists.wrong.longest(words, at))]
        is_sure = bool(says_wrong or was_wrong or "*" in (words[0].text, words[-1].text))
        marks = [at for at, word in enumerate(words) if not _speaks(word) and word.text[0] not in _WITHIN][:_MOST_PARTS]
        last = max((behind for _, behind in says_wrong), default=0)
        first = min((at for at, _ in says_wrong), default=len(words))
        parts = [(last, len(words)) if _letters(words[last:]) else (0, first)]
        says_only = all(
            not _speaks(words[at]) or lists.mild.longest(words, at)
            for at in range(min((at for at, _ in says_wrong), default=0))
        )
        parts += [(start + 1, end) for start, end in zip([-1, *marks], [*marks, len(words)], strict=True) if marks]
        hint = _noun(words, language) if says_wrong else None
        before, self.last = self.last, sentence if len(words) <= _SHORT else ""
        for place, (start, end) in enumerate(parts):
            is_all = says_only and place == 0 and end == len(words)
            if fact := self._correcting(sentence, words, start, end, hint, is_sure, is_all, language):
                return [fact]
            if place and (fact := self._contrasted(sentence, words, parts[1:], place - 1, before, language)):
                return [fact]
        if is_sure and (fact := self._other_figure(sentence, words, language)):
            return [fact]
        self.is_wrong = is_sure
        return []

    def _contrasted(
        self, sentence: str, words: list[Word], parts: list[tuple[int, int]], place: int, before: str, language: str
    ) -> Fact | None:
        """What stands before the denial of a known value: "Linz! Not Graz", "from one, I should say, not from noon"."""
        lists = phrases(language)
        start, end = parts[place]
        denied = lists.negation.longest(words, start)
        at = denied[0] if denied else end
        while at < end and (words[at].text in lists.empty or words[at].text in lists.single["stop_thing"]):
            at += 1
        rows = [row for row in reversed(self.holding) if self._is_recent(row)]
        old = sentence[words[at].start : words[at].end] if at < end else ""
        target = next(
            (row for row in rows if old and set(plain_value(old).split()) <= set(plain_value(row.value).split())), None
        )
        if target is None:
            return None
        for told, first, last in [(sentence, *part) for part in parts[:place][::-1]] + (
            [(before, 0, 0)] if before and not place else []
        ):
            spoken = words if told is sentence else words_in(told, language)
            value = self._value_of(spoken, first, last or sum(map(_speaks, spoken)), language)
            if value:
                said = told[spoken[value[0]].start : spoken[value[1] - 1].end]
                return self._correct(target, old, said, sentence, (words[0].start, words[-1].end), False)
        return None

    def _other_figure(self, sentence: str, words: list[Word], language: str) -> Fact | None:
        """The only number or time of a sentence, in place of the one of a recent statement."""
        said = figures(sentence, phrases(language))
        for row in reversed(self.holding):
            known = figures(row.content, phrases(language)) if self._is_recent(row) else []
            pairs = [(old, new) for old in known for new in said if (old.unit, old.is_time) == (new.unit, new.is_time)]
            is_like = len(pairs) == 1 and pairs[0][0].is_like(pairs[0][1])
            if is_like and pairs[0][0].text.lower() != pairs[0][1].text.lower():
                old, new = (each.text for each in pairs[0])
                return self._correct(row, old, new, sentence, (words[0].start, words[-1].end), False)
        return None

    def _correct(
        self, target: Stated, old: str | None, value: str, sentence: str, at: tuple[int, int], is_change: bool
    ) -> Fact:
        """The fact that a correction of a statement makes."""
        known, gone = (set(plain_value(each).split()) for each in (target.value, old))
        if gone and (gone - known or (known - gone) & set(plain_value(value).split())):  # "21 June, not 12"
            old = old if not target.attribute or with_value(target.content, old, value) else target.value
        wrong = old or target.value
        return Fact(
            target.subject,
            target.attribute,
            with_value(target.value, old, value) or (f"{target.value} {value}" if gone - known else value),
            "holds",
            *at,
            old=target.value,
            content=with_value(target.content, wrong, value) or sentence,
            corrects=not is_change,
        )

    def _correcting(
        self,
        sentence: str,
        words: list[Word],
        start: int,
        end: int,
        hint: tuple[str, set[str]] | None,
        is_sure: bool,
        is_all: bool,
        language: str,
    ) -> Fact | None:
        """The correction that some words of a sentence are."""
        lists = phrases(language)
        skipped = frozenset[str]().union(*(lists.single[name] for name in ("articles", "own", "to", "of")))
        is_mild = False
        while start < end and (
            not _speaks(words[start])
            or lists.mild.longest(words, start)
            or lists.wrong.longest(words, start)
            or words[start].text in skipped
            or (hint and words[start].text in hint[1])
        ):
            found = lists.mild.longest(words, start)
            is_mild = is_mild or bool(found)
            found = found or lists.wrong.longest(words, start)
            start = found[0] if found else start + 1
        while end > start and (not _speaks(words[end - 1]) or lists.mild.longest(words, end - 1)):
            end -= 1
        if start >= end or end - start > _LONGEST_CORRECTION:
            return None
        new, old = self._sides(words, start, end, language)
        told = new and self._value_of(words, *new, language)
        if told is None:
            return None
        is_all, new = is_all and told == new, told
        value = sentence[words[new[0]].start : words[new[1] - 1].end]
        replaced = old and sentence[words[old[0]].start : words[old[1] - 1].end]
        target = self._corrected(value, replaced, hint and hint[0], is_sure, is_mild, new[1] - new[0], language, is_all)
        if target is None:
            return None
        is_change = any(word.text in lists.single["now"] for word in words)
        return self._correct(target, replaced, value, sentence, (words[0].start, words[-1].end), is_change)

    def _value_of(self, words: list[Word], start: int, end: int, language: str) -> tuple[int, int] | None:
        """The value that a few words tell, be it behind "she's at" or before "is what it says"."""
        lists = phrases(language)

        def is_verb(at: int) -> bool:
            return words[at].text in lists.forms or words[at].text in lists.subject_words

        told = [at for at in range(start, end) if is_verb(at) or lists.is_.longest(words, at)]
        about = [at for at in range(start, told[-1] if told else start) if _speaks(words[at])]
        about = [at for at in about if words[at].text not in lists.empty and not is_verb(at)]
        if (
            about
            and lists.is_.longest(words, told[0])
            and words[min(told[0] + 1, end - 1)].text in lists.single["never"]
        ):
            end = told[0]  # "almonds is what it says"
        elif about:
            return None  # "the capital of Australia is Canberra"
        elif told:
            start = told[-1] + 1
        while start < end and (lists.skip.longest(words, start) or words[start].text in lists.single["stop_thing"]):
            start += 1
        return (start, end) if start < end and not any(map(is_verb, range(start, end))) else None

    def _sides(
        self, words: list[Word], start: int, end: int, language: str
    ) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """The words of the new and of the old value: "A, not B", "not B but A", "A instead of B"."""
        lists = phrases(language)
        contrast = lists.contrast
        negated = lists.negation.longest(words, start)
        if negated:
            for at in range(negated[0] + 1, end):
                if words[at].text in lists.single["but"] or words[at].text == ",":
                    new = at + 1
                    while new < end and (
                        not _speaks(words[new])
                        or words[new].text in lists.single["but"]
                        or lists.mild.longest(words, new)
                    ):
                        new += 1
                    return ((new, end) if new < end else None), (negated[0], at)
            return None, None
        for at in range(start + 1, end):
            if found := contrast.longest(words, at):
                new = at
                while new > start and not _speaks(words[new - 1]):
                    new -= 1
                old = found[0]
                return (start, new), ((old, end) if old < end else None)
        return (start, end), None

    def _kind(self, value: str, language: str) -> str:
        """Two values of one kind can take each other's place."""
        if times_in(value, date.min.replace(year=2000), language):
            return "time"
        if "@" in value:
            return "mail"
        if figure := next((word for word in value.lower().split() if any(map(str.isdigit, word))), ""):
            return re.sub(r"\d+", "0", re.sub(r"[^\w]", "", figure))  # "HC-20931" is like "HC-55410"
        return "name" if value[:1].isupper() else "words"

    def _corrected(
        self,
        value: str,
        old: str | None,
        hint: str | None,
        is_sure: bool,
        is_mild: bool,
        length: int,
        language: str,
        is_all: bool,
    ) -> Stated | None:
        """The newest statement that a correction can mean."""
        wrong = set(plain_value(old).split())
        for row in reversed(self.holding):
            known = set(plain_value(row.value).split())
            if wrong and (wrong <= known or (known < wrong and all(map(_is_short, wrong - known)))):
                return row  # "pas aux cacahuètes", but not "not allergic to peanuts"
        is_alike = not old and next(
            (row for row in reversed(self.holding) if self._is_recent(row) and _are_alike(row.value, value)), None
        )
        if is_alike:
            return is_alike
        if old or not (is_sure or (is_mild and is_all)) or length > 5:
            return None
        for row in reversed(self.holding):
            if hint:
                if row.base == hint:
                    return row
            elif (
                self._is_recent(row)
                and row.attribute
                and self._kind(row.value, language) == self._kind(value, language)
                and (is_all or len(plain_value(row.value).split()) <= length + 1)
                and (
                    self._kind(value, language) != "words"
                    or (is_sure and ((is_all and length <= 3) or self._are_listed(row.value, value, language)))
                )
            ):
                return row
        return None

    def _are_listed(self, one: str, other: str, language: str) -> bool:
        """Whether one list has both values: trombone and trumpet."""
        ours, theirs = words_in(one, language), words_in(other, language)
        return any(
            tree.longest(ours, 0) and (found := tree.longest(theirs, 0)) and found[0] == len(theirs)
            for tree in phrases(language).kinds.values()
        )

    def _is_recent(self, row: Stated) -> bool:
        """Whether a correction that names neither value nor attribute can mean a statement: of the last two days."""
        then, now = day_of(row.said_at), day_of(self.said_at)
        return then is None or now is None or abs((now - then).days) <= 1


def _are_alike(one: str, other: str) -> bool:
    """Whether two names or numbers differ in a letter or two, as typos do."""
    one, other = plain_value(one), plain_value(other)
    is_name = min(len(one), len(other)) > 4 and one != other and abs(len(one) - len(other)) < 3
    return is_name and SequenceMatcher(None, one, other).ratio() > 0.8


def _is_short(word: str) -> bool:
    """Whether a word can be an article or a preposition."""
    return len(word) <= 4


def _letters(words: list[Word]) -> bool:
    return any(map(_speaks, words))


def _speaks(word: Word) -> bool:
    return word.text[0].isalnum() or word.text in "$€£+#"


def _noun(words: list[Word], language: str) -> tuple[str, set[str]] | None:
    """The attribute that a sentence names: "I gave you the wrong number"."""
    for at in range(len(words)):
        if found := phrases(language).nouns.longest(words, at):
            return found[1][0], {word.text for word in words[at : found[0]]}
    return None
