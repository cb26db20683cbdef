"""Compares statements: whether two claim the same (in English), and which attributes they give a single value."""

from __future__ import annotations

import re
from typing import NamedTuple

from .facts import Reader
from .figures import ANY_DAY
from .languages import LANGUAGES, recognise
from .lists import ATTRIBUTES, LASTING
from .subjects import USER, People
from .values import kind_word, plain_value

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
    """The attributes of one value that a statement states, by subject and name: `{"user home": ("rome", True)}`."""
    language = (recognise(statement).language or LANGUAGES[0]).code
    found = {}
    for fact in Reader(language, People(), ANY_DAY).facts(statement):
        if fact.status != "holds" or not fact.value:
            continue
        key = f"{fact.subject} {fact.attribute}"
        if ATTRIBUTES.get(fact.base, {}).get("values") == "one":
            found[key] = Value(plain_value(fact.value), replaces=True)
        elif fact.base == "preference" and (of := kind_word(fact.value)):
            # Another value completes this one ("I prefer short answers, I prefer honest answers") unless the sentence
            # says that something has changed.
            found[f"{key} {of}"] = Value(plain_value(fact.value), replaces=fact.is_change)
    return found


def is_lasting(statement: str) -> bool:
    """Whether a statement tells the speaker's name, work or health, or names a document."""
    language = (recognise(statement).language or LANGUAGES[0]).code
    if any(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", statement, re.IGNORECASE) for words in LASTING[language]):
        return True
    facts = Reader(language, People(), ANY_DAY).facts(statement)
    return any(fact.subject == USER and fact.base in LASTING["attributes"] for fact in facts)
