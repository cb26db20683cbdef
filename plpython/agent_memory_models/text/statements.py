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
    (r"\bcan['’]t\b", "can not"),
    (r"\bwon['’]t\b", "will not"),
    (r"n['’]t\b", " not"),
    (r"['’]m\b", " am"),
    (r"['’]re\b", " are"),
    (r"['’]ve\b", " have"),
    (r"['’]ll\b", " will"),
    (r"['’]s\b", " is"),
    (r"\bcannot\b", "can not"),
    (r"\bfavorite", "favourite"),
    (r"\bcolor\b", "colour"),
)
_WORD = re.compile(r"\w+")
# Words that change nothing about a claim. "not", "no", "was" and "will" do.
_EMPTY = "a an the i me my am is are do does that really very so just also and too actually"
_EMPTY_WORDS = frozenset(_EMPTY.split())


class Value(NamedTuple):
    """The value of an attribute, and whether it takes the place of any other value that was said before."""

    text: str
    replaces: bool


def claim(statement: str) -> frozenset[str]:
    """The words that make up the claim of a statement; equal for statements that differ in wording only."""
    text = statement.lower()
    for contraction, written_out in _CONTRACTIONS:
        text = re.sub(contraction, written_out, text)
    return frozenset(_WORD.findall(text)) - _EMPTY_WORDS


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
