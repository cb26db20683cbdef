"""Shows the context that a model would see: a bar of its parts, their reasons, and the parts that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ..types import ContextPart
from .asked import Asked
from .database import Database, Row
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
_FACTS = """
select t.message_count, t.next_seq,
  memory.get_policy(agent_id => %(agent)s, user_id => %(user)s) as policy,
  memory.count_memories(user_id => %(user)s, agent_id => %(agent)s) as memory_count,
  (select count(*) from memory.thread_stats where user_id = %(user)s and thread_id <> %(thread)s) as other_threads
from (select) as o
left join memory.thread_stats as t on t.user_id = %(user)s and t.thread_id = %(thread)s
"""
_SUMMARIES = """
select s.kind, s.start_seq, s.end_seq, s.summary_id
from unnest(array['thread', 'rolling']) as k (kind)
cross join lateral memory.get_thread_summary(user_id => %(user)s, thread_id => %(thread)s, kind => k.kind) as s
"""
_MEMORIES = """
select m.memory_id, m.content from unnest(%(ids)s::uuid[]) as i (memory_id)
cross join lateral memory.get_memory(user_id => %(user)s, memory_id => i.memory_id) as m
"""
_LEFT_MEMORIES = """
select memory_id, content, memory_type
from memory.list_memories(user_id => %(user)s, agent_id => %(agent)s, row_limit => %(limit)s) as m
where m.memory_id <> all (%(ids)s::uuid[])
limit 10
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
    """A part that the context does not hold, the reason, and the place where it can be read."""

    what: str
    why: str
    link: str | None = None


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
    parts = await database.memory.get_context(user_id, thread_id, asked.text("query"), agent_id, budget, recall=recall)
    facts = await database.row(_FACTS, user=user_id, thread=thread_id, agent=agent_id)
    assert facts is not None
    budget = budget or facts["policy"]["context"]["max_tokens"]
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
        left=await _left(database, asked, parts, facts),
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
    newest = max((part.ordinal for part in parts if part.source == "message"), default=None)
    why: list[tuple[str, list[Chosen]]] = []
    for part in parts:
        said = part.metadata
        match part.source:
            case "memories":
                chosen = said.get("memories", [])
                why.append(("the memories that matter most for the query", await _memories(database, user_id, chosen)))
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


def _message(user_id: str, said: dict[str, Any]) -> Chosen:
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


async def _left(database: Database, asked: Asked, parts: list[ContextPart], facts: Row) -> list[Left]:
    """Return the parts that the context does not hold."""
    user_id, thread_id, agent_id = asked.needed("user"), asked.needed("thread"), asked.text("agent")
    summaries = await database.rows(_SUMMARIES, user=user_id, thread=thread_id)
    sources = {part.source for part in parts}
    return [
        *_left_messages(user_id, thread_id, parts, facts),
        *_left_summaries(parts, summaries),
        *await _left_memories(database, user_id, agent_id, parts, facts),
        *await _left_recall(database, asked, parts, facts),
        *([] if "user_summary" in sources else [Left("The profile of the user", "there is none, or it does not fit")]),
        *_left_conversations(sources, facts),
    ]


def _left_messages(user_id: str, thread_id: str, parts: list[ContextPart], facts: Row) -> list[Left]:
    shown = sum(part.source == "message" for part in parts)
    count, stored = facts["message_count"] or 0, facts["next_seq"] or 0
    left: list[Left] = []
    if count > shown:
        until = stored - shown
        link = address("thread", user=user_id, thread=thread_id, before=until)
        covered = max((part.metadata["end_seq"] for part in parts if part.source == "thread_summary"), default=-1)
        why = "they do not fit"
        if covered >= 0:
            why += f"; a summary stands for those up to {covered}"
        left.append(Left(f"{count - shown:,} older messages of the thread", why, link))
    if stored > count:
        link = address("thread", user=user_id, thread=thread_id, before=stored - count)
        left.append(Left(f"{stored - count:,} messages of the thread", "compressed, cleared or expired", link))
    return left


def _left_summaries(parts: list[ContextPart], summaries: list[Row]) -> list[Left]:
    shown = {part.metadata.get("summary_id") for part in parts}
    left = []
    for summary in summaries:
        if str(summary["summary_id"]) not in shown:
            what = f"The {summary['kind']} summary of messages {summary['start_seq']} to {summary['end_seq']}"
            left.append(Left(what, "not needed, because the context has its messages; or it does not fit"))
    return left


async def _left_memories(
    database: Database, user_id: str, agent_id: str | None, parts: list[ContextPart], facts: Row
) -> list[Left]:
    ids = [each["memory_id"] for part in parts if part.source == "memories" for each in part.metadata["memories"]]
    count = facts["memory_count"] - len(ids)
    if count <= 0:
        return []
    most = facts["policy"]["context"]["max_memories"]
    why = f"others matter more, or they do not fit; at most {most} are shown"
    left = [Left(f"{count:,} of {facts['memory_count']:,} memories", why, address("memories", user=user_id))]
    found = await database.rows(_LEFT_MEMORIES, user=user_id, agent=agent_id, ids=ids, limit=10 + len(ids))
    left += [
        Left(f"{row['memory_type']}: {row['content']}", "", address("memory", user=user_id, id=row["memory_id"]))
        for row in found
    ]
    return left


async def _left_recall(database: Database, asked: Asked, parts: list[ContextPart], facts: Row) -> list[Left]:
    if any(part.source == "recalled" and "messages" in part.metadata for part in parts):
        return []
    what, setting = "What was said before", str(facts["policy"]["context"]["recall"])
    if asked.text("recall") == "no" or (asked.text("recall") is None and setting == "false"):
        return [Left(what, "recall is switched off")]
    said = [part.content for part in parts if part.source == "message" and part.role == "user"]
    query = asked.text("query") or (said[-1] if said else None)
    if asked.text("recall") is None and setting == "when_needed" and query is not None:
        need = await database.row(
            "select * from memory.needs_memory(user_id => %(user)s, thread_id => %(thread)s, query => %(query)s)",
            user=asked.needed("user"),
            thread=asked.needed("thread"),
            query=query,
        )
        if need is not None and need["decision"] == "skip":
            return [Left(what, f"the query does not need it: {need['reason']}")]
    return [Left(what, "nothing else matches the query")]


def _left_conversations(sources: set[str], facts: Row) -> list[Left]:
    if "cross_session" in sources or not facts["other_threads"]:
        return []
    is_on = facts["policy"]["knowledge_base"]["enable_cross_session_context"]
    why = "the query does not ask for them, or nothing matches" if is_on else "switched off by the policy"
    return [Left(f"Earlier conversations ({facts['other_threads']:,} other threads)", why)]
