"""Measures search, and the functions built on it, against the bare vector query: ``python -m bench.search --help``."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import Any

import psycopg
from agent_memory import Memory

from bench.search import crossover, messages, report
from bench.search.asking import Query, asking
from bench.search.memories import Directions, Texts, as_text
from bench.search.storing import MODEL, store
from bench.support import texts
from bench.support.environment import environment, new_database, say, value, write
from bench.support.times import in_turns, points
from tests.support.servers import running_server

SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "1h"}
DIMENSIONS = 1536
FULL_USERS, ROWS_OF_FULL = 20, 1000
ROWS_OF_OTHERS = 50
MESSAGES = 40
QUERIES = 64
LIMIT = 10

BARE = "bare vector query"
_SEARCH = """
select * from memory.search(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector,
  mode => '{mode}', sources => '{{memory}}', top_k => {limit})
"""
VARIANTS = {
    BARE: f"""
select id from memory.texts
where user_id = %(user)s and model = '{MODEL}' and source = 'memory'
order by embedding <=> %(vector)s::halfvec limit {LIMIT}
""",
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


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    with running_server("system", SETTINGS) as server:
        with new_database(server, "memories") as connection:
            say("Memories")
            data, queries = _load(connection, options.users)
            measured: dict[str, Any] = {"data": data, "milliseconds": _measure(connection, queries, options.calls)}
        if options.messages:
            say("Messages of one user")
            with new_database(server, "messages") as connection:
                measured["messages"] = messages.measure(connection, options.messages, options.calls)
        if options.crossover:
            say("Exact search against an index")
            with new_database(server, "crossover") as connection:
                measured["crossover"] = crossover.measure(connection, options.crossover)
        with psycopg.connect(server.conninfo("memories")) as connection:
            results = {**environment(connection), "shared_buffers": SETTINGS["shared_buffers"], **measured}
    write("search", results, report.markdown(results))
    say("\n" + report.tables(results))


def _options() -> argparse.Namespace:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(prog="python -m bench.search", description=main.__doc__)
    parser.add_argument("--users", type=int, default=1000, help="users with memories (default 1000)")
    parser.add_argument("--calls", type=int, default=200, help="calls of each function (default 200)")
    for name, sizes, what in (
        ("--crossover", crossover.ROWS, "exact search against HNSW for one user with so many rows"),
        ("--messages", messages.SIZES, "search among so many messages of one user"),
    ):
        told = f"also {what} (without numbers {','.join(map(str, sizes))})"
        parser.add_argument(name, type=numbers, nargs="?", const=sizes, metavar="N,N,...", help=told)
    return parser.parse_args()


def _load(connection: psycopg.Connection, users: int) -> tuple[dict[str, int], list[Query]]:
    """Stores memories with embeddings and a thread for each full user; returns what there is, and the queries."""
    rng, sentences, directions = random.Random(1), Texts(), Directions(DIMENSIONS)
    memory = Memory(connection)
    memory.admin.set_policy({"summary": {"enabled": False}, "compression": {"enabled": False}})
    memory.admin.set_policy({"context": {"embed_query": False}})  # no model can be reached
    full = [f"user {place}" for place in range(min(FULL_USERS, users))]
    said = [
        {"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts.texts(MESSAGES))
    ]
    for user in full:
        memory.add_messages(user, "thread", said)
    owners = [user for user in full for _ in range(ROWS_OF_FULL)]
    owners += [f"user {place}" for place in range(len(full), users) for _ in range(ROWS_OF_OTHERS)]
    stored = store(connection, owners, sentences, directions, rng)
    contents: dict[str, list[str]] = {user: [] for user in full}
    for user, content in stored:
        if user in contents:
            contents[user].append(content)
    queries: list[Query] = []
    for vector in directions.draw(QUERIES):
        user = rng.choice(full)
        question = sentences.question(rng.choice(contents[user]))
        queries.append({"user": user, "query": question, "vector": as_text(vector)})
    size = value(connection, "select pg_total_relation_size('memory.texts') / 2^20")
    return {"users": users, "memories": len(stored), "texts_mb": size}, queries


def _measure(connection: psycopg.Connection, queries: Sequence[Query], calls: int) -> dict[str, dict[str, float]]:
    """Milliseconds by function, from a client on the same machine."""
    variants = {name: asking(connection, statement) for name, statement in VARIANTS.items()}
    measured = {name: points(taken) for name, taken in in_turns(variants, queries, calls).items()}
    return {name: {**each, "ratio": round(each["p50"] / measured[BARE]["p50"], 2)} for name, each in measured.items()}


if __name__ == "__main__":
    main()
