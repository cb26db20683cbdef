"""How well memory.search() finds the evidence: its modes, over all messages of a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from agent_memory import Memory

from bench.quality import evidence
from bench.quality.evidence import Finding, Question
from bench.quality.stored import Database, Stored
from bench.support.environment import say

TOP_K = 50


@dataclass(frozen=True)
class Method:
    """A mode of memory.search() under a policy."""

    name: str
    mode: str
    policy: dict[str, Any] = field(default_factory=dict)


METHODS = (
    Method("keyword", "keyword"),
    Method("vector", "vector"),
    Method("hybrid, score", "hybrid", {"fusion": "score"}),
    Method("hybrid, rrf", "hybrid", {"fusion": "rrf"}),
)
BEST = "hybrid, score"  # the default, which the others are compared with


def measure(
    target: Database, stored: Stored, questions: Sequence[tuple[Question, str]], methods: Sequence[Method]
) -> dict[str, list[Finding]]:
    """The findings of each method; questions come with their embeddings.

    Raises RuntimeError when a search says that it is less than it could be, which is not what is to be measured.
    """
    findings: dict[str, list[Finding]] = {}
    for method in methods:
        target.notices.clear()
        Memory(target.connection).admin.set_policy({"search": method.policy})

        def ask(connection: psycopg.Connection, asked: tuple[Question, str], mode: str = method.mode) -> Finding:
            return _ask(connection, mode, stored, *asked)

        findings[method.name] = target.ask(ask, questions)
        for notice in target.notices:
            raise RuntimeError(f"{method.name}: {notice}")
        recall = sum(each.recall(10) for each in findings[method.name]) / len(questions)
        say(f"  {method.name}: recall@10 {recall:.1%}")
    Memory(target.connection).admin.set_policy({"search": {"fusion": None}})
    return findings


def summarize(findings: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """The figures of each method."""
    best = findings.get(BEST)
    return {
        name: {
            "groups": evidence.summarize(each),
            "gain_of_best_at_10": {
                group: evidence.difference(best, each, 10, group) for group in evidence.groups_of(each)
            }
            if best is not None and each is not best
            else None,
        }
        for name, each in findings.items()
    }


def _ask(connection: psycopg.Connection, mode: str, stored: Stored, question: Question, vector: str) -> Finding:
    user = question.user_id
    rows = connection.execute(
        """
        select id from memory.search(user_id => %s, query => %s, query_embedding => %s::vector, mode => %s,
          sources => '{message}', top_k => %s)
        """,
        (user, question.text, vector, mode, TOP_K),
        prepare=True,
    )
    messages = {stored.message[user, turn] for turn in question.evidence}
    return evidence.find(question.groups, messages, [found for (found,) in rows])
