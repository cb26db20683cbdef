"""Compares first-person statements: whether two claim the same, and which attributes they give a single value.

English only, like the patterns of self_statements.py, which find such statements.
"""

from __future__ import annotations

import re

_CONTRACTIONS = (
    (re.compile(r"\bcan['’]t\b"), "can not"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"['’]m\b"), " am"),
    (re.compile(r"['’]re\b"), " are"),
    (re.compile(r"['’]ve\b"), " have"),
    (re.compile(r"['’]ll\b"), " will"),
    (re.compile(r"['’]s\b"), " is"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"\bfavorite"), "favourite"),
    (re.compile(r"\bcolor\b"), "colour"),
)
_WORD = re.compile(r"\w+")
# Words that change nothing about a claim. "not", "no", "was" and "will" do.
_EMPTY = "a an the i me my am is are do does that really very so just also and too actually"
_EMPTY_WORDS = frozenset(_EMPTY.split())

_VALUE = r"(?P<value>(?!(?:an?|the)\b)[\w][^.,;:!?()]*?)(?= and\b| but\b| as\b| since\b| now\b|[.,;:!?()]|$)"
_SINGLE_VALUED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bmy (?P<attribute>name) is {_VALUE}",
        rf"\bi (?:now |currently |still )*(?P<attribute>live) (?:in|at) {_VALUE}",
        rf"\bi (?:now |currently |still )*(?P<attribute>work) (?:at|for) {_VALUE}",
        r"\bi am (?:now |currently )*(?P<value>\d{1,3}) (?P<attribute>years old)\b",
        rf"\bmy (?P<attribute>favourite \w+) is {_VALUE}",
    )
)


def plain(statement: str) -> str:
    """In lower case, contractions written out, white space as single spaces."""
    text = " ".join(statement.lower().split())
    for contraction, written_out in _CONTRACTIONS:
        text = contraction.sub(written_out, text)
    return text


def claim(statement: str) -> frozenset[str]:
    """The words that make up the claim of a statement; equal for statements that differ in wording only."""
    return frozenset(_WORD.findall(plain(statement))) - _EMPTY_WORDS


def single_values(statement: str) -> dict[str, str]:
    """The attributes of the writer that have one value at a time, with the value stated: `{"live": "lisbon"}`."""
    text = plain(statement)
    found = (match for pattern in _SINGLE_VALUED for match in pattern.finditer(text))
    return {match["attribute"]: match["value"].strip() for match in found}
