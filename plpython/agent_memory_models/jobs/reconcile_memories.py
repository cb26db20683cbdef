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

    The facts come in the order in which they were said, the newest first, and hidden ones are among them: the result
    depends on what was said and not on the order in which it was stored or compared. Of duplicates the newest wording
    stays, and the newest value of an attribute hides the other values. `open` has the hidden facts that these rules
    once hid behind a fact that no longer hides them.
    """
    facts = {fact["number"]: fact for fact in payload["facts"]}
    same_claim: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for fact in payload["facts"]:
        # A fact without a word that tells what it is about has no duplicate.
        same_claim[fact["group"], fact["subject"], claim(fact["content"]) or fact["number"]].append(fact)
    duplicates = [
        {"numbers": [fact["number"] for fact in same], "content": same[0]["content"]}
        for same in same_claim.values()
        if len(same) > 1
    ]
    # Of facts with the same claim one is enough to find the contradictions.
    latest: dict[tuple[Any, ...], tuple[int, str]] = {}
    contradictions: list[dict[str, list[int]]] = []
    for fact in (same[0] for same in same_claim.values()):
        hidden_by = set()
        for attribute, value in single_values(fact["content"]).items():
            key = (fact["group"], fact["subject"], attribute)
            if key not in latest and value.replaces:
                latest[key] = (fact["number"], value.text)
            elif key in latest and latest[key][1] != value.text:
                hidden_by.add(latest[key][0])
        contradictions += [{"numbers": [number, fact["number"]]} for number in sorted(hidden_by)]
    # Older ones first: a fact hides what it contradicts before a newer fact hides it.
    contradictions.reverse()
    hidden = {
        number: found["numbers"][0] for found in [*contradictions, *duplicates] for number in found["numbers"][1:]
    }
    return {
        "duplicates": duplicates,
        "contradictions": contradictions[-len(facts) :],
        "open": [
            number
            for number, fact in facts.items()
            if (winner := fact.get("hidden_by")) and hidden.get(number) != winner and _may_hide(facts[winner], fact)
        ],
    }


def _may_hide(winner: dict[str, Any], fact: dict[str, Any]) -> bool:
    """Whether it may have been these rules that hid a fact behind another one."""
    values, others = single_values(winner["content"]), single_values(fact["content"])
    return claim(winner["content"]) == claim(fact["content"]) or any(
        values[attribute].text != others[attribute].text for attribute in values.keys() & others.keys()
    )


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
