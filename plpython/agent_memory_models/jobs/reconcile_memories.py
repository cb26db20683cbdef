"""Kind `reconcile_memories`: finds repetitions and contradictions among facts of one user."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.prompts import fenced, shown
from ..chat.question import Question, check_numbers
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

    The facts come in the order in which they were said, the newest first, and hidden ones are among them: what is
    hidden depends on what was said, and not on the order in which it was stored or compared. Of duplicates the newest
    wording stays, and the newest value of an attribute hides the other values. The result names only what is not so
    already; `open` has the hidden facts that these rules once hid behind a fact that no longer hides them.
    """
    facts = {fact["number"]: fact for fact in payload["facts"]}
    hides: dict[int, list[int]] = {}  # by fact: those that hide it, in the order in which the database tries them
    same_claim: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for fact in facts.values():
        # A fact without a word that tells what it is about has no duplicate.
        same_claim[fact["group"], fact["subject"], claim(fact["content"]) or fact["number"]].append(fact)
    # Of facts with the same claim one is enough to find the contradictions.
    latest: dict[tuple[Any, ...], tuple[int, str]] = {}
    for newest, *others in same_claim.values():
        hides |= {other["number"]: [newest["number"]] for other in others}
        hidden_by = set()
        for attribute, value in single_values(newest["content"]).items():
            key = (newest["group"], newest["subject"], attribute)
            if key not in latest and value.replaces:
                latest[key] = (newest["number"], value.text)
            elif key in latest and latest[key][1] != value.text:
                hidden_by.add(latest[key][0])
        if hidden_by:
            hides[newest["number"]] = sorted(hidden_by)
    changed = {number for number, by in hides.items() if facts[number].get("hidden_by") != by[0]}
    return {
        "duplicates": [
            {"numbers": [fact["number"] for fact in same], "content": same[0]["content"]}
            for same in same_claim.values()
            if any(fact["number"] in changed for fact in same[1:])
        ],
        # The oldest first: a fact hides what it contradicts before a newer fact hides it.
        "contradictions": [
            {"numbers": [newer, same[0]["number"]]}
            for same in reversed(same_claim.values())
            if same[0]["number"] in changed
            for newer in hides[same[0]["number"]]
        ][: len(facts)],
        "open": [
            number
            for number, fact in facts.items()
            if (winner := fact.get("hidden_by"))
            and winner not in hides.get(number, [])
            and _may_hide(facts[winner], fact)
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
