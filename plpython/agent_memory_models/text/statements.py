"""Compares first-person statements: whether two claim the same, and which attributes they give a single value.

English only, like the patterns of self_statements.py, which find such statements.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CONTRACTIONS = (
    (re.compile(r"\bcan['’]t\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['’]m\b", re.IGNORECASE), " am"),
    (re.compile(r"['’]re\b", re.IGNORECASE), " are"),
    (re.compile(r"['’]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"['’]s\b", re.IGNORECASE), " is"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bfavorite", re.IGNORECASE), "favourite"),
    (re.compile(r"\bcolor\b", re.IGNORECASE), "colour"),
)
_WORD = re.compile(r"\w+")
# Words that change nothing about a claim. "not", "no", "was" and "will" do.
_EMPTY = "a an the i me my am is are do does that really very so just also and too actually"
_EMPTY_WORDS = frozenset(_EMPTY.split())

_END = r" and\b| but\b| as\b| since\b| now\b|[.,;:!?()]|$"
_WHEN = r" in \d| last\b| this\b| a (?:week|month|year)s? ago\b| \w+ (?:week|month|year)s? ago\b"
_VALUE = rf"(?P<value>(?!(?:an?|the)\b)[\w][^.,;:!?()]*?)(?={_END})"
_PLACE = rf"(?P<value>(?!(?:an?|the)\b)[\w][^.,;:!?()]*?)(?={_WHEN}|{_END})"
_NOW = r"(?:now |currently |still |just |recently |have |finally )*"
# Attributes that have one value at a time, with the phrases that state it.
_SINGLE_VALUED = tuple(
    (attribute, re.compile(pattern, re.IGNORECASE))
    for attribute, pattern in (
        ("name", rf"\bmy name is {_VALUE}"),
        ("home", rf"\bi {_NOW}live (?:in|at) {_PLACE}"),
        ("home", rf"\bi am {_NOW}living (?:in|at) {_PLACE}"),
        # A place has a capital letter, unlike "I moved to dark mode".
        ("home", rf"\bi {_NOW}(?:moved|relocated) (?:back )?to (?=(?-i:[A-ZÀ-Þ])){_PLACE}"),
        ("employer", rf"\bi {_NOW}work (?:at|for) {_VALUE}"),
        ("employer", rf"\bi am {_NOW}working (?:at|for) {_VALUE}"),
        (
            "employer",
            rf"\bi {_NOW}(?:started|got|took|found|accepted) (?:working|a (?:new )?job) (?:at|for|with) {_PLACE}",
        ),
        ("profession", rf"\bi {_NOW}work as (?:an? )?{_VALUE}"),
        ("age", r"\bi am (?:now |currently )*(?P<value>\d{1,3}) years old\b"),
        ("favourite", rf"\bmy (?:new )?favourite (?P<of>\w+) is (?:now )?{_VALUE}"),
    )
)
# "I prefer tea to coffee" has the value tea of the choice between coffee and tea.
_CHOICE = re.compile(
    rf"\bi {_NOW}prefer (?P<value>\w[\w ]*?) (?:over|to|rather than) (?P<other>\w[\w ]*?)(?= now\b|[.,;:!?()]|$)"
)
# "I prefer an aisle seat": which seat. Another value completes this one ("I prefer short answers, I prefer honest
# answers") unless the sentence says that something has changed.
_KIND = re.compile(rf"\bi {_NOW}prefer (?:an? |the )?(?P<value>\w+) (?P<of>\w+?)s?(?= now\b| instead\b|[.,;:!?()]|$)")
_CHANGE = re.compile(r"\b(?:now|nowadays|instead|these days|lately|any ?more)\b")


class Value(NamedTuple):
    """The value of an attribute, and whether it takes the place of any other value that was said before."""

    text: str
    replaces: bool


def plain(statement: str) -> str:
    """In lower case, contractions written out, white space as single spaces."""
    return _written_out(statement).lower()


def _written_out(statement: str) -> str:
    text = " ".join(statement.split())
    for contraction, written_out in _CONTRACTIONS:
        text = contraction.sub(written_out, text)
    return text


def claim(statement: str) -> frozenset[str]:
    """The words that make up the claim of a statement; equal for statements that differ in wording only."""
    return frozenset(_WORD.findall(plain(statement))) - _EMPTY_WORDS


def single_values(statement: str) -> dict[str, Value]:
    """The attributes of the writer that have one value at a time, with the value stated: `{"home": ("rome", True)}`."""
    text = _written_out(statement)
    found = {}
    if match := _KIND.search(text.lower()):
        found[f"prefer {match['of']}"] = Value(match["value"], _CHANGE.search(text.lower()) is not None)
    if match := _CHOICE.search(text.lower()):
        found[f"prefer {sorted([match['value'], match['other']])}"] = Value(match["value"], replaces=True)
    for attribute, pattern in _SINGLE_VALUED:
        for match in pattern.finditer(text):
            of = match.groupdict().get("of", "").lower()
            found[f"{attribute} {of}".rstrip()] = Value(match["value"].strip().lower(), replaces=True)
    return found
