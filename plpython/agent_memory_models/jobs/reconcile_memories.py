"""Kind `reconcile_memories`: finds repetitions and contradictions among facts of one user."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.prompts import fenced, shown
from ..chat.question import Question, check_numbers
from ..task import Payload, Result, Task
from ..text.statements import claim, single_values

if TYPE_CHECKING:
    from pydantic import BaseModel


async def run(task: Task) -> Result:
    """The duplicates and the contradictions, each by the numbers of its facts."""
    return await task.ask(local=_by_claims, remote=lambda provider: provider.chat(task, QUESTION))


def _by_claims(payload: Payload) -> Result:
    """The built-in version: equal claims are duplicates, different values of one attribute contradict each other.

    The facts come newest first, and of duplicates the newest wording is kept.
    """
    same_claim: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for fact in payload["facts"]:
        # A fact without a word that tells what it is about has no duplicate.
        same_claim[fact["group"], fact["subject"], claim(fact["content"]) or fact["number"]].append(fact)
    duplicates = [
        {"numbers": sorted(fact["number"] for fact in facts), "content": facts[0]["content"]}
        for facts in same_claim.values()
        if len(facts) > 1
    ]
    # Of facts with the same claim one is enough to find the contradictions.
    latest: dict[tuple[Any, ...], tuple[dict[str, Any], str]] = {}
    contradictions = []
    for fact in (facts[0] for facts in same_claim.values()):
        for attribute, value in single_values(fact["content"]).items():
            newer, newer_value = latest.setdefault((fact["group"], fact["subject"], attribute), (fact, value))
            numbers = sorted((newer["number"], fact["number"]))
            if value != newer_value and {"numbers": numbers} not in contradictions:
                contradictions.append({"numbers": numbers})
    return {"duplicates": duplicates, "contradictions": contradictions}


# The question to a chat model


def _facts(payload: Payload) -> str:
    keys = ("number", "group", "subject", "memory_type", "known_since")
    return fenced("facts", (shown(fact, *keys) for fact in payload["facts"]))


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Numbers, Text, reply_object

    # `content` is the text of the fact that says all that the others say.
    duplicates = reply_object("Duplicates", numbers=Numbers, content=Text)
    contradiction = reply_object("Contradiction", numbers=Numbers)
    return reply_object("Reconciliation", duplicates=list[duplicates], contradictions=list[contradiction])  # type: ignore[valid-type]


def _reconciliation(payload: Payload, reply: Any) -> Result:
    check_numbers(payload["facts"], [entry.numbers for entry in reply.duplicates], once=True)
    check_numbers(payload["facts"], [entry.numbers for entry in reply.contradictions], once=False)
    result: Result = reply.model_dump()
    return result


QUESTION = Question(variables={"facts": _facts}, reply_type=lambda _: _reply_type(), result=_reconciliation)
