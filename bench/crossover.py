"""From how many rows of one user on an HNSW index is faster than an exact search, and what it misses.

What memory.search takes besides shows how much there is to save. The users stand in one table, so the fewer rows
a user has, the more of what the index offers is not theirs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import psycopg
from agent_memory import Memory
from environment import say
from memories import Directions, Texts, as_text
from psycopg import sql
from storing import MODEL, store

ROWS = [1_000, 10_000, 50_000, 100_000]
DIMENSIONS = 384
OTHERS, ROWS_OF_OTHERS = 800, 50
QUERIES = 40
# Queries of a statement before the next one's: some, or each finds the processor's caches full of the other's.
TURN = 10
EF_SEARCH = (40, 100, 200)
LIMIT = 10

_QUERY = f"""
select id from {{table}} where user_id = %(user)s and model = '{MODEL}' and source = 'memory'
order by embedding <=> %(vector)s::halfvec limit {LIMIT}
"""
EXACT = _QUERY.format(table="memory.embeddings")  # has no index on vectors
NEAREST = _QUERY.format(table="bench.embeddings")
_SEARCH = """
select id, content from memory.search(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector,
  mode => '{mode}', sources => '{{memory}}', top_k => {limit})
"""
VECTOR, HYBRID = (_SEARCH.format(mode=mode, limit=LIMIT) for mode in ("vector", "hybrid"))

Query = dict[str, str]


def measure(connection: psycopg.Connection, sizes: Sequence[int]) -> dict[str, Any]:
    """Times and recall for a user of each size, all in one table with small users besides, in an empty database."""
    sentences, directions = Texts(seed=2), Directions(DIMENSIONS, seed=2)
    owners = [str(size) for size in sizes for _ in range(size)]
    owners += [f"other {number}" for number in range(OTHERS) for _ in range(ROWS_OF_OTHERS)]
    Memory(connection).set_policy({"memories": {"max_per_agent": max(*sizes, ROWS_OF_OTHERS)}})
    stored = store(connection, owners, sentences, directions, random.Random(2))
    build = _index(connection)
    say(f"  {len(owners):,} rows, index built in {build:.0f} s")
    vectors = [as_text(vector) for vector in directions.draw(QUERIES)]
    connection.execute("set max_parallel_workers_per_gather = 0")
    users = []
    for user in map(str, sizes):
        contents = [content for owner, content in stored if owner == user]
        queries = [
            {"user": user, "query": sentences.question(content), "vector": vector}
            for content, vector in zip(contents, vectors, strict=False)
        ]
        users.append({"rows": int(user), **_user(connection, queries)})
        say(f"  {users[-1]}")
    return {"rows": len(owners), "build_seconds": round(build), "users": users}


def _index(connection: psycopg.Connection) -> float:
    """Makes a table of the same embeddings that has an index; returns the seconds that the index took."""
    connection.execute("create schema bench")
    connection.execute("create table bench.embeddings (like memory.embeddings including all)")
    # An index needs to know.
    connection.execute(f"alter table bench.embeddings alter column embedding type halfvec({DIMENSIONS})")
    connection.execute("insert into bench.embeddings select * from memory.embeddings")
    started = time.monotonic()
    connection.execute("create index hnsw on bench.embeddings using hnsw (embedding halfvec_cosine_ops)")
    build = time.monotonic() - started
    connection.execute("vacuum analyze bench.embeddings")
    return build


def _user(connection: psycopg.Connection, queries: Sequence[Query]) -> dict[str, Any]:
    (exact, wanted), (vector, same), (hybrid, _) = _run(connection, (EXACT, VECTOR, HYBRID), queries)
    row: dict[str, Any] = {"exact_ms": exact, "vector_ms": vector, "hybrid_ms": hybrid, "hnsw": {}}
    if _recall(same, wanted) < 1:
        raise RuntimeError("search does not find the nearest")
    connection.execute("set enable_sort = off")
    connection.execute("set hnsw.iterative_scan = strict_order")
    _check_plan(connection, queries[0])
    for ef_search in EF_SEARCH:
        connection.execute(sql.SQL("set hnsw.ef_search = {}").format(ef_search))
        ((took, found),) = _run(connection, (NEAREST,), queries)
        row["hnsw"][str(ef_search)] = {"ms": took, "recall": round(_recall(found, wanted), 3)}
    for setting in ("enable_sort", "hnsw.iterative_scan", "hnsw.ef_search"):
        connection.execute(f"reset {setting}")
    return row


def _run(
    connection: psycopg.Connection, statements: Sequence[str], queries: Sequence[Query]
) -> list[tuple[float, list[set[str]]]]:
    """For each statement the median of the milliseconds, and what each query found."""
    times: list[list[float]] = [[] for _ in statements]
    found: list[list[set[str]]] = [[] for _ in statements]
    for start in (-TURN, *range(0, len(queries), TURN)):  # the first turn is to warm up
        for number, statement in enumerate(statements):
            for query in queries[max(start, 0) :][:TURN]:
                started = time.perf_counter()
                rows = connection.execute(statement, query, prepare=True).fetchall()
                took = (time.perf_counter() - started) * 1000
                if start >= 0:
                    times[number].append(took)
                    found[number].append({row[0] for row in rows})
    return [(round(median(each), 2), ids) for each, ids in zip(times, found, strict=True)]


def _recall(found: Sequence[set[str]], wanted: Sequence[set[str]]) -> float:
    """The share of what is wanted that is found."""
    return fmean(len(mine & its) / LIMIT for mine, its in zip(found, wanted, strict=True))


def _check_plan(connection: psycopg.Connection, query: Query) -> None:
    """Raises RuntimeError when the index is not what answers."""
    lines = connection.execute(f"explain {NEAREST}", query).fetchall()
    if not any("using hnsw" in line for (line,) in lines):
        raise RuntimeError("the HNSW index is not used")
