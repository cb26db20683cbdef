"""Compares the values of attributes."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .lists import ATTRIBUTES

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=8192)
def plain_value(text: str | None) -> str:
    """A value without what does not count in a comparison: case, accents, marks."""
    letters = unicodedata.normalize("NFKD", (text or "").lower())
    return " ".join(_WORD.findall("".join(mark for mark in letters if not unicodedata.combining(mark))))


def names_only(attribute: str, value: str) -> bool:
    """Whether a value is only a name of the attribute: "I sold my car"."""
    lists = ATTRIBUTES.get(attribute, {}).values()
    return any(plain_value(value) in names for names in lists if isinstance(names, list))


def are_equal(one: str | None, other: str | None) -> bool:
    """Whether two values differ in nothing but case, accents and marks."""
    return plain_value(one) == plain_value(other)


def kind_word(value: str | None) -> str:
    """The last of several words, which tells what kind of thing it is: "seat" of "aisle seats"."""
    words = plain_value(value).split()
    return words[-1].rstrip("s") if len(words) > 1 else ""


def one_holds_other(value: str, other: str | None) -> bool:
    """Whether two values are the same, or all words of one stand in the other."""
    ours, theirs = set(plain_value(value).split()), set(plain_value(other).split())
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours)


def with_value(text: str, old: str | None, new: str) -> str | None:
    """A text with the right value in place of the wrong one; None if it does not have the wrong one."""
    if not old:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: new, text, count=1) if pattern.search(text) else None
