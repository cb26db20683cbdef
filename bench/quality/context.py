"""How much of the evidence stands in the context that memory.get_context() makes for a question in its thread.

A turn counts as held when its own text stands in the text of a part, however much of its message stands around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import psycopg

from bench.quality.evidence import Question, groups_of
from bench.quality.stored import Database, Stored, Turn
from bench.support.environment import say

BUDGETS = (1000, 2000, 4000)

Asked = tuple[Question, str]
"""A question with its embedding."""
CountTokens = Callable[[str], int]
Memories = Mapping[Turn, Sequence[str]]


@dataclass(frozen=True)
class Filling:
    """What a context holds for one question; tokens are real ones."""

    groups: frozenset[str]
    evidence: int
    held: int
    remembered: int
    """Turns that are held, or whose own memory stands there."""
    tokens: Mapping[str, int]
    """By source of the parts."""
    evidence_tokens: int = 0
    """Of the turns of evidence within the recalled parts."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the evidence is held."""
        return self.held == self.evidence


class Reader:
    """Asks for contexts, and looks for the turns of evidence in them.

    Args:
        stored: where the turns are.
        count: counts tokens.
        memories: by turn, what was extracted from it.
    """

    def __init__(
        self, stored: Stored, count: CountTokens, memories: Mapping[Turn, Sequence[str]] | None = None
    ) -> None:
        self._texts = {turn: _plain(text) for turn, text in stored.texts.items()}
        self._count = count
        self._memories = {turn: [_plain(each) for each in made] for turn, made in (memories or {}).items()}

    def ask(self, connection: psycopg.Connection, question: Question, vector: str, budget: int) -> Filling:
        """The context of a question."""
        parts = connection.execute(
            """
            select source, content from memory.get_context(user_id => %s, thread_id => %s, query => %s,
              query_embedding => %s::vector, max_tokens => %s)
            """,
            (question.user_id, question.thread, question.text, vector, budget),
            prepare=True,
        ).fetchall()
        return self.fill(question, parts)

    def fill(self, question: Question, parts: Sequence[tuple[str, str]]) -> Filling:
        """What the parts of a context, each a source and a content, hold for a question."""
        said = "\n".join(_plain(content) for _, content in parts)
        recalled = "\n".join(_plain(content) for source, content in parts if source == "recalled")
        turns = [(question.user_id, turn) for turn in question.evidence]
        held = [turn for turn in turns if self._texts[turn] in said]
        tokens: dict[str, int] = {}
        for source, content in parts:
            tokens[source] = tokens.get(source, 0) + self._count(content)
        return Filling(
            question.groups,
            evidence=len(turns),
            held=len(held),
            remembered=sum(
                turn in held or any(memory in said for memory in self._memories.get(turn, ())) for turn in turns
            ),
            tokens=tokens,
            evidence_tokens=sum(self._count(self._texts[turn]) for turn in turns if self._texts[turn] in recalled),
        )


def _plain(text: str) -> str:
    return " ".join(text.split())


def measure(target: Database, reader: Reader, asked: Sequence[Asked], name: str) -> dict[int, list[Filling]]:
    """The fillings of all questions for each budget."""
    fillings = {}
    for budget in BUDGETS:
        started = time.monotonic()
        target.notices.clear()

        def ask(connection: psycopg.Connection, each: Asked, budget: int = budget) -> Filling:
            return reader.ask(connection, *each, budget)

        fillings[budget] = target.ask(ask, asked)
        say(f"  {name}, {budget:,} tokens: {_told(fillings[budget])} ({time.monotonic() - started:.0f} s)")
        for notice, times in target.notices.most_common(3):
            say(f"    {times} times: {notice}")
    return fillings


def _told(fillings: Sequence[Filling]) -> str:
    recalled = f"{fmean(each.tokens.get('recalled', 0) for each in fillings):,.0f} tokens recalled"
    if not any(each.evidence for each in fillings):
        return recalled
    return f"{fmean(each.is_whole for each in fillings):.1%} whole, {recalled}"


def summarize(fillings: Mapping[int, Sequence[Filling]]) -> dict[str, Any]:
    """For each group that has any questions and each budget: how often all of the evidence is held."""
    return {
        group: {str(budget): _means([one for one in each if group in one.groups]) for budget, each in fillings.items()}
        for group in groups_of(one for each in fillings.values() for one in each)
    }


def _means(fillings: Sequence[Filling]) -> dict[str, Any]:
    return {
        "questions": len(fillings),
        "whole": round(fmean(each.is_whole for each in fillings), 4),
        "whole_or_remembered": round(fmean(each.remembered == each.evidence for each in fillings), 4),
    }


def summarize_noise(fillings: Mapping[int, Sequence[Filling]]) -> dict[str, Any]:
    """For each budget: the tokens of what was recalled, and which part of them is not evidence."""
    return {str(budget): _noise(each) for budget, each in fillings.items()}


def _noise(fillings: Sequence[Filling]) -> dict[str, Any]:
    recalled = [each.tokens.get("recalled", 0) for each in fillings]
    evident = sum(each.evidence_tokens for each in fillings)
    return {
        "questions": len(fillings),
        "without_any": sum(tokens == 0 for tokens in recalled),
        "recalled_tokens": {"mean": round(fmean(recalled)), "max": max(recalled)},
        "evidence_tokens": round(evident / len(fillings), 1),
        "noise": round(1 - evident / sum(recalled), 4) if any(recalled) else None,
    }
