"""Groups of words and phrases of a language, and the places where a text has them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from ..lists import LANGUAGES as _LISTS

_TOKEN = re.compile(r"\w+['’]?|[^\w\s]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PREFIX_LENGTH = 3
_TAGS = ""  # the key of a node of the tree of phrases that has the groups of the phrase that ends there


class Token(NamedTuple):
    """A word or a mark of a text, in lower case, and where it stands."""

    text: str
    start: int
    end: int
    is_capitalised: bool


Match = dict[str, int]
"""The groups that have a phrase which begins at a token, each with the place behind its longest such phrase."""


def tokens_of(text: str) -> list[Token]:
    """The words and marks. A word with an apostrophe is two: "I'm" is "i'" and "m", "j'ai" is "j'" and "ai"."""
    return [
        Token(match[0].lower().replace("’", "'"), match.start(), match.end(), match[0][0].isupper())
        for match in _TOKEN.finditer(text)
    ]


@dataclass(frozen=True)
class Language:
    """Groups of phrases, each a text with commas between the phrases. All groups are optional except `common`.

    In a phrase `(a|b|)` stands for each of the choices, `#` for a number, `##` for a year, `*` for any word, `wor*` for
    all words that begin so (with three letters at least), and `^` says that the phrase begins a clause.
    docs/languages.md says what each group is for.

    Attributes:
        name: the English name.
        code: its two letters, the name of its files in lists/, which have the other attributes.
        needs_subject: whether a verb needs its pronoun: "I live", but "vivo".
        has_inversion: whether the pronoun may stand behind the verb: "seitdem wohne ich".
        has_capital_nouns: whether all nouns have a capital letter.
        first_person: how a verb of the first person ends, where verbs need no pronoun.
        passing_ends: how a word behind "I am" ends that makes the whole passing: "I am reading".
    """

    name: str
    code: str
    common: str
    needs_subject: bool = False
    has_inversion: bool = False
    has_capital_nouns: bool = False
    first_person: str = ""
    passing_ends: str = ""
    adverbs: str = ""
    articles: str = ""
    ask: str = ""
    be: str = ""
    clause_words: str = ""
    facts: str = ""
    favourites: str = ""
    fillers: str = ""
    habits: str = ""
    hints: str = ""
    kin: str = ""
    lasting: str = ""
    life: str = ""
    likes: str = ""
    moods: str = ""
    negation: str = ""
    not_liked: str = ""
    numbers: str = ""
    other: str = ""
    own: str = ""
    passing: str = ""
    reported: str = ""
    request: str = ""
    standing: str = ""
    strong: str = ""
    subject: str = ""
    suppose: str = ""
    tastes: str = ""
    tasks: str = ""
    third: str = ""
    void: str = ""
    weak: str = ""

    def match(self, tokens: list[Token], at: int, begins_clause: bool) -> Match:
        """The phrases that begin at a token. One of the group `void` takes the place of shorter ones."""
        found: Match = {}
        nodes = [(self._tree, at)]
        if begins_clause and "^" in self._tree:
            nodes.append((self._tree["^"], at))
        while nodes:
            node, position = nodes.pop()
            for group in node.get(_TAGS, ()):
                found[group] = max(position, found.get(group, 0))
            if position < len(tokens):
                nodes.extend((child, position + 1) for child in self._children(node, tokens[position].text))
        if void := found.get("void"):
            return {group: end for group, end in found.items() if end >= void or group == "subject"}
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """All whole words of all phrases."""
        return frozenset(
            word
            for field in fields(self)
            if field.type == "str" and field.name not in _NO_PHRASES
            for phrase in phrases(getattr(self, field.name))
            for word in phrase
            if word.isalpha()
        )

    @cached_property
    def common_words(self) -> frozenset[str]:
        """The words that tell the language."""
        return frozenset(word for phrase in phrases(self.common) for word in phrase)

    def is_number(self, word: str) -> bool:
        """Whether it begins with a digit or is the word of a number."""
        return word[0].isdigit() or word in self._numbers

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return frozenset(word for phrase in phrases(self.numbers) for word in phrase)

    @cached_property
    def _tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for field in fields(self):
            if field.type != "str" or field.name in _NO_PHRASES:
                continue
            for phrase in phrases(getattr(self, field.name)):
                node = tree
                for word in phrase:
                    if word.endswith("*") and word != "*":
                        node = node.setdefault(f"*{word[:_PREFIX_LENGTH]}", {})
                    node = node.setdefault(word, {})
                node.setdefault(_TAGS, set()).add(field.name)
        return tree

    def _children(self, node: dict[str, Any], word: str) -> list[dict[str, Any]]:
        keys = [word, "*"] if word[0].isalnum() else [word]
        if word.endswith("'") and len(word) > 1:  # "wife's" is "wife'" and "s"
            keys.append(word[:-1])
        if word.isdigit():
            keys += ["#", "##"] if _YEAR.fullmatch(word) else ["#"]
        elif word in self._numbers:
            keys.append("#")
        found = [node[key] for key in keys if key in node]
        if starts := node.get(f"*{word[:_PREFIX_LENGTH]}"):
            found += [child for prefix, child in starts.items() if word.startswith(prefix[:-1])]
        return found


_NO_PHRASES = ("name", "code", "common", "numbers", "first_person", "passing_ends")
_PHRASE_WORD = re.compile(r"\^|\w+\*|\w+'?|##?|\*")


def phrases(group: str) -> list[tuple[str, ...]]:
    """The phrases of a group as tuples of words: "my (dog|cat)" is two."""
    spelt = (spelling for entry in group.split(",") for spelling in spellings(" ".join(entry.split())))
    return [words for words in (tuple(_PHRASE_WORD.findall(spelling)) for spelling in spelt) if words]


def entries(text: str) -> list[str]:
    """The entries of a list with commas; commas within brackets do not count."""
    return [" ".join(entry.split()) for entry in re.split(r",(?![^()]*\))", text) if entry.strip()]


def spellings(entry: str) -> list[str]:
    """The phrases of an entry with choices; a choice may hold choices."""
    found = [""]
    choices: list[str] = []
    depth = start = 0
    for position, mark in enumerate(entry):
        if mark == "(":
            if depth == 0:
                found = [left + entry[start:position] for left in found]
                start, choices = position + 1, []
            depth += 1
        elif mark in "|)" and depth == 1:
            choices += spellings(entry[start:position])
            start = position + 1
            if mark == ")":
                found = [left + choice for left in found for choice in choices]
                depth = 0
        elif mark == ")":
            depth -= 1
    if depth:
        raise ValueError(f"a bracket is open: {entry}")
    return [left + entry[start:] for left in found]


LANGUAGES = tuple(Language(code=code, **_LISTS[code]) for code in ("en", "de", "es", "fr", "pt", "it", "nl"))
"""A text counts as the first of them that tells."""
