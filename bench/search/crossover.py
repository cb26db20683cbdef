"""From how many memories of one user on an HNSW index is faster than comparing with all of them, and what it misses.

All users are in one table, so the fewer memories a user has, the more of the rows that the index finds are not theirs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

import psycopg
from agent_memory import Memory
from psycopg import sql

from bench.search.asking import Query
from bench.search.memories import Directions, Texts, as_text
from bench.search.storing import MODEL, store
from bench.support.environment import say

ROWS = [1_000, 10_000, 20_000, 50_000, 100_000]
DIMENSIONS = 384
OTHERS, ROWS_OF_OTHERS = 800, 50
QUERIES = 40
# Queries of a statement before the next one's: some, or each finds the processor's caches full of the other's.
TURN = 10
EF_SEARCH = (40, 100, 200)
LIMIT = 10
ALWAYS, NEVER = 1, 2**31 - 1

_QUERY = f"""
select id from memory.texts where user_id = %(user)s and model = '{MODEL}' and source = 'memory' {{more}}
order by {{by}} limit {LIMIT}
"""
_EXACT = _QUERY.format(more="", by="embedding <=> %(vector)s::halfvec")
# A query that an index of memory.vector_index() can answer.
_NEAREST = _QUERY.format(
    more="and valid_until > '-infinity'",
    by=f"embedding::halfvec({DIMENSIONS}) <=> %(vector)s::halfvec({DIMENSIONS})",
)
_SEARCH = """
select id, content from memory.search(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector,
  mode => '{mode}', sources => '{{memory}}', top_k => {limit})
"""
_VECTOR, _HYBRID = (_SEARCH.format(mode=mode, limit=LIMIT) for mode in ("vector", "hybrid"))


class Variant(NamedTuple):
    """A statement, and the settings that it runs under."""

    statement: str
    approximate_above: int = NEVER
    ef_search: int | None = None
    """Of the HNSW index, which the planner then has to take; None leaves the choice to it."""


VARIANTS = {
    "query, exact": Variant(_EXACT),
    **{f"query, HNSW, ef_search {each}": Variant(_NEAREST, ef_search=each) for each in EF_SEARCH},
    "search, vector, exact": Variant(_VECTOR),
    "search, vector, approximate": Variant(_VECTOR, approximate_above=ALWAYS),
    "search, hybrid": Variant(_HYBRID),
}


def measure(connection: psycopg.Connection, sizes: Sequence[int]) -> dict[str, Any]:
    """Times and recall for a user of each size, all in one table with small users besides, in an empty database."""
    sentences, directions = Texts(seed=2), Directions(DIMENSIONS, seed=2)
    owners = [str(size) for size in sizes for _ in range(size)]
    owners += [f"other {number}" for number in range(OTHERS) for _ in range(ROWS_OF_OTHERS)]
    Memory(connection).admin.set_policy({"memories": {"max_per_agent": max(*sizes, ROWS_OF_OTHERS)}})
    stored = store(connection, owners, sentences, directions, random.Random(2))
    build = _build_index(connection)
    say(f"  {len(owners):,} memories, index built in {build:.0f} s")
    vectors = [as_text(vector) for vector in directions.draw(QUERIES)]
    connection.execute("set max_parallel_workers_per_gather = 0")
    users = []
    for user in map(str, sizes):
        contents = [content for owner, content in stored if owner == user]
        queries: list[Query] = [
            {"user": user, "query": sentences.question(content), "vector": vector}
            for content, vector in zip(contents, vectors, strict=False)
        ]
        users.append({"rows": int(user), "variants": _user(connection, queries)})
        say(f"  {users[-1]}")
    return {"rows": len(owners), "build_seconds": round(build), "users": users}


def _build_index(connection: psycopg.Connection) -> float:
    """Makes the index as an administrator would; returns the seconds that it took."""
    statements = connection.execute("select memory.vector_index(%s)", [MODEL]).fetchall()
    started = time.monotonic()
    for (statement,) in statements:
        connection.execute(statement)
    build = time.monotonic() - started
    connection.execute("vacuum analyze memory.texts")
    return build


def _user(connection: psycopg.Connection, queries: Sequence[Query]) -> dict[str, dict[str, float]]:
    """For each variant the median of the milliseconds, and its recall where it compares by meaning alone."""
    memory = Memory(connection)
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    found: dict[str, list[set[str]]] = {name: [] for name in VARIANTS}
    for start in (-TURN, *range(0, len(queries), TURN)):  # the first turn is to warm up
        for name, variant in VARIANTS.items():
            memory.admin.set_policy({"search": {"approximate_above": variant.approximate_above}})
            _prepare(connection, variant)
            for query in queries[max(start, 0) :][:TURN]:
                started = time.perf_counter()
                # Not prepared, so that the planner knows the user, as it does in an approximate search.
                rows = connection.execute(variant.statement, query, prepare=False).fetchall()
                took = (time.perf_counter() - started) * 1000
                if start >= 0:
                    times[name].append(took)
                    found[name].append({row[0] for row in rows})
    wanted = found["query, exact"]
    results = {name: {"ms": round(median(each), 2)} for name, each in times.items()}
    for name in results.keys() - {"search, hybrid"}:
        results[name]["recall"] = round(_recall(found[name], wanted), 3)
    if results["search, vector, exact"]["recall"] < 1:
        raise RuntimeError("search does not find the nearest")
    return results


def _prepare(connection: psycopg.Connection, variant: Variant) -> None:
    """Makes the settings of the variant, and raises RuntimeError when its plan does not use its index."""
    for setting in ("enable_sort", "hnsw.iterative_scan", "hnsw.ef_search"):
        connection.execute(f"reset {setting}")
    if variant.ef_search is not None:
        connection.execute("set enable_sort = off")
        connection.execute("set hnsw.iterative_scan = strict_order")
        connection.execute(sql.SQL("set hnsw.ef_search = {}").format(variant.ef_search))
        lines = connection.execute(
            f"explain {variant.statement}", {"user": "", "vector": str([1.0] * DIMENSIONS)}
        ).fetchall()
        if not any("hnsw" in line for (line,) in lines):
            raise RuntimeError("the HNSW index is not used")


def _recall(found: Sequence[set[str]], wanted: Sequence[set[str]]) -> float:
    """The share of the wanted ids that are among the found ones."""
    return fmean(len(mine & its) / LIMIT for mine, its in zip(found, wanted, strict=True))
