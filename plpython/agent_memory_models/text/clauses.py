"""Cuts a sentence into the clauses of its facts."""

from __future__ import annotations

from .fact import Fact
from .phrases import phrases


def clause_of(sentence: str, facts: list[Fact], place: int, language: str) -> str:
    """The words of one of the facts of a sentence: to where the next fact begins."""
    fact = facts[place]
    start = fact.start if place else 0
    end = facts[place + 1].start if place + 1 < len(facts) else len(sentence)
    if end <= start:  # "I'm engaged", which goes on with "to Mark"
        end = fact.end
    return f"{fact.lead} {without_trailing(sentence[start:end], language)}".strip()


def without_trailing(words: str, language: str) -> str:
    """The words without conjunctions at their end."""
    words, single = words.rstrip(" ,;:—–-"), phrases(language).single
    while (last := words.rpartition(" "))[1] and last[2].lower() in single["and"] | single["but"] | single["trailing"]:
        words = last[0].rstrip(" ,;:—–-")
    return words
