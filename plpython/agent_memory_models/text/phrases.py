"""The lists of a language, `lists/statements/<language>.toml`, as trees of words. docs/languages.md describes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from .languages.language import entries, spellings
from .lists import ATTRIBUTES, STATEMENTS, TIMES

ANY = "any"
"""The attribute of "I switched to Globex", which may be an employer or a bank."""
_FORMS = ("present", "past", "done", "plain", "ing")
_ENGLISH = (
    r"\bi(?=(?:m|ve)\b)|(?<=\bi)(?:m|ve)\b|\w+?(?=n['’]t\b)|n['’]t\b|"
    r"\b(?:do|does|did|is|was|are|were|have|has|ca|wo|would|could)(?=nt\b)|(?<=\w)nt\b|['’](?:m|re|ve|ll|d|s)\b|"
)
_ELISION = r"\w+['’](?=\w|$)|"
_REST = r"\w+(?:[-@+/&_]\w+|['’](?!(?:m|re|ve|ll|d|s|t)\b)\w+|(?<=\d)[.,:]\d+|\.(?=\w)\w+)*[+#]*|[^\w\s]"
_TOKENS = {
    is_english: re.compile((_ENGLISH if is_english else _ELISION) + _REST, re.IGNORECASE)
    for is_english in (True, False)
}
_WRITTEN = {
    "'m": "am",
    "m": "am",
    "'re": "are",
    "'ve": "have",
    "ve": "have",
    "'ll": "will",
    "'d": "would",
    "n't": "not",
    "nt": "not",
    "ca": "can",
    "wo": "will",
}


class Word(NamedTuple):
    """A word or a mark of a sentence, in lower case, contractions written out, and where it stands."""

    text: str
    start: int
    end: int
    is_capitalised: bool


class Slot(NamedTuple):
    """The place of a value in a phrase; an old one is what the new one takes the place of."""

    kind: str
    is_old: bool


def words_in(text: str, language: str) -> list[Word]:
    """The words and marks of a sentence. "I'm" is "i am" in English, and "j'ai" is "j' ai" in French."""
    is_english = language == "en"
    found = []
    for match in _TOKENS[is_english].finditer(text):
        word = match[0].lower().replace("’", "'")
        is_measure = word == "m" and text[match.start() - 1 : match.start()] not in ("i", "I")  # "1.68 m", "size M"
        written = _WRITTEN.get(word, word) if is_english and not is_measure else word
        found.append(Word(written, match.start(), match.end(), match[0][0].isupper()))
    return found


class Tree:
    """Phrases by their words. A key is a word or a slot; `*` is any word, and `=word` is part of the value."""

    def __init__(self) -> None:
        self.children: dict[Any, Tree] = {}
        self.slots: list[tuple[Slot, Tree]] = []
        self.says: Any = None

    def add(self, parts: Iterable[Any], says: Any) -> None:
        """Adds a phrase with what it says; the first that was added with the same words stays."""
        node = self
        for part in parts:
            if part not in node.children:
                node.children[part] = Tree()
                if isinstance(part, Slot):
                    node.slots.append((part, node.children[part]))
            node = node.children[part]
        node.says = node.says or says

    def longest(self, words: list[Word], at: int, step: int = 1) -> tuple[int, Any] | None:
        """The place behind the longest phrase that begins at a word, and what it says; backwards if step is -1."""
        node, found = self, None
        while True:
            if node.says is not None:
                found = at, node.says
            if not 0 <= at < len(words):
                return found
            following = node.children.get(words[at].text) or node.children.get("*")
            if following is None:
                return found
            node, at = following, at + step


def all_spellings(text: str) -> list[str]:
    """The phrases of a list, each choice of its entries spelt out."""
    return [spelt for entry in entries(text) for spelt in spellings(entry)]


class Phrases:
    """The lists of one language."""

    def __init__(self, language: str) -> None:
        lists: dict[str, Any] = STATEMENTS[language]
        words: dict[str, str] = lists["words"]
        subjects: dict[str, str] = lists["subjects"]
        nouns: dict[str, str] = lists["nouns"]
        self.language = language
        self.verb_last: bool = lists.get("verb_last", False)
        self.drops_subject: bool = lists.get("drops_subject", False)
        self.perfect_is_past: bool = lists.get("perfect_is_past", False)
        self.capital_nouns: bool = lists.get("capital_nouns", False)
        names = (
            *("articles", "the", "and", "stop_thing", "from", "to", "of", "but", "never", "now", "not", "be", "titles"),
            *("not_place", "gone", "instead", "at", "trailing", "who"),
        )
        self.single = {name: frozenset(entries(words.get(name, ""))) for name in names}
        self.skip = self.tree(words["skip"])
        self.negation = self.tree(words["not"])
        self.stop = self.tree(words["stop"])
        self.wrong = self.tree(words["wrong"])
        self.mild = self.tree(words["mild"])
        self.contrast = Tree()
        for entry in entries(words["instead_of"]):
            self.contrast.add(self._spelt(entry), "not" if entry in self.single["not"] else "instead")
        self.kinds = {name: self.tree(text) for name, text in lists["kinds"].items()}
        self.numbers = frozenset(re.split(r"\s*[,/]\s*", TIMES[language]["numbers"])) - self.single["articles"]
        # Whom a sentence is about
        self.first = self.tree(subjects["first"])
        self.subject_words = frozenset(
            word for name in ("first", "third", "own") for entry in entries(subjects[name]) for word in entry.split()
        )
        for name in ("own", "third", "third_own", "possessive", "named_only", "adjectives", "bare"):
            self.single[name] = frozenset(entries(subjects.get(name, "")))
        self.relations = Tree()
        for entry in entries(subjects["relations"]):
            kind, *others = entry.split("/")
            for spelt in (kind, *others):
                self.relations.add(self._spelt(spelt), kind)
        self.dropped = Tree()
        """Words that begin a clause without its subject: "allergic to nuts", with the words that are left out."""
        for missing, text in lists.get("dropped", {}).items():
            for spelt in all_spellings(text):
                self.dropped.add(self._spelt(spelt), missing.split())
        # What changes known statements whose words stand near by
        changes: dict[str, str] = lists.get("changes", {})
        self.drops, self.swaps = self.tree(changes.get("drops", "")), self.tree(changes.get("swaps", ""))
        self.passes, self.is_over = self.tree(changes.get("passes", "")), self.tree(changes.get("is_over", ""))
        self.goes, self.no_more = self.tree(changes.get("goes", "")), self.tree(changes.get("no_more", ""))
        self.tells, self.lately = self.tree(changes.get("tells", "")), self.tree(changes.get("lately", ""))
        self.takes, self.others = self.tree(changes.get("takes", "")), self.tree(changes.get("others", ""))
        self.around = Tree()
        """What stands before and behind what it ends: "let the lease lapse"."""
        for before, _, behind in (spelt.partition(" … ") for spelt in all_spellings(changes.get("around", ""))):
            node = self.around.longest([Word(word, 0, 0, False) for word in self._spelt(before)], 0)
            rest = node[1] if node else Tree()
            rest.add(self._spelt(behind), True)
            self.around.add(self._spelt(before), rest)
        self.bare = self.tree(changes.get("bare", ""))
        self.away = frozenset(entries(changes.get("away", "")))
        self.generic = frozenset(entries(changes.get("generic", "")))
        self.takes_place = frozenset(entries(changes.get("takes_place", "")))
        self.units = frozenset(entries(changes.get("units", "")))
        # What stands around nouns
        self.is_ = self.tree(nouns["is"])
        self.was = self.tree(nouns["was"])
        self.besides, self.joking = self.tree(words.get("besides", "")), self.tree(words.get("joking", ""))
        for name in ("change", "new", "old", "no_noun"):
            self.single[name] = frozenset(entries(nouns.get(name, "")))
        self.becomes, self.replaces = self.tree(nouns.get("becomes", "")), self.tree(nouns.get("replaces", ""))
        self.becomes_after = self.tree(nouns.get("as", ""))
        self.models = dict(lists.get("models", {}))
        """Kinds of names of things that somebody has, by attribute: "my Corsa"."""
        self.nouns = Tree()
        for name, attribute in ATTRIBUTES.items():
            for place, entry in enumerate(attribute.get(language, ())):
                self.nouns.add(self._spelt(entry), (name, f"/{entry}" if place and attribute.get("apart") else ""))
        self.prefixes = [
            (entry, name)
            for name in ATTRIBUTES
            for entry in ATTRIBUTES[name].get(language, ())
            if ATTRIBUTES[name].get("of")
        ]
        """Words that others begin with: "Lieblingsfarbe"."""
        # What stands between a subject and its verb, read from the verb backwards
        self.between = Tree()
        for effect, text in (lists["between"] | {"not": words["not"], "skip": words["skip"]}).items():
            for spelt in all_spellings(text):
                self.between.add(self._spelt(spelt)[::-1], effect)
        telling = ("not_place", "titles", "no_noun", "bare")
        self.empty = self.subject_words.union(*(words for name, words in self.single.items() if name not in telling))
        """Words that do not tell what a statement is about."""
        self._read_verbs(lists["verbs"])
        self._read_phrases(lists)
        helpers = f"{lists['between'].get('have', '')}, {lists['between'].get('be', '')}"
        self.helpers = frozenset(word for entry in entries(helpers) for word in self._spelt(entry)) | frozenset(
            word for word, forms in self.forms.items() if any(lemma in self.single["be"] for lemma, _, _ in forms)
        )
        """The forms of "be" and "have"."""

    def tree(self, text: str) -> Tree:
        """A tree of the phrases of a list."""
        tree = Tree()
        for spelt in all_spellings(text):
            if spelt.strip():
                tree.add(self._spelt(spelt), True)
        return tree

    def _spelt(self, entry: str) -> list[str]:
        return [word.text for word in words_in(entry, self.language)]

    def _read_verbs(self, lists: dict[str, str]) -> None:
        """The forms of each verb: present, past, participle, infinitive, and what ends in -ing.

        Where a language needs no pronouns, a bar ends the forms of the first person.
        """
        self.forms: dict[str, list[tuple[str, str, bool]]] = {}
        self.lemmas: set[str] = set()
        self.is_regular = "regular" in lists
        for entry in entries(lists.get("irregular", "")):
            lemma, *forms = entry.split("/")
            self._add_verb(lemma.strip(), [*forms, lemma, _ing(lemma.strip())] if self.is_regular else forms)
        for lemma in entries(lists.get("regular", "")):
            self._add_regular(lemma)

    def _add_regular(self, lemma: str) -> None:
        past = f"{lemma}d" if lemma.endswith("e") else f"{lemma}ed {lemma}{lemma[-1]}ed"
        if lemma.endswith("y") and lemma[-2] not in "aeiou":
            past = f"{lemma[:-1]}ied"
        self._add_verb(lemma, [f"{lemma} {lemma}s {lemma}es", past, past, lemma, _ing(lemma)])

    def _add_verb(self, lemma: str, forms: list[str]) -> None:
        self.lemmas.add(lemma)
        if self.verb_last and len(forms) > 3:  # "wohnen" is an infinitive, and what "we" do
            forms = [f"{forms[0]} {forms[3]}", *forms[1:]]
        for form, spelt in zip(_FORMS, forms, strict=False):
            first = spelt.partition("|")[0].split()
            for word in spelt.replace("|", " ").split():
                is_first = self.drops_subject and form in ("present", "past") and word in first
                self.forms.setdefault(word, []).append((lemma, form, is_first))

    def _read_phrases(self, lists: dict[str, Any]) -> None:
        self.verbs: dict[str, Tree] = {}
        self.without_subject: dict[str, Tree] = {}
        """Phrases that begin a clause ("^ call me {name}"), or that have anybody for their subject ("* call me")."""
        self.of_kind: dict[str, list[tuple[str, Tree]]] = {}
        """Phrases whose subject is of a kind ("{pet} die"): the kind by verb."""
        self.follows: dict[str, Tree] = {}
        """Phrases that may follow a fact of an attribute: "I'm a nurse" is followed by "at {org}"."""
        sections = sorted((name for name in lists if _place(name) >= 0), key=_place)
        self.aside = Tree()
        """Phrases without a verb: what a sentence takes for granted ("size {shoe}"), or says to be over."""
        for table, act in (("aside", "states"), ("over", "ends")):
            for attribute, phrases_ in lists.get(table, {}).items():
                for spelt in [spelt for phrase in phrases_ for spelt in spellings(phrase)]:
                    self.aside.add(self._parts(spelt), (attribute, act))
        for attribute in sections:
            for act, phrases_ in lists[attribute].items():
                for phrase in phrases_:
                    for spelt in spellings(re.sub(r"\[([^\]]*)\]", _marked, phrase)):
                        self._add_phrase(attribute, act, self._parts(spelt))

    def _parts(self, spelt: str) -> list[Any]:
        """The words and slots of a phrase."""
        parts: list[Any] = []
        for word in re.findall(r"\{[^}]*\}|\S+", spelt):
            parts += self._spelt(word) if "'" in word and word[0] != "=" else [_part(word)]
        return parts

    def _add_phrase(self, attribute: str, act: str, parts: list[Any]) -> None:
        if act.startswith("after_"):
            self.follows.setdefault(act.removeprefix("after_"), Tree()).add(parts, (attribute, "states"))
            return
        where, kind = self.verbs, None
        if parts[0] in ("^", "*"):
            where, parts = self.without_subject, parts[1:]
        elif isinstance(parts[0], Slot):
            kind, parts = parts[0].kind, parts[1:]
        verb, *rest = parts
        if verb not in self.lemmas:
            if self.is_regular and verb.isalpha():
                self._add_regular(verb)
            else:
                self._add_verb(verb, [verb])
        if kind:
            tree = Tree()
            tree.add(rest, (attribute, act))
            self.of_kind.setdefault(verb, []).append((kind, tree))
        else:
            where.setdefault(verb, Tree()).add(rest, (attribute, act))


def _place(section: str) -> int:
    """The place of an attribute among all of them, or -1; `any` is what only the known memories can tell."""
    names = [*ATTRIBUTES, ANY]
    base = section.partition("/")[0]
    return names.index(base) if base in names else -1


def _part(word: str) -> str | Slot:
    if word.startswith("{"):
        *old, kind = word[1:-1].split()
        return Slot(kind, bool(old))
    return word


def _marked(match: re.Match[str]) -> str:
    """The choices of a value: "[a|b c]" as "(=a|=b =c)"."""
    return "(" + "|".join(" ".join(f"={word}" for word in choice.split()) for choice in match[1].split("|")) + ")"


def _ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return f"{lemma[:-2]}ying"
    if lemma.endswith("e") and lemma not in ("be", "see"):
        return f"{lemma[:-1]}ing"
    return f"{lemma}ing {lemma}{lemma[-1]}ing"


def is_filler(text: str, language: str) -> bool:
    """Whether a text says nothing by itself: "update"."""
    words, at = words_in(text, language), 0
    while language in STATEMENTS and at < len(words) and (found := phrases(language).mild.longest(words, at)):
        at = found[0]
    return 0 < at == len(words)


def is_and(word: str, language: str) -> bool:
    """Whether a word joins two clauses."""
    return language in STATEMENTS and word.lower() in phrases(language).single["and"]


@cache
def phrases(language: str) -> Phrases:
    """The lists of a language, read once."""
    return Phrases(language)
