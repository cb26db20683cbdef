"""Whom a sentence is about: the speaker, "my brother Joss", or Joss, whom an earlier message called a brother."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .matching import Text

USER = "user"


@dataclass
class People:
    """Who was named, so that Joss is the brother of an earlier message.

    Attributes:
        names: the subject by name in lower case: "brother Joss" by "joss".
        relations: the subject by relation: "brother Joss" by "brother".
        last: the subject that "she" means.
    """

    names: dict[str, str] = field(default_factory=dict)
    relations: dict[str, str] = field(default_factory=dict)
    last: str | None = None

    def add(self, subject: str) -> None:
        """Enters a subject, the relation in lower case and the name behind it."""
        words = subject.split()
        at = next((place for place, word in enumerate(words) if word[0].isupper()), len(words))
        relation, name = " ".join(words[:at]), " ".join(words[at:])
        if name:
            self.names[name.lower()] = subject
        if relation and (name or relation not in self.relations):
            self.relations[relation] = subject

    def of(self, relation: str, name: str) -> str:
        """The subject of a relation, and of a name if it is told."""
        if name and (known := self.names.get(name.lower())) and " " in known:
            return known
        subject = f"{relation} {name}" if name else self.relations.get(relation, relation)
        self.add(subject)
        return subject


class Subject(NamedTuple):
    """The words of a subject, the first and the one behind the last, and who it is."""

    start: int
    end: int
    name: str


def subjects_in(text: Text, people: People) -> Iterator[Subject]:
    """The subjects of a sentence in their order; they become known."""
    at = 0
    while at < len(text.words):
        subject = _subject(text, at, people)
        if subject:
            yield subject
        at = subject.end if subject else at + 1


def _subject(text: Text, at: int, people: People) -> Subject | None:
    words, lists = text.words, text.lists
    single, word = lists.single, words[at]
    # "Mark and I", but not "my name is Alice and I"
    may_be_first = word.text in lists.subject_words or at == 0 or not text.word(at - 1)[0].isalnum()
    if may_be_first and (found := lists.first.longest(words, at)):
        return Subject(at, found[0], USER)
    if word.text in single["third"]:
        return Subject(at, at + 1, people.last) if people.last else None
    owned = word.text in single["own"] or (word.text in single["third_own"] and people.last)
    if owned or (word.text in single["bare"] and word.is_capitalised and text.word(at - 1) not in single["articles"]):
        following = at + bool(owned)
        while text.word(following) in single["adjectives"]:
            following += 1
        return _relation(text, at, following, people)
    if not word.is_capitalised or not word.text.isalpha() or text.is_time[at] or word.text in single["articles"]:
        return None
    end = _name_end(text, at)
    name = text.span(at, end)
    if known := people.names.get(name.lower()):
        people.last = known
        return Subject(at, end, known)
    behind_preposition = single["stop_thing"] | single["from"] | single["to"] | single["of"]
    if at > 0 and (lists.capital_nouns or text.word(at - 1) in behind_preposition):
        return None
    is_word = word.text in lists.forms or lists.between.longest(words, at, -1) or lists.stop.longest(words, at)
    if is_word or len(name) < 2 or lists.nouns.longest(words, at) or lists.mild.longest(words, at):
        return None
    return Subject(at, end, name)


def _relation(text: Text, at: int, following: int, people: People) -> Subject | None:
    relation = text.lists.relations.longest(text.words, following)
    if not relation:
        return None
    end, kind = relation
    name_end = _name_end(text, end) if not text.lists.capital_nouns or text.word(end) not in text.lists.forms else end
    name = text.span(end, name_end)
    if kind in text.lists.single["named_only"] and not name and kind not in people.relations:
        return None
    people.last = people.of(kind, name)
    return Subject(at, name_end, people.last)


def _name_end(text: Text, at: int) -> int:
    """The place behind a name of three words at most."""
    words, end = text.words, at
    while end < min(len(words), at + 3) and words[end].is_capitalised and words[end].text.isalpha():
        is_next = end == at or words[end].start == words[end - 1].end + 1
        if text.is_time[end] or not is_next or text.lists.first.longest(words, end):
            break
        end += 1
    return end
