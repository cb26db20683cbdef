"""Memories in quarantine, each with what it waits for; a person accepts it, changes it before, or rejects it."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from ..server.problems import ProblemError
from .paging import SIZE, offset_of, paging
from .rendering import address
from .view import Visit

_WAITING = """
select m.*, q.total_count from memory.list_quarantined(
  user_id => %(user)s, source => 'memory', row_limit => %(limit)s, row_offset => %(offset)s) as q
cross join lateral memory.get_memory(user_id => %(user)s, memory_id => q.id::uuid) as m
"""


async def show_review(visit: Visit) -> Response:
    """Show the memories in quarantine, newest first, and which memories would end if one of them counted."""
    found = await visit.database.rows(
        _WAITING, user=visit.asked.needed("user"), limit=SIZE, offset=offset_of(visit.asked)
    )
    total = found[0]["total_count"] if found else 0
    return visit.shown("review.html", waiting=found, paging=paging("review", visit.asked, len(found), total))


async def change_review(visit: Visit) -> Response:
    """Release a memory, as it is or with another text, or delete it."""
    asked, memory = visit.asked, visit.database.memory
    user_id, memory_id = asked.needed("user"), asked.uuid("id")
    version = asked.number("version", 1, 2**31 - 1)
    async with visit.database.connection.transaction():
        match asked.needed("do"):
            case "accept":
                await memory.release_memory(user_id, memory_id)
            case "edit":
                await memory.update_memory(user_id, memory_id, asked.needed("content"), expected_version=version)
                await memory.release_memory(user_id, memory_id)
            case "reject":
                await memory.delete_memory(user_id, memory_id)
            case _:
                raise ProblemError(422, "do: is neither accept, edit nor reject", hint="Use the buttons of the page.")
    return RedirectResponse(address("review", user=user_id, offset=asked.number("offset")), 303)
