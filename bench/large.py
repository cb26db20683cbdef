"""Measures calls beside millions of messages: ``python -m bench.large --help``.

Two databases: a small one, with ten users of 1,000 messages and one of 10,000, and a large one, with thousands of users
of 1,000 and one with a tenth of all messages. A call of a user must not notice the rows of others, and the big user
shows what a call costs as its own rows become a hundred times as many.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from bench.support.environment import describe, environment, new_database, say, value, write
from bench.support.markdown import table
from bench.support.texts import FREQUENCIES, WORDS
from tests.support.servers import Server, running_server

SETTINGS = {
    "fsync": "on",  # without it the files would be in memory, of which they need 15 GB
    "synchronous_commit": "off",
    "shared_buffers": "2GB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "16GB",
    "max_parallel_maintenance_workers": "2",
}
BIG = "big"
CALLS: dict[str, tuple[str, Callable[[random.Random], dict[str, Any]]]] = {
    "`add_message`": (
        "select * from memory.add_message(%(user)s, %(thread)s, 'user', %(text)s)",
        lambda chance: {"thread": _thread(chance), "text": _text(chance)},
    ),
    "`get_messages`, the newest 20": (
        "select * from memory.get_messages(%(user)s, %(thread)s, recent_k => 20)",
        lambda chance: {"thread": _thread(chance)},
    ),
    "`list_threads`, 20": ("select * from memory.list_threads(%(user)s, row_limit => 20)", lambda _: {}),
    "`get_context` without a query": (
        "select * from memory.get_context(%(user)s, %(thread)s)",
        lambda chance: {"thread": _thread(chance)},
    ),
    "`get_context` with a query": (
        "select * from memory.get_context(%(user)s, %(thread)s, query => %(text)s)",
        lambda chance: {"thread": _thread(chance), "text": _text(chance, 4)},
    ),
    "`search` by keyword": (
        "select * from memory.search(%(user)s, %(text)s, mode => 'keyword', top_k => 10)",
        lambda chance: {"text": _text(chance, 4)},
    ),
    "`add_memory`": (
        "select * from memory.add_memory(%(user)s, %(text)s)",
        lambda chance: {"text": _text(chance)},
    ),
}
# Others' messages are copies of one user's.
COPY = """
insert into memory.messages (user_id, thread_id, seq, agent_id, role, content, metadata, token_count, is_counted,
  created_at, updated_at, expires_at, is_active)
select u.user_id, u.prefix || m.thread_id, m.seq, m.agent_id, m.role, m.content, m.metadata,
  m.token_count, m.is_counted, m.created_at, m.updated_at, m.expires_at, m.is_active
from jsonb_to_recordset(%(copies)s) as u (user_id text, prefix text, source text)
join memory.messages as m on m.user_id = u.source
"""
# The keys of the index of words name their user.
COPY_TEXTS = """
insert into memory.texts (user_id, source, id, thread_id, number, agent_id, created_at, valid_until, words, keys, hash)
select u.user_id, t.source, u.prefix || t.id, u.prefix || t.thread_id, t.number, t.agent_id, t.created_at,
  t.valid_until, t.words, array(select memory._word_key(u.user_id, w) from unnest(tsvector_to_array(t.words)) as w),
  t.hash
from jsonb_to_recordset(%(copies)s) as u (user_id text, prefix text, source text)
join memory.texts as t on t.user_id = u.source
"""
COPY_THREADS = """
insert into memory.threads (user_id, thread_id, next_seq, message_count, active_tokens, first_at, last_at, settled_at)
select u.user_id, u.prefix || t.thread_id, t.next_seq, t.message_count, t.active_tokens, t.first_at, t.last_at,
  t.last_at
from jsonb_to_recordset(%(copies)s) as u (user_id text, prefix text, source text)
join memory.threads as t on t.user_id = u.source
"""
# Where the words of each thread are parsed up to: without these marks a search takes all messages for unparsed ones.
COPY_MARKS = """
insert into memory.marks (user_id, kind, scope, position)
select u.user_id, k.kind, u.prefix || k.scope, k.position
from jsonb_to_recordset(%(copies)s) as u (user_id text, prefix text, source text)
join memory.marks as k on k.user_id = u.source and k.kind = 'words'
"""


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description=main.__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000, help="messages of the large database (10 million)")
    parser.add_argument("--rounds", type=int, default=9, help="turns, each of ten calls of a kind (default 9)")
    options = parser.parse_args()
    with running_server("system", SETTINGS) as server:
        for name, messages in (("small", 20_000), ("large", options.messages)):
            _fill(server, name, messages)
        with (
            psycopg.connect(server.conninfo("small"), autocommit=True, prepare_threshold=0) as small,
            psycopg.connect(server.conninfo("large"), autocommit=True, prepare_threshold=0) as large,
        ):
            figures = _measure({"small": small, "large": large}, options.rounds)
            size = "select pg_total_relation_size('memory.messages') + pg_total_relation_size('memory.texts')"
            results = {**environment(large), "options": vars(options), "bytes": value(large, size)}
            _write({**results, "microseconds": figures})


def _text(chance: random.Random, words: int = 17) -> str:
    return " ".join(chance.choices(WORDS, FREQUENCIES, k=words))


def _thread(chance: random.Random) -> str:
    return f"t{chance.randrange(20)}"


def _of_big_user(messages: int) -> int:
    """Messages of the big user: a tenth of all, and 10,000 at least."""
    return max(messages // 10_000, 10) * 1000


def _fill(server: Server, name: str, messages: int) -> None:
    """Make a database: ten users write their messages by calls, and all others get copies of these."""
    say(f"Filling {name} with {messages:,} messages")
    with new_database(server, name) as connection:
        for user in range(10):
            chance = random.Random(user)
            for thread in range(20):
                said = [{"role": "user", "content": _text(chance)} for _ in range(50)]
                connection.execute(
                    "select memory.add_messages(%s, %s, %s)", [f"user {user}", f"t{thread}", Jsonb(said)]
                )
        while value(connection, "select (memory.sweep(10000) ->> 'checked')::int"):
            pass
        big = _of_big_user(messages) // 1000
        others = [(f"user {place}", "", f"user {place % 10}") for place in range(10, messages // 1000 - big)]
        own = [(BIG, f"{place}:", f"user {place % 10}") for place in range(big)]  # each copy has its own threads
        # Copies pass by the triggers, and the index of words is made at once afterwards.
        connection.execute("set session_replication_role = replica")
        [[keys]] = connection.execute("select pg_get_indexdef('memory.texts_keys_idx'::regclass)").fetchall()
        connection.execute("drop index memory.texts_keys_idx")
        copies = [dict(zip(("user_id", "prefix", "source"), row, strict=True)) for row in [*others, *own]]
        for first in range(0, len(copies), 200):
            values = {"copies": Jsonb(copies[first : first + 200])}
            connection.execute(COPY_THREADS, values)
            connection.execute(COPY_MARKS, values)
            connection.execute(COPY, values)
            connection.execute(COPY_TEXTS, values)
            if first % 2000 == 0:
                say(f"  {min(first + 200, len(copies)):,} of {len(copies):,} times 1,000 messages")
        connection.execute(keys.encode())
        connection.execute("vacuum analyze")


def _measure(connections: dict[str, psycopg.Connection[Any]], rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds of processor time of the server's process for a call, by call, kind of user and database."""
    measured: dict[str, dict[str, dict[str, float]]] = {}
    for name, (statement, arguments) in CALLS.items():
        for kind in ("one of many", BIG):
            taken: dict[str, list[float]] = {database: [] for database in connections}
            for turn in range(rounds + 1):
                for database, connection in connections.items():
                    chance = random.Random(turn)
                    spent = 0
                    stat = Path(f"/proc/{connection.info.backend_pid}/schedstat")
                    for _ in range(10):
                        user = BIG if kind == BIG else f"user {chance.randrange(10)}"
                        parameters = {"user": user, **arguments(chance)}
                        if kind == BIG and "thread" in parameters:
                            parameters["thread"] = f"{chance.randrange(10)}:{parameters['thread']}"
                        before = int(stat.read_text().split()[0])
                        connection.execute(statement.encode(), parameters).fetchall()
                        spent += int(stat.read_text().split()[0]) - before
                    if turn:  # the first one plans statements
                        taken[database].append(spent / 10_000)
            measured.setdefault(name, {})[kind] = {database: median(each) for database, each in taken.items()}
            say(f"{name}, {kind}: {measured[name][kind]}")
    return measured


def _write(results: dict[str, Any]) -> None:
    messages = results["options"]["messages"]
    big = _of_big_user(messages)
    rows = [
        [
            name,
            "1,000" if kind != BIG else f"10,000, then {big:,}",
            f"{each['small']:,.0f}",
            f"{each['large']:,.0f}",
            f"{each['large'] / each['small']:.2f}",
        ]
        for kind in ("one of many", BIG)
        for name, kinds in results["microseconds"].items()
        for each in [kinds[kind]]
    ]
    write(
        "large",
        results,
        f"# Calls beside {messages:,} messages\n\n{describe(results)}. Two databases: one with ten users of 1,000 "
        f"messages in 20 threads each and one user with 10,000, the other with users of 1,000 and one user with "
        f"{big:,}, {messages:,} in all, of 17 made-up words, all parsed, without embeddings; the larger table of "
        f"messages has {results['bytes'] / 1e9:.1f} GB with its indexes. Microseconds of processor time of the "
        f"server's process for a call, the median of {results['options']['rounds']} turns of ten calls in which the "
        f"databases took turns. `make bench-large` writes this page.\n\n"
        + table(["call", "of a user with", "20,000 messages in all", f"{messages:,} in all", "ratio"], rows),
    )


if __name__ == "__main__":
    main()
