"""Kind `reconcile_memories`: finds repetitions and contradictions among facts of one user."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.parts import Parts
from ..chat.prompts import Clock, cut, fenced, label, line
from ..chat.question import Question
from ..payload import Payload, Result
from ..task import Task
from ..text.statements import claim, single_values

if TYPE_CHECKING:
    from pydantic import BaseModel


async def run(task: Task) -> Result:
    """The duplicates and the contradictions, each by the numbers of its facts."""
    return await task.ask(local=_by_claims, remote=lambda provider: provider.chat(task, QUESTION))


def _by_claims(payload: Payload) -> Result:
    """The built-in version: equal claims are duplicates, different values of one attribute contradict each other.

    The facts come in the order in which they were said, the newest first. Of duplicates the newest wording stays, and
    the newest value of an attribute takes the place of the other values.
    """
    facts = payload["facts"]
    same_claim: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for fact in facts:
        # A fact without a word that tells what it is about has no duplicate.
        same_claim[fact["group"], fact["subject"], claim(fact["content"]) or fact["number"]].append(fact)
    # Of facts with the same claim one is enough to find the contradictions.
    latest: dict[tuple[Any, ...], tuple[int, str]] = {}
    contradictions = []
    for newest, *_ in same_claim.values():
        newer = set()
        for attribute, value in single_values(newest["content"]).items():
            key = (newest["group"], newest["subject"], attribute)
            if key not in latest and value.replaces:
                latest[key] = (newest["number"], value.text)
            elif key in latest and latest[key][1] != value.text:
                newer.add(latest[key][0])
        contradictions += [{"numbers": [number, newest["number"]]} for number in sorted(newer)]
    return {
        "duplicates": [{"numbers": [fact["number"] for fact in same]} for same in same_claim.values() if len(same) > 1],
        # The oldest first: a fact hides what it contradicts before a newer fact hides it.
        "contradictions": contradictions[::-1][: len(facts)],
    }


# The question to a chat model


def _facts(payload: Payload) -> str:
    facts, clock = payload["facts"], Clock()
    groups = len({fact["group"] for fact in facts}) > 1
    lines = (
        line(
            fact["number"],
            label(fact["subject"]),
            [
                f"group {fact['group']}" if groups else "",
                "new" if fact.get("is_new") else "",
                clock.shown(fact.get("known_since")),
            ],
            cut(fact["content"]),
        )
        for fact in facts
    )
    return fenced("facts", lines)


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Numbers, each_by_itself, reply_object

    facts = each_by_itself(reply_object("Facts", numbers=Numbers))
    return reply_object("Reconciliation", duplicates=facts, contradictions=(facts, []))


QUESTION = Question(
    variables={"facts": _facts},
    reply_type=lambda _: _reply_type(),
    result=lambda _, reply: reply.model_dump(warnings=False),
    parts=Parts("facts"),
    reply_tokens=2000,
)
