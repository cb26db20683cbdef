"""Whether uses of memories help to find others: half of LoCoMo's questions are asked before the other half is measured.

The memories of a user are LoCoMo's observations, and the evidence of a question is those that were made of its turns.
Each replay calls memory.record_use() for the questions of one half, then searches for those of the other half; then the
halves change places. Facts that change (CHANGED) say whether a much used fact hides the newer one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID

import psycopg
from agent_memory import Memory

from bench.quality import evidence, stored
from bench.quality.context import Asked
from bench.quality.evidence import Finding, Sample
from bench.quality.model_server import observations
from bench.quality.stored import Database, EmbeddingModel
from bench.support.environment import say
from bench.support.markdown import table

CHANGED = {
    "by the author of the rule": "changed_facts.jsonl",
    "by another, who knew no rule": "changed_facts_of_another.jsonl",
}
"""Files of facts that change, by who wrote them; each is a user of that name."""
SHOWN = 3  # of the results the first ones, which a replay records
TOP_K = 20
TIMES = (1, 10)  # that a question is asked before
DEPTHS = (1, 10)
OLDER = ({"used": 10}, {"used": 1000}, {"helpful": 10}, {"wrong": 1}, {"used": 10, "wrong": 1}, {"wrong": 3})
OTHERS, UNUSED, AGAIN = "other questions", "of these, evidence that nobody had used", "the same questions again"
Uses = Mapping[str, Sequence[UUID]]
"""By outcome the memories that a question used."""


@dataclass
class Known:
    """The memories of all users, and which of them are evidence of which question."""

    memory_ids: dict[tuple[str, str], set[UUID]] = field(default_factory=dict)  # by user and turn
    asked: list[Asked] = field(default_factory=list)

    def evidence(self, asked: Asked) -> set[UUID]:
        """The memories that answer a question."""
        question, _ = asked
        return set().union(*(self.memory_ids.get((question.user_id, turn), set()) for turn in question.evidence))


def load(target: Database, samples: Sequence[Sample], questions: Sequence[Asked], embedding: EmbeddingModel) -> Known:
    """Stores the observations as memories and has them embedded."""
    known = Known()
    memory = Memory(target.connection)
    embedding.register(memory)
    turns: dict[str, dict[str, set[str]]] = {}
    for (user, turn), texts in observations(samples).items():
        for text in texts:
            turns.setdefault(user, {}).setdefault(text, set()).add(turn)
    for user, of_text in turns.items():
        for page in _pages(list(of_text), 100):
            stored_now = memory.add_memories(user, [{"content": text} for text in page])
            for text, added in zip(page, stored_now, strict=True):
                for turn in of_text[text]:
                    known.memory_ids.setdefault((user, turn), set()).add(added.memory_id)
    known.asked = [asked for asked in questions if known.evidence(asked)]
    for user in CHANGED:
        memory.add_memories(user, [{"content": fact} for old, new, _ in changed(user) for fact in (old, new)])
    stored.embed(target)
    target.connection.execute("vacuum analyze")
    return known


def changed(user: str) -> list[tuple[str, str, str]]:
    """Facts that change: the older, the newer, and a question about it."""
    lines = Path(__file__).with_name(CHANGED[user]).read_text().splitlines()
    return [tuple(json.loads(line)) for line in lines]


def measure(target: Database, known: Known, vectors: Mapping[str, str], weights: Sequence[float]) -> dict[str, Any]:
    """The figures of each replay at each weight of policy search.use_weight.

    ``vectors`` are the embeddings of the questions about facts that change.
    """
    plain = target.ask(_search, known.asked)  # no use is recorded yet
    shown = {id(asked): found[:SHOWN] for asked, found in zip(known.asked, plain, strict=True)}

    def judged(asked: Asked, right: str, wrong: str) -> Uses:
        first, answers = shown[id(asked)], known.evidence(asked)
        return {
            right: [each for each in first if each in answers],
            wrong: [each for each in first if each not in answers],
        }

    replays: dict[str, Callable[[Asked], Uses]] = {
        "the evidence was used": lambda asked: {"used": list(known.evidence(asked))},
        "the evidence helped": lambda asked: {"helpful": list(known.evidence(asked))},
        "the first three were used": lambda asked: {"used": shown[id(asked)]},
        "of the first three the evidence helped, the others were used": lambda asked: judged(asked, "helpful", "used"),
        "of the first three the evidence helped, the others were wrong": lambda asked: judged(
            asked, "helpful", "wrong"
        ),
    }
    figures: dict[str, Any] = {}
    for name, uses in replays.items():
        for times in TIMES:
            figures[f"{name}, {times} x"] = found = _replay(target, known, uses, times, weights)
            say(f"\n{name}, {times} x\n" + _table(found))
    return {
        "memories": len(set().union(*known.memory_ids.values())),
        "questions": len(known.asked),
        "replays": figures,
        "changed": {user: _changed(target, user, vectors, weights) for user in CHANGED},
    }


def _replay(
    target: Database, known: Known, uses: Callable[[Asked], Uses], times: int, weights: Sequence[float]
) -> dict[str, Any]:
    """The recall at each weight, and what it gains over weight 0, which stands first."""
    findings: dict[float, list[Finding]] = {weight: [] for weight in (0.0, *weights)}
    for half in _halves(known.asked):
        used = _record(target, half, uses, times)
        asked_before = {id(asked) for asked in half}
        for weight, findings_now in findings.items():
            _set_weight(target, weight)
            for asked, ids in zip(known.asked, target.ask(_search, known.asked), strict=True):
                wanted = known.evidence(asked)
                groups = {AGAIN} if id(asked) in asked_before else {OTHERS} if wanted & used else {OTHERS, UNUSED}
                findings_now.append(
                    evidence.find(frozenset(groups), map(str, wanted), [(str(each), 0) for each in ids])
                )
    return {
        str(weight): {
            group: {
                "questions": sum(group in each.groups for each in found),
                "recall": {str(k): fmean(each.recall(k) for each in found if group in each.groups) for k in DEPTHS},
                "gain": {str(k): evidence.difference(found, findings[0.0], k, group) for k in DEPTHS},
            }
            for group in (OTHERS, UNUSED, AGAIN)
        }
        for weight, found in findings.items()
    }


def _record(target: Database, asked_before: Sequence[Asked], uses: Callable[[Asked], Uses], times: int) -> set[UUID]:
    """Records what these questions used, and nothing else; returns the memories."""
    target.connection.execute("truncate memory.memory_uses")
    used: set[UUID] = set()
    for asked in asked_before:
        for outcome, ids in uses(asked).items():
            _use(target.connection, asked[0].user_id, ids, outcome, times)
            used.update(ids)
    target.connection.execute("vacuum analyze memory.memory_uses")
    return used


def _use(connection: psycopg.Connection, user: str, ids: Sequence[UUID], outcome: str, times: int) -> None:
    connection.execute(
        "select memory.record_use(%s, %s, %s) from generate_series(1, %s)", (user, list(ids), outcome, times)
    )


def _changed(target: Database, user: str, vectors: Mapping[str, str], weights: Sequence[float]) -> dict[str, Any]:
    """The share of questions of which the newer fact stands before the older, and first, after uses of the older."""
    facts = changed(user)
    ids = {
        row[0]: row[1]
        for row in target.connection.execute(
            "select content, memory_id from memory.memories where user_id = %s", (user,)
        )
    }
    figures: dict[str, Any] = {}
    older = [ids[old] for old, _, _ in facts]
    for outcomes in OLDER:
        target.connection.execute("truncate memory.memory_uses")
        for outcome, times in outcomes.items():
            _use(target.connection, user, older, outcome, times)
        name = " and ".join(f"{outcome} {times} x" for outcome, times in outcomes.items())
        for weight in (0.0, *weights):
            _set_weight(target, weight)
            places = []
            for old, new, question in facts:
                found = _found(target.connection, user, question, vectors[question], 2 * len(facts))
                places.append((found.index(ids[new]), found.index(ids[old])))
            figures.setdefault(f"the older {name}", {})[str(weight)] = {
                "before the older": fmean(new < old for new, old in places),
                "first": fmean(new == 0 for new, _ in places),
                "among three": fmean(new < SHOWN for new, _ in places),
            }
    for name, shares in figures.items():
        heads = ["before the older", "first", "among three"]
        rows = [[weight, *(f"{each[head] * 100:.0f}" for head in heads)] for weight, each in shares.items()]
        say(f"\nFacts {user}; {name}: the newer is, %\n" + table(["Weight", *heads], rows))
    return figures


def _search(connection: psycopg.Connection, asked: Asked) -> list[UUID]:
    question, vector = asked
    return _found(connection, question.user_id, question.text, vector, TOP_K)


def _found(connection: psycopg.Connection, user: str, text: str, vector: str, top_k: int) -> list[UUID]:
    rows = connection.execute(
        "select id::uuid from memory.search(user_id => %s, query => %s, query_embedding => %s::vector,"
        " sources => '{memory}', top_k => %s)",
        (user, text, vector, top_k),
        prepare=True,
    )
    return [found for (found,) in rows]


def _set_weight(target: Database, weight: float) -> None:
    Memory(target.connection).admin.set_policy({"search": {"use_weight": weight}})


def _halves(asked: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """Two halves, drawn by lot."""
    drawn = random.Random(1).sample(list(asked), len(asked))
    return drawn[::2], drawn[1::2]


def _pages(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _table(found: Mapping[str, Any]) -> str:
    """Recall of a replay, and the points that it gains over weight 0, as a Markdown table."""
    rows = []
    for weight, groups in found.items():
        row = [weight]
        for figures in groups.values():
            for recall, gain in zip(figures["recall"].values(), figures["gain"].values(), strict=True):
                mean, low, high = (gain[each] * 100 for each in ("mean", "low", "high"))
                row.append(f"{recall * 100:.1f} ({mean:+.1f} [{low:+.1f}, {high:+.1f}])")
        rows.append(row)
    heads = [f"{group} @{k}" for group in (OTHERS, UNUSED, AGAIN) for k in DEPTHS]
    return table(["Weight", *heads], rows)
