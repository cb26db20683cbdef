"""Shows the context that a model would see: a bar of its parts, their reasons, and the parts that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ..types import ContextPart
from .rendering import address
from .view import Visit

_SOURCES = {
    "instructions": ("What placeholders are", "a placeholder stands in the context"),
    "memories": ("Memories", "memories that matter most for the query"),
    "user_summary": ("Profile of the user", "always in where it fits"),
    "recalled": ("Said before", "said before about the query"),
    "cross_session": ("Earlier conversations", "the query asks for earlier conversations"),
    "thread_summary": ("Summary of the thread", "stands for messages that do not fit or were compressed"),
    "message": ("Messages of the thread", "one of the newest messages of the thread, as many as fit"),
}
"""The names of sources, and why their parts are usually in."""
_MOST_LEFT = 10
"""The most things of which the page says that they were left out; of all others it shows the number."""
_MEMORIES = """
select m.memory_id, m.content from unnest(%(ids)s::uuid[]) as i (memory_id)
cross join lateral memory.get_memory(user_id => %(user)s, memory_id => i.memory_id) as m
"""


@dataclass(frozen=True)
class Thing:
    """One thing inside a part, such as a memory or a message; why it was chosen, and where it can be read."""

    text: str
    why: str
    link: str


@dataclass(frozen=True)
class Share:
    """All parts of one source as a piece of the bar, in thousandths of the budget."""

    source: str
    name: str
    tokens: int
    start: float
    width: float


async def show_context(visit: Visit) -> Response:
    """Show the context of a thread for a query and a budget."""
    asked, database = visit.asked, visit.database
    user_id, thread_id = asked.needed("user"), asked.text("thread")
    threads = [thread.thread_id for thread in await database.memory.list_threads(user_id)]
    if thread_id is None:
        return visit.shown("context.html", thread=None, threads=threads, parts=None)
    budget, agent_id = asked.number("max_tokens", 1, 2**31 - 1), asked.text("agent")
    recall = {"yes": True, "no": False}.get(asked.values.get("recall", ""))
    found = await database.memory.get_context(
        user_id, thread_id, asked.text("query"), agent_id, budget, recall=recall, explain=True
    )
    parts = [part for part in found if part.ordinal is not None]
    left = [part.metadata | {"ids": part.metadata["ids"][:_MOST_LEFT]} for part in found if part.ordinal is None]
    if budget is None:
        budget = (await visit.memory.admin.get_policy(agent_id, user_id))["context"]["max_tokens"]
    ids = [each["memory_id"] for part in parts for each in part.metadata.get("memories", [])]
    ids += [id_ for each in left if each["source"] == "memories" for id_ in each["ids"]]
    rows = await database.rows(_MEMORIES, user=user_id, ids=ids)
    contents = {str(row["memory_id"]): row["content"] for row in rows}
    return visit.shown(
        "context.html",
        thread=thread_id,
        threads=threads if thread_id in threads else [thread_id, *threads],
        parts=[(part, _reason(part, parts), _things(user_id, thread_id, part.metadata, contents)) for part in parts],
        names={source: name for source, (name, _) in _SOURCES.items()},
        shares=_shares(parts, budget),
        budget=budget,
        used=sum(part.token_count for part in parts),
        left=[(each, _things_left(user_id, thread_id, each, contents)) for each in left],
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
        shares.append(Share(source, _SOURCES.get(source, (source,))[0], each, round(start, 2), round(width, 2)))
        start += width
    return shares


def _reason(part: ContextPart, parts: list[ContextPart]) -> str:
    """Return why a part is in."""
    said = part.metadata
    if part.source == "memories" and said.get("cache") == "stable":
        return "memories that stand in every context"
    if "artifacts" in said:
        return "of artifacts that the thread names: whole if they fit, else the passages about the query"
    if "trigger" in said:
        return f"the query asks for earlier conversations: “{said['trigger']}”"
    if part.source == "message" and part is parts[-1]:
        return "the newest message is always in, however long it is"
    return _SOURCES.get(part.source, ("", ""))[1]


def _things(user_id: str, thread_id: str, said: Mapping[str, Any], contents: Mapping[str, str]) -> list[Thing]:
    """Return what a part is made of, as its metadata says."""
    things = [_memory(user_id, each, contents) for each in said.get("memories", [])]
    things += [_message(user_id, each, "stands next to a match") for each in said.get("messages", [])]
    things += [
        _artifact(user_id, each["key"], "whole" if each["is_whole"] else "in part")
        for each in said.get("artifacts", [])
    ]
    for each in said.get("results", []):
        thread = each.get("thread_id")
        link = address("thread", user=user_id, thread=thread) if thread else address("search", user=user_id)
        things.append(Thing(f"{each['source']} {thread or each['id']}", _figures(each), link))
    if "end_seq" in said:
        link = address("thread", user=user_id, thread=thread_id, before=said["end_seq"] + 1)
        things.append(Thing(f"messages {said['start_seq']} to {said['end_seq']}", "", link))
    return things


def _things_left(user_id: str, thread_id: str, left: Mapping[str, Any], contents: Mapping[str, str]) -> list[Thing]:
    """Return what ``explain`` says about things that the context does not hold, with links to the first ten."""
    ids: list[str] = left["ids"]
    match left["source"]:
        case "message":
            link = address("thread", user=user_id, thread=thread_id, before=int(ids[0]) + 1)
            return [Thing("the newest of them", "", link)]
        case "memories":
            return [_memory(user_id, {"memory_id": each}, contents) for each in ids]
        case "recalled" if left["reason"].startswith("the artifact"):
            return [_artifact(user_id, each, "") for each in ids]
        case "recalled":
            said = [each.rpartition("/") for each in ids]
            return [_message(user_id, {"thread_id": thread, "seq": int(seq)}) for thread, _, seq in said]
    return []


def _memory(user_id: str, said: Mapping[str, Any], contents: Mapping[str, str]) -> Thing:
    content = contents.get(said["memory_id"], "(changed meanwhile)")
    return Thing(content, _figures(said), address("memory", user=user_id, id=said["memory_id"]))


def _message(user_id: str, said: Mapping[str, Any], otherwise: str = "") -> Thing:
    link = address("thread", user=user_id, thread=said["thread_id"], before=said["seq"] + 25)
    return Thing(f"message {said['seq']} of {said['thread_id']}", _figures(said) or otherwise, f"{link}#m{said['seq']}")


def _artifact(user_id: str, key: str, why: str) -> Thing:
    return Thing(f"artifact {key}", why, address("artifact", user=user_id, key=key))


def _figures(said: Mapping[str, Any]) -> str:
    names = ("score", "relevance", "importance", "recency")
    return ", ".join(f"{name} {said[name]:.2f}" for name in names if said.get(name) is not None)
