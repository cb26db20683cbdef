"""The ways that calls take, for this process and as a program that only makes calls."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.calls.nodes import partition_of

from bench.support.texts import texts

USERS = [f"user {number}" for number in range(20)]
CALLS = {
    "get_messages": "select * from memory.get_messages(%(user)s, 't', recent_k => 20)",
    "search": "select * from memory.search(%(user)s, %(text)s, mode => 'keyword', top_k => 10)",
    "add_message": "select * from memory.add_message(%(user)s, 't', 'user', %(text)s)",
}
"""Measured in this order: three ways write to the nodes and two to the single servers, and reads of nodes would then
have more messages to read."""
BASES = {
    "a node": "SQL on a single server",
    "PL/Proxy": "SQL on a single server",
    "client of a cluster": "client of a single server",
}
"""What is measured, and what it is compared with."""
DATABASES: dict[str, Callable[[str], str]] = {
    "SQL on a single server": lambda node: f"single {node}",
    "a node": lambda node: node,
    "PL/Proxy": lambda _: "proxy",
    "client of a single server": lambda node: f"single {node}",
    "client of a cluster": lambda _: "a",
}
"""The database that each way calls for a user of a node."""
Call = Callable[[str, str], object]
"""Calls a function for a user, with a text."""


def node_of(user_id: str) -> str:
    """The node of a user: every second partition belongs to node a."""
    return "ab"[partition_of(user_id, 2)]


def is_client(way: str) -> bool:
    """Whether the calling program belongs to what is measured."""
    return way.startswith("client")


def opened(way: str, dsn: Mapping[str, str], stack: ExitStack) -> dict[str, Call]:
    """Open the connections of a way, and return its calls by name."""
    database_of = {user: DATABASES[way](node_of(user)) for user in USERS}
    databases = sorted(set(database_of.values()))
    if is_client(way):
        memories = {name: stack.enter_context(Memory(dsn[name], pool_size=1)) for name in databases}
        memory_of = {user: memories[name] for user, name in database_of.items()}
        return {
            "add_message": lambda user, text: memory_of[user].add_message(user, "t", "user", text),
            "get_messages": lambda user, _: memory_of[user].get_messages(user, "t", recent_k=20),
            "search": lambda user, text: memory_of[user].search(user, text, mode="keyword", top_k=10),
        }
    connections = {
        name: stack.enter_context(psycopg.connect(dsn[name], autocommit=True, prepare_threshold=0))
        for name in databases
    }
    connection_of = {user: connections[name] for user, name in database_of.items()}

    def in_sql(query: bytes) -> Call:
        return lambda user, text: connection_of[user].execute(query, {"user": user, "text": text}).fetchall()

    return {name: in_sql(query.encode()) for name, query in CALLS.items()}


def main(way: str, name: str, calls: int, dsn: dict[str, str]) -> None:
    """Make so many calls."""
    with ExitStack() as stack:
        call: Any = opened(way, dsn, stack)[name]
        for number, text in enumerate(texts(calls, seed=99)):
            call(USERS[number % len(USERS)], text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]))
