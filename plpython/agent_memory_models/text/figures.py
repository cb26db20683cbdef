"""Numbers and times of a text, with the words around them, which tell of what they are."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import NamedTuple

from .event_times import times_in
from .phrases import Phrases, words_in
from .values import plain_value

ANY_DAY = date(2100, 1, 1)  # values do not depend on it


def stem(word: str) -> str:
    """A word without what makes it plural."""
    word = plain_value(word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class Figure(NamedTuple):
    """A number or a time of a text, and the words behind it and before it, which tell of what."""

    text: str
    unit: str
    frame: tuple[str, ...]
    place: int
    is_time: bool

    def is_like(self, other: Figure) -> bool:
        """Whether one can be meant for the other: of as many digits, or of the same thing."""
        digits = [sum(map(str.isdigit, each.text)) for each in (self, other)]
        return bool(self.unit) or self.is_time or (digits[0] == digits[1] > 0)


@lru_cache(maxsize=4096)
def figures(text: str, lists: Phrases) -> list[Figure]:
    """The numbers and times of a text."""
    words = words_in(text, lists.language)
    times = times_in(text, ANY_DAY, lists.language)
    found = []
    for time in times:
        place = next((at for at, word in enumerate(words) if word.start >= time.bare), 0)
        found.append(Figure(text[time.bare : time.end], "", (), place, True))
    for at, word in enumerate(words):
        is_time = any(time.start <= word.start < time.end for time in times)
        if not is_time and (any(map(str.isdigit, word.text)) or word.text in lists.numbers):
            unit = words[at + 1].text if at + 1 < len(words) and words[at + 1].text.isalpha() else ""
            is_empty = unit in lists.empty | lists.single["stop_thing"] or lists.stop.longest(words, at + 1)
            unit = "" if is_empty else unit
            frame = [each.text for each in words[max(0, at - 4) : at] if each.text not in lists.single["articles"]][-2:]
            end = words[at + 1].end if unit else word.end
            found.append(Figure(text[word.start : end], stem(unit), tuple(frame), at, False))
    return found
