"""From how many rows of one user on an HNSW index is faster than an exact search, and what it misses.

The users stand in one table, so the fewer rows a user has, the more of what the index offers is not theirs.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import psycopg
from binary_copy import copy_embeddings
from environment import say
from memories import Directions, as_text
from psycopg import sql

ROWS = [1_000, 10_000, 50_000, 100_000]
DIMENSIONS = 384
OTHERS, ROWS_OF_OTHERS = 800, 50
QUERIES = 40
EF_SEARCH = (40, 100, 200)
LIMIT = 10

_QUERY = """
select id from bench.embeddings where user_id = %s and model = 'embedding' and source = 'memory'
order by {order} limit {limit}
"""
# No index has this order.
EXACT = _QUERY.format(order="(embedding <=> %s::halfvec) + 0", limit=LIMIT)
NEAREST = _QUERY.format(order="embedding <=> %s::halfvec", limit=LIMIT)


def measure(connection: psycopg.Connection, sizes: Sequence[int]) -> dict[str, Any]:
    """Times and recall for a user of each size, all in one table with small users besides."""
    directions = Directions(DIMENSIONS, seed=2)
    rows, build = _load(connection, sizes, directions)
    say(f"  {rows:,} rows, index built in {build:.0f} s")
    vectors = [as_text(vector) for vector in directions.draw(QUERIES)]
    connection.execute("set max_parallel_workers_per_gather = 0")
    users = [_user(connection, size, vectors) for size in sizes]
    connection.execute("reset max_parallel_workers_per_gather")
    connection.execute("drop table bench.embeddings")
    return {"rows": rows, "build_seconds": round(build), "users": users}


def _load(connection: psycopg.Connection, sizes: Sequence[int], directions: Directions) -> tuple[int, float]:
    """Makes the table and its index; returns the rows and what the index took."""
    rng = random.Random(2)
    connection.execute("create schema if not exists bench")
    connection.execute("create table bench.embeddings (like memory.embeddings including all)")
    # An index needs to know.
    connection.execute(f"alter table bench.embeddings alter column embedding type halfvec({DIMENSIONS})")
    owners = [str(size) for size in sizes for _ in range(size)]
    owners += [f"other {number}" for number in range(OTHERS) for _ in range(ROWS_OF_OTHERS)]
    rng.shuffle(owners)
    memories = [(owner, str(uuid.UUID(int=rng.getrandbits(128)))) for owner in owners]
    copy_embeddings(connection, sql.Identifier("bench", "embeddings"), "embedding", memories, directions)
    started = time.monotonic()
    connection.execute("create index hnsw on bench.embeddings using hnsw (embedding halfvec_cosine_ops)")
    build = time.monotonic() - started
    connection.execute("vacuum analyze bench.embeddings")
    return len(memories), build


def _user(connection: psycopg.Connection, size: int, vectors: Sequence[str]) -> dict[str, Any]:
    user = str(size)
    exact, wanted = _run(connection, EXACT, user, vectors)
    row: dict[str, Any] = {"rows": size, "exact_ms": round(exact, 2), "hnsw": {}}
    connection.execute("set enable_sort = off")
    connection.execute("set hnsw.iterative_scan = strict_order")
    _check_plan(connection, user, vectors[0])
    for ef_search in EF_SEARCH:
        connection.execute(sql.SQL("set hnsw.ef_search = {}").format(ef_search))
        took, found = _run(connection, NEAREST, user, vectors)
        recall = fmean(len(mine & its) / LIMIT for mine, its in zip(found, wanted, strict=True))
        row["hnsw"][str(ef_search)] = {"ms": round(took, 2), "recall": round(recall, 3)}
    for setting in ("enable_sort", "hnsw.iterative_scan", "hnsw.ef_search"):
        connection.execute(f"reset {setting}")
    say(f"  {size:,} rows: {row}")
    return row


def _run(
    connection: psycopg.Connection, statement: str, user: str, vectors: Sequence[str]
) -> tuple[float, list[set[str]]]:
    """The median of the milliseconds in the second of two runs, and what each query found."""
    for _ in range(2):
        times, found = [], []
        for vector in vectors:
            started = time.perf_counter()
            rows = connection.execute(statement, (user, vector), prepare=True).fetchall()
            times.append((time.perf_counter() - started) * 1000)
            found.append({memory for (memory,) in rows})
    return median(times), found


def _check_plan(connection: psycopg.Connection, user: str, vector: str) -> None:
    """Raises RuntimeError when the index is not what answers."""
    lines = connection.execute(f"explain {NEAREST}", (user, vector)).fetchall()
    if not any("using hnsw" in line for (line,) in lines):
        raise RuntimeError("the HNSW index is not used")
