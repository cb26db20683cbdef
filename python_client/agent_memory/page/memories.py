"""Memories as a timeline, one memory with its history, and undo."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from starlette.responses import RedirectResponse, Response

from .._unread import UNREAD, why_no_memories
from ..errors import NotFoundError
from ..server.problems import ProblemError
from .database import Row
from .paging import SIZE, offset_of, paging
from .rendering import address
from .view import Visit

_LIST = """
select * from memory.list_memories(
  user_id => %(user)s, agent_id => %(agent)s, memory_type => %(type)s, search => %(search)s, as_of => %(as_of)s,
  include_superseded => %(superseded)s, include_quarantined => %(quarantined)s, row_limit => %(limit)s,
  row_offset => %(offset)s)
"""
_ONE = "select * from memory.get_memory(user_id => %(user)s, memory_id => %(id)s)"
_HISTORY = "select * from memory.get_memory_history(user_id => %(user)s, memory_id => %(id)s) order by version desc"
_TYPES = "select memory_type from memory.memory_types order by memory_type"


async def show_memories(visit: Visit) -> Response:
    """Show the memories of a user, newest first, each with the time in which it held."""
    asked = visit.asked
    user_id = asked.needed("user")
    found = await visit.database.rows(
        _LIST,
        user=user_id,
        agent=asked.text("agent"),
        type=asked.text("type"),
        search=asked.text("search"),
        as_of=asked.day("as_of"),
        superseded=asked.text("show") != "current",
        quarantined=asked.text("show") == "all",
        limit=SIZE,
        offset=offset_of(asked),
    )
    _place(found)
    total = found[0]["total_count"] if found else 0
    types = [row["memory_type"] for row in await visit.database.rows(_TYPES)]
    place = paging("memories", asked, len(found), total)
    unread = None if found else await visit.database.row(UNREAD, user=user_id)
    why = why_no_memories(user_id, unread) if unread else None
    return visit.shown("memories.html", memories=found, types=types, paging=place, why=why)


async def show_memory(visit: Visit) -> Response:
    """Show one memory with all its versions, also after it was deleted."""
    user_id, memory_id = visit.asked.needed("user"), visit.asked.uuid("id")
    database = visit.database
    history = await database.rows(_HISTORY, user=user_id, id=memory_id)
    try:
        memory = await database.row(_ONE, user=user_id, id=memory_id)
    except NotFoundError:
        memory = None  # deleted: its history remains until memory.sweep()
    return visit.shown("memory.html", id=memory_id, memory=memory, history=history)


async def change_memory(visit: Visit) -> Response:
    """Delete or quarantine a memory, or undo a deletion, a supersede, a quarantine or a change."""
    asked, memory = visit.asked, visit.database.memory
    user_id, memory_id = asked.needed("user"), asked.uuid("id")
    match asked.needed("do"):
        case "restore":
            await memory.restore_memory(user_id, memory_id, asked.number("version", 1, 2**31 - 1))
        case "delete":
            await memory.delete_memory(user_id, memory_id)
        case "release":
            await memory.release_memory(user_id, memory_id)
        case "quarantine":
            await memory.quarantine_memory(user_id, memory_id, "by hand, on the page")
        case _:
            raise ProblemError(
                422, "do: is neither restore, delete, release nor quarantine", hint="Use the buttons of the page."
            )
    return RedirectResponse(address("memory", user=user_id, id=memory_id), 303)


def _place(memories: list[Row]) -> None:
    """Give each memory its piece of the time that the list spans, in thousandths."""
    now = datetime.now(timezone.utc)
    spans = [_span(memory, now) for memory in memories]
    first = min((start for start, _ in spans), default=now)
    last = max((end for _, end in spans), default=now)
    whole = (last - first).total_seconds() or 1
    for memory, (start, end) in zip(memories, spans, strict=True):
        memory["from_thousandth"] = round(1000 * (start - first).total_seconds() / whole, 1)
        # At least wide enough to see.
        memory["thousandths"] = max(round(1000 * (end - start).total_seconds() / whole, 1), 8)


def _span(memory: Row, now: datetime) -> tuple[datetime, datetime]:
    """Return from when to when a memory held, as far as is known today."""
    start: datetime = memory["valid_from"] or memory["created_at"]
    ends: list[Any] = [memory[name] for name in ("valid_to", "superseded_at", "expires_at") if memory[name]]
    return start, max(min([*ends, now]), start)
