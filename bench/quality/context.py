"""How much of the evidence stands in the context that memory.get_context() makes for a question in its thread.

A turn counts as held when its own text stands in the text of a part, however much of its message stands around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import psycopg

from bench.quality.evidence import Question, groups_of
from bench.quality.stored import Database, Stored
from bench.support.environment import say

BUDGETS = (1000, 2000, 4000)

Asked = tuple[Question, str]
"""A question with its embedding."""
CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class Filling:
    """What a context holds for one question."""

    groups: frozenset[str]
    evidence: int
    held: int
    recalled: int = 0
    """Real tokens of what was recalled."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the evidence is held."""
        return self.held == self.evidence


class Reader:
    """Asks for contexts, and looks for the turns of evidence in them.

    Args:
        stored: where the turns are.
        count: counts tokens.
    """

    def __init__(self, stored: Stored, count: CountTokens) -> None:
        self._texts = {turn: _plain(text) for turn, text in stored.texts.items()}
        self._count = count

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
        turns = [(question.user_id, turn) for turn in question.evidence]
        held = [turn for turn in turns if self._texts[turn] in said]
        recalled = sum(self._count(content) for source, content in parts if source == "recalled")
        return Filling(question.groups, len(turns), len(held), recalled)


def _plain(text: str) -> str:
    return " ".join(text.split())


def measure(target: Database, reader: Reader, asked: Sequence[Asked], name: str) -> dict[int, list[Filling]]:
    """The fillings of all questions for each budget."""
    fillings = {}
    for budget in BUDGETS:
        target.notices.clear()

        def ask(connection: psycopg.Connection, each: Asked, budget: int = budget) -> Filling:
            return reader.ask(connection, *each, budget)

        fillings[budget] = target.ask(ask, asked)
        whole = fmean(each.is_whole for each in fillings[budget])
        told = f"{whole:.1%} whole, {fmean(each.recalled for each in fillings[budget]):,.0f} tokens recalled"
        say(f"  {name}, {budget:,} tokens: {told}")
        for notice, times in target.notices.most_common(3):
            say(f"    {times} times: {notice}")
    return fillings


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
    }
