"""Shows the context that a model would see: a bar of its parts, their reasons, and the parts that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ..types import ContextPart
from .database import Database
from .rendering import address
from .view import Visit

_NAMES = {
    "instructions": "What placeholders are",
    "memories": "Memories",
    "user_summary": "Profile of the user",
    "recalled": "Said before",
    "cross_session": "Earlier conversations",
    "thread_summary": "Summary of the thread",
    "message": "Messages of the thread",
}
_MOST_LEFT = 10
"""The most things of which the page says that they were left out; of all others it shows the number."""
_MEMORIES = """
select m.memory_id, m.content from unnest(%(ids)s::uuid[]) as i (memory_id)
cross join lateral memory.get_memory(user_id => %(user)s, memory_id => i.memory_id) as m
"""


@dataclass(frozen=True)
class Chosen:
    """One thing inside a part: a memory, a message, a conversation; why it was chosen."""

    text: str
    why: str
    link: str | None


@dataclass(frozen=True)
class Share:
    """All parts of one source as a piece of the bar, in thousandths of the budget."""

    source: str
    name: str
    tokens: int
    start: float
    width: float


@dataclass(frozen=True)
class Left:
    """Something that the context does not hold, the reason, and the places where some of it can be read."""

    what: str
    why: str
    things: list[Chosen]


async def show_context(visit: Visit) -> Response:
    """Show the context of a thread for a query and a budget."""
    asked, database = visit.asked, visit.database
    user_id, thread_id = asked.needed("user"), asked.text("thread")
    threads = await database.rows(
        "select thread_id from memory.list_threads(user_id => %(user)s, row_limit => 50)", user=user_id
    )
    names = [row["thread_id"] for row in threads]
    if thread_id is None:
        return visit.shown("context.html", thread=None, threads=names, parts=None)
    budget, agent_id = asked.number("max_tokens", 1, 2**31 - 1), asked.text("agent")
    recall = {"yes": True, "no": False}.get(asked.values.get("recall", ""))
    found = await database.memory.get_context(
        user_id, thread_id, asked.text("query"), agent_id, budget, recall=recall, explain=True
    )
    parts = [part for part in found if part.ordinal is not None]
    left = [part.metadata for part in found if part.ordinal is None]
    if budget is None:
        policy = await database.row(
            "select memory.get_policy(agent_id => %(agent)s, user_id => %(user)s) as policy",
            user=user_id,
            agent=agent_id,
        )
        assert policy is not None
        budget = policy["policy"]["context"]["max_tokens"]
    why = await _why(database, user_id, thread_id, parts)
    return visit.shown(
        "context.html",
        thread=thread_id,
        threads=names if thread_id in names else [thread_id, *names],
        parts=list(zip(parts, why, strict=True)),
        names=_NAMES,
        shares=_shares(parts, budget),
        budget=budget,
        used=sum(part.token_count for part in parts),
        left=[await _left(database, user_id, thread_id, each) for each in left],
        notices=database.notices,
    )


def _shares(parts: list[ContextPart], budget: int) -> list[Share]:
    """Return the bar; a newest message that exceeds the budget makes the bar as long as itself."""
    tokens: dict[str, int] = {}
    for part in parts:
        tokens[part.source] = tokens.get(part.source, 0) + part.token_count
    whole = max(budget, sum(tokens.values()), 1)
    shares: list[Share] = []
    start = 0.0
    for source, each in tokens.items():
        width = 1000 * each / whole
        shares.append(Share(source, _NAMES.get(source, source), each, round(start, 2), round(width, 2)))
        start += width
    return shares


async def _why(
    database: Database, user_id: str, thread_id: str, parts: list[ContextPart]
) -> list[tuple[str, list[Chosen]]]:
    """Return for each part why it is in, and what was chosen for it."""
    newest = max((part.ordinal or 0 for part in parts if part.source == "message"), default=None)
    why: list[tuple[str, list[Chosen]]] = []
    for part in parts:
        said = part.metadata
        match part.source:
            case "memories":
                chosen = said.get("memories", [])
                stands = said.get("cache") == "stable"
                reason = "memories that stand in every context" if stands else "memories that matter most for the query"
                why.append((reason, await _memories(database, user_id, chosen)))
            case "user_summary":
                why.append(("the profile is always in where it fits", []))
            case "recalled" if "artifacts" in said:
                reason = "of artifacts that the thread names: whole if they fit, else the passages about the query"
                why.append((reason, [_artifact(user_id, each) for each in said["artifacts"]]))
            case "recalled":
                why.append(("said before about the query", [_message(user_id, each) for each in said["messages"]]))
            case "cross_session":
                reason = f"the query asks for earlier conversations: “{said.get('trigger')}”"
                why.append((reason, [_result(user_id, each) for each in said["results"]]))
            case "thread_summary":
                link = address("thread", user=user_id, thread=thread_id, before=said["end_seq"] + 1)
                covered = f"messages {said['start_seq']} to {said['end_seq']}"
                why.append((f"stands for {covered}, which do not fit or were compressed", [Chosen(covered, "", link)]))
            case "instructions":
                why.append(("a placeholder stands in the context", []))
            case "message":
                reason = "one of the newest messages of the thread, as many as fit"
                if part.ordinal == newest:
                    reason = "the newest message is always in, however long it is"
                why.append((reason, []))
            case _:
                why.append(("", []))
    return why


async def _memories(database: Database, user_id: str, chosen: list[dict[str, Any]]) -> list[Chosen]:
    found = await database.rows(_MEMORIES, user=user_id, ids=[each["memory_id"] for each in chosen])
    contents = {str(row["memory_id"]): row["content"] for row in found}
    return [
        Chosen(
            contents.get(each["memory_id"], "(changed meanwhile)"),
            ", ".join(
                f"{name} {each[name]:.2f}"
                for name in ("score", "relevance", "importance", "recency")
                if each.get(name) is not None
            ),
            address("memory", user=user_id, id=each["memory_id"]),
        )
        for each in chosen
    ]


def _message(user_id: str, said: dict[str, Any], why: str | None = None) -> Chosen:
    if why is None:
        score = said.get("score")
        why = "stands next to a match" if score is None else f"score {score:.2f}"
    link = address("thread", user=user_id, thread=said["thread_id"], before=said["seq"] + 25)
    return Chosen(f"message {said['seq']} of {said['thread_id']}", why, f"{link}#m{said['seq']}")


def _artifact(user_id: str, said: dict[str, Any]) -> Chosen:
    why = "whole" if said["is_whole"] else "in part"
    return Chosen(f"artifact {said['key']}", why, address("artifact", user=user_id, key=said["key"]))


def _result(user_id: str, said: dict[str, Any]) -> Chosen:
    thread_id, score = said.get("thread_id"), said.get("score")
    link = None if not thread_id else address("thread", user=user_id, thread=thread_id)
    why = "" if score is None else f"score {score:.2f}"
    return Chosen(f"{said['source']} {thread_id or said['id']}", why, link)


async def _left(database: Database, user_id: str, thread_id: str, left: dict[str, Any]) -> Left:
    """Return what ``explain`` says about things that the context does not hold, with links to the first ten."""
    ids: list[str] = left["ids"][:_MOST_LEFT]
    what = _NAMES.get(left["source"], left["source"])
    if left["count"]:
        what += f" ({left['count']:,}, {left['tokens']:,} tokens)"
    match left["source"]:
        case "message":
            link = address("thread", user=user_id, thread=thread_id, before=int(ids[0]) + 1)
            things = [Chosen("the newest of them", "", link)]
        case "memories":
            things = await _memories(database, user_id, [{"memory_id": each} for each in ids])
        case "recalled" if left["reason"].startswith("the artifact"):
            things = [Chosen(each, "", address("artifact", user=user_id, key=each)) for each in ids]
        case "recalled":
            said = [each.rpartition("/") for each in ids]
            things = [_message(user_id, {"thread_id": thread, "seq": int(seq)}, "") for thread, _, seq in said]
        case _:
            things = []
    return Left(what, left["reason"], things)
