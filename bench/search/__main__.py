"""Measures search, and the functions built on it, against the bare vector query: ``python -m bench.search --help``."""

from __future__ import annotations

import argparse
import datetime
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psycopg
from agent_memory import Memory
from psycopg import sql

from bench.search import crossover, embedded_query, messages, report
from bench.search.memories import Directions, Texts, as_text
from bench.search.storing import MODEL, store
from bench.support import texts
from bench.support.environment import RESULTS, announce, machine, pgvector, postgresql, say
from tests.support.servers import install_agent_memory, running_server

SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "1h"}
DIMENSIONS = 1536
MESSAGES = 40
QUERIES = 64
WARM_UP = 8  # a prepared statement may get its generic plan with the sixth execution
LIMIT = 10

BARE = f"""
select id from memory.texts
where user_id = %(user)s and model = '{MODEL}' and source = 'memory'
order by embedding <=> %(vector)s::halfvec limit {LIMIT}
"""
_SEARCH = """
select * from memory.search(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector,
  mode => '{mode}', sources => '{{memory}}', top_k => {limit})
"""
VARIANTS = {
    "bare vector query": BARE,
    **{f"search, {mode}": _SEARCH.format(mode=mode, limit=LIMIT) for mode in ("vector", "keyword", "hybrid")},
    "render_memories": """
select memory.render_memories(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector)
""",
    "get_context": """
select * from memory.get_context(user_id => %(user)s, thread_id => 'thread', query => %(query)s,
  query_embedding => %(vector)s::vector)
""",
    "get_context without a query": """
select * from memory.get_context(user_id => %(user)s, thread_id => 'thread')
""",
}


@dataclass(frozen=True)
class Query:
    """A query of a user, in words and as an embedding."""

    user: str
    query: str
    vector: str


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    started = time.monotonic()
    with (
        running_server(options.server, SETTINGS) as server,
        psycopg.connect(server.conninfo(), autocommit=True) as connection,
    ):
        install_agent_memory(server, "postgres")
        results: report.Results = {
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "postgresql": postgresql(connection),
            "pgvector": pgvector(connection),
            "settings": {"shared_buffers": SETTINGS["shared_buffers"]},
        }
        if not options.only_crossover and not options.only_messages:
            say("Loading")
            results["data"], queries = _load(connection, options)
            say(f"  {results['data']['memories']:,} memories in {time.monotonic() - started:.0f} s\nMeasuring")
            results["plan"] = _plan(connection, queries[0])
            results["milliseconds"] = _measure(connection, queries, options.calls, options.only)
            if server.has_plpython and not options.only:
                results["embedded"] = embedded_query.measure(
                    connection, [(each.user, each.query) for each in queries], DIMENSIONS, options.calls
                )
        if options.messages:
            say("Messages of one user")
            connection.execute("create database messages")
            install_agent_memory(server, "messages")
            with psycopg.connect(server.conninfo("messages"), autocommit=True) as fresh:
                results["messages"] = messages.measure(fresh, options.messages, options.calls)
        if options.crossover:
            connection.execute("create database crossover")
            install_agent_memory(server, "crossover")
            with psycopg.connect(server.conninfo("crossover"), autocommit=True) as fresh:
                results["crossover"] = crossover.measure(fresh, options.crossover)
    say(f"\nDone in {time.monotonic() - started:.0f} s")
    announce(report.write(results, options.results))
    say("\n" + report.tables(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--users", type=int, default=1000, help="users (default 1000)")
    parser.add_argument("--full-users", type=int, default=20, help="those with 1,000 memories (default 20)")
    parser.add_argument("--other-rows", type=int, default=50, help="memories of each other user (default 50)")
    parser.add_argument("--full", action="store_true", help="1,000 memories for every user: 3 GB of embeddings")
    parser.add_argument("--calls", type=int, default=200, help="calls of each function (default 200)")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only functions whose names contain one of these")
    parser.add_argument(
        "--crossover",
        type=_numbers,
        nargs="?",
        const=crossover.ROWS,
        metavar="N,N,...",
        help="also exact search against HNSW for one user with so many rows "
        f"(without numbers {','.join(map(str, crossover.ROWS))})",
    )
    parser.add_argument("--only-crossover", action="store_true", help="nothing but --crossover")
    parser.add_argument(
        "--messages",
        type=_numbers,
        nargs="?",
        const=messages.SIZES,
        metavar="N,N,...",
        help=f"also search among so many messages of one user (without numbers {','.join(map(str, messages.SIZES))})",
    )
    parser.add_argument("--only-messages", action="store_true", help="nothing but --messages")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to (default bench/results)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    if options.full:
        options.full_users = options.users
    if options.only and not any(word in name for word in options.only for name in VARIANTS):
        parser.error("no function has such a name; they are: " + "; ".join(VARIANTS))
    if options.only_crossover and not options.crossover:
        options.crossover = crossover.ROWS
    if options.only_messages and not options.messages:
        options.messages = messages.SIZES
    return options


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _load(connection: psycopg.Connection, options: argparse.Namespace) -> tuple[dict[str, Any], list[Query]]:
    """Stores memories with embeddings and a thread for each full user; returns what there is, and the queries."""
    rng, sentences, directions = random.Random(1), Texts(), Directions(DIMENSIONS)
    memory = Memory(connection)
    memory.admin.set_policy({"summary": {"enabled": False}, "compression": {"enabled": False}})
    memory.admin.set_policy({"context": {"embed_query": False}})  # no model can be reached
    full = [f"user {number}" for number in range(min(options.full_users, options.users))]
    others = [f"user {number}" for number in range(len(full), options.users)]
    for user in full:
        messages = [
            {"role": ("user", "assistant")[number % 2], "content": text}
            for number, text in enumerate(texts.texts(MESSAGES))
        ]
        memory.add_messages(user, "thread", messages)
    owners = [user for user in full for _ in range(1000)]
    owners += [user for user in others for _ in range(options.other_rows)]
    stored = store(connection, owners, sentences, directions, rng)
    asked: dict[str, list[str]] = {user: [] for user in full}
    for user, content in stored:
        if user in asked and len(asked[user]) < QUERIES:
            asked[user].append(content)
    row = connection.execute("select pg_total_relation_size('memory.texts')").fetchone()
    data = {
        "users": options.users,
        "full_users": len(full),
        "other_rows": options.other_rows,
        "memories": len(stored),
        "dimensions": DIMENSIONS,
        "texts_mb": round(row[0] / 2**20) if row else None,
    }
    queries = []
    for vector in directions.draw(QUERIES):
        user = rng.choice(full)
        queries.append(Query(user, sentences.question(rng.choice(asked[user])), as_text(vector)))
    return data, queries


def _plan(connection: psycopg.Connection, query: Query) -> list[str]:
    """How the server executes the bare query when it is prepared."""
    connection.execute("set plan_cache_mode = force_generic_plan")
    connection.execute(f"prepare bare (text, halfvec) as {BARE % {'user': '$1', 'vector': '$2'}}")
    rows = connection.execute(
        sql.SQL("explain (analyze, costs off, timing off, summary off) execute bare ({}, {})").format(
            query.user, query.vector
        )
    ).fetchall()
    connection.execute("deallocate bare")
    connection.execute("reset plan_cache_mode")
    return [str(line) for (line,) in rows]


def _measure(
    connection: psycopg.Connection, queries: Sequence[Query], calls: int, only: list[str] | None
) -> dict[str, dict[str, float]]:
    """Milliseconds by function, from a client on the same machine; the functions take turns."""
    variants = {
        name: statement
        for name, statement in VARIANTS.items()
        if statement is BARE or not only or any(word in name for word in only)
    }
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    times: dict[str, list[float]] = {name: [] for name in variants}
    forth = list(variants.items())
    for call in range(-WARM_UP, calls):
        query = vars(queries[call % len(queries)])
        # Back and forth, because the first function finds the rows of another user in the processor's caches.
        for name, statement in reversed(forth) if call % 2 else forth:
            started = time.perf_counter()
            connection.execute(statement, query, prepare=True)
            took = (time.perf_counter() - started) * 1000
            if notices:  # such as "degraded": not what is to be measured
                raise RuntimeError(f"{name}: {notices[0]}")
            if call >= 0:
                times[name].append(took)
    bare = median(times["bare vector query"])
    return {
        name: {
            "p50": round(median(each), 3),
            "p95": round(quantiles(each, n=20)[-1], 3),
            "ratio": round(median(each) / bare, 2),
        }
        for name, each in times.items()
    }


if __name__ == "__main__":
    main()
