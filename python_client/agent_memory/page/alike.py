"""Memories that say nearly the same, or contradict each other, side by side; a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from starlette.responses import RedirectResponse, Response

from ..server.problems import ProblemError
from .database import Row
from .paging import offset_of, paging
from .rendering import address
from .view import Visit

# Each memory of a page is a query among all memories, by words alone: embeddings of all these queries would cost money.
# A score is relative to the best match, which is the memory itself.
_PAIRS = """
with listed as (
  select * from memory.list_memories(user_id => %(user)s, row_limit => %(limit)s, row_offset => %(offset)s)
)
select a.memory_id, a.total_count, b.id::uuid as other_id, b.score
from listed as a
left join lateral (
  select s.* from memory.search(
    user_id => %(user)s, query => left(a.content, 1000), mode => 'keyword', sources => '{memory}', top_k => 4) as s
  where s.id <> a.memory_id::text and s.score >= %(least)s
) as b on true
order by b.score desc nulls last
"""
_MEMORIES = """
select m.* from unnest(%(ids)s::uuid[]) as i (memory_id)
cross join lateral memory.get_memory(user_id => %(user)s, memory_id => i.memory_id) as m
"""
# The replacement of a memory is not among these 500 memories if it is an article, has expired, or is older.
_DECIDED = """
with listed as (
  select * from memory.list_memories(user_id => %(user)s, include_superseded => true, row_limit => 500)
)
select old.memory_id, old.content, old.created_at, old.supersede_reason, old.superseded_at, old.superseded_by,
  new.content as new_content, new.created_at as new_created_at
from listed as old
left join listed as new on new.memory_id = old.superseded_by
where old.superseded_by is not null
order by old.superseded_at desc limit 25
"""
_AT_A_TIME = 50
_LEAST = 0.5
"""The share of a memory's weighted words that another one has, from which on a person may want to see both."""
_DISTINCT = "distinct_from"
"""The key of metadata that lists memories which a person has found to be no duplicates."""
_REASON = "decided by a person"


@dataclass(frozen=True)
class Pair:
    """Two memories that are alike."""

    older: Row
    newer: Row
    score: float


async def show_alike(visit: Visit) -> Response:
    """Show undecided pairs, and decisions about other pairs, newest first."""
    user_id, database = visit.asked.needed("user"), visit.database
    found = await database.rows(_PAIRS, user=user_id, limit=_AT_A_TIME, offset=offset_of(visit.asked), least=_LEAST)
    scores: dict[frozenset[UUID], float] = {}
    for row in found:
        if row["other_id"] is not None:
            scores.setdefault(frozenset((row["memory_id"], row["other_id"])), row["score"])
    ids = list({memory_id for pair in scores for memory_id in pair})
    memories = {row["memory_id"]: row for row in await database.rows(_MEMORIES, user=user_id, ids=ids)}
    read = len({row["memory_id"] for row in found})
    return visit.shown(
        "alike.html",
        pairs=_pairs(scores, memories),
        decided=await database.rows(_DECIDED, user=user_id),
        paging=paging("alike", visit.asked, read, found[0]["total_count"] if found else 0),
    )


def _pairs(scores: dict[frozenset[UUID], float], memories: dict[UUID, Row]) -> list[Pair]:
    pairs = []
    for ids, score in scores.items():
        older, newer = sorted((memories[each] for each in ids), key=lambda row: (row["created_at"], row["memory_id"]))
        if not (_finds_distinct(older, newer) or _finds_distinct(newer, older)):
            pairs.append(Pair(older, newer, score))
    return pairs


def _finds_distinct(one: Row, other: Row) -> bool:
    marked = one["metadata"].get(_DISTINCT)
    return isinstance(marked, list) and str(other["memory_id"]) in marked


async def change_pair(visit: Visit) -> Response:
    """Keep both memories of a pair, make one of them, hide one behind the other, or undo that."""
    asked, memory = visit.asked, visit.database.memory
    user_id, this, other = asked.needed("user"), asked.uuid("this"), asked.uuid("other")
    version = asked.number("version", 1, 2**31 - 1)
    async with visit.database.connection.transaction():
        match asked.needed("do"):
            case "keep":
                metadata = (await memory.get_memory(user_id, this)).metadata
                marked = metadata.get(_DISTINCT)
                known = marked if isinstance(marked, list) else []
                metadata = metadata | {_DISTINCT: [*known, str(other)]}
                await memory.update_memory(user_id, this, metadata=metadata, expected_version=version)
            case "merge":
                await memory.update_memory(user_id, this, asked.needed("content"), expected_version=version)
                await memory.supersede_memory(user_id, other, this, _REASON)
            case "supersede":
                await memory.supersede_memory(user_id, other, this, _REASON)
            case "restore":
                await memory.restore_memory(user_id, other)
            case _:
                hint = "Use the buttons of the page."
                raise ProblemError(422, "do: is neither keep, merge, supersede nor restore", hint=hint)
    return RedirectResponse(address("alike", user=user_id, offset=asked.number("offset")), 303)
