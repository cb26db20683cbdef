"""Measures what a node, a routing client and a proxy add to a call: ``python -m bench.cluster --help``."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.cluster import nodes
from agent_memory.cluster.proxy import make_proxy
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bench.support.environment import RESULTS, announce, describe, machine, pgvector, postgresql, say
from bench.support.markdown import table
from bench.support.texts import texts
from tests.support.servers import Server, install_agent_memory, running_server

USERS = [f"user {number}" for number in range(20)]
DATABASES = ("single a", "single b", "a", "b", "proxy")
CALLS = {
    "get_messages": "select * from memory.get_messages(%(user)s, 't', recent_k => 20)",
    "search": "select * from memory.search(%(user)s, %(text)s, mode => 'keyword', top_k => 10)",
    "add_message": "select * from memory.add_message(%(user)s, 't', 'user', %(text)s)",
}
"""Measured in this order: three ways write to the nodes and two to the single servers, and reads of nodes would then
have more messages to read."""
Call = Callable[[str, str], object]
"""Calls a function for a user, with a text."""
WAYS = {
    "a node": "SQL on a single server",
    "PL/Proxy": "SQL on a single server",
    "client of a cluster": "client of a single server",
}
"""What is measured, and what it is compared with."""


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=main.__doc__)
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind and turn (default 200)")
    parser.add_argument("--rounds", type=int, default=7, help="turns (default 7)")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running_server("system", {"shared_buffers": "256MB"}))
        dsn = _databases(server)
        single = stack.enter_context(psycopg.connect(dsn["single a"], autocommit=True, prepare_threshold=0))
        about = {
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "postgresql": postgresql(single),
            "pgvector": pgvector(single),
        }
        sql = {
            name: stack.enter_context(psycopg.connect(dsn[name], autocommit=True, prepare_threshold=0))
            for name in DATABASES
        }
        clients = {name: stack.enter_context(Memory(dsn[name], pool_size=1)) for name in ("single a", "single b", "a")}
        measured = _measure(sql, clients, options.calls, options.rounds)
    _write({**about, "load": round(os.getloadavg()[2], 1), "options": vars(options), "microseconds": measured})


def _databases(server: Server) -> dict[str, str]:
    """Make two single servers, two nodes and a proxy, all databases of one server; each user has 200 messages.

    Each single server answers for the users of one node, so that as many sessions share the processor's caches.
    """
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        for name in DATABASES:
            connection.execute(f'create database "{name}"'.encode())
            install_agent_memory(server, name)
    dsn = {name: server.conninfo(name) for name in DATABASES}
    places = {}
    for name in "ab":
        known = conninfo_to_dict(dsn[name])
        places[name] = make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname")})
    nodes.begin(places, ["a", "b"] * 32, dsn["a"])
    with nodes.opened(dsn["a"]) as opened, psycopg.connect(dsn["proxy"], autocommit=True) as proxy:
        make_proxy(opened, proxy, server.user)
    for name in ("single a", "single b", "a"):
        say(f"Loading {name}")
        with Memory(dsn[name]) as memory:
            for number, user in enumerate(USERS):
                said = [{"role": "user", "content": text} for text in texts(200, seed=number)]
                memory.add_messages(user, "t", said)
    for name in ("single a", "single b", "a", "b"):
        with psycopg.connect(dsn[name], autocommit=True) as connection:
            connection.execute("vacuum analyze")
    return dsn


def _measure(
    sql: dict[str, psycopg.Connection[Any]], clients: dict[str, Memory], calls: int, rounds: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds of processor time for a call, of the servers and of this process, by call and way."""
    known = nodes.read_map(sql["a"])
    assert known is not None
    queries = texts(calls, seed=99)
    postmaster = int(sql["single a"].execute("select pg_backend_pid()").fetchone()[0])  # type: ignore[index]
    children = Path(f"/proc/{_parent(postmaster)}/task/{_parent(postmaster)}/children")
    measured: dict[str, dict[str, dict[str, float]]] = {}
    for name in CALLS:
        ways = {
            "SQL on a single server": _in_sql(name, lambda user: sql[f"single {known.node_of(user)}"]),
            "a node": _in_sql(name, lambda user: sql[known.node_of(user)]),
            "PL/Proxy": _in_sql(name, lambda _: sql["proxy"]),
            "client of a single server": _by_client(name, lambda user: clients[f"single {known.node_of(user)}"]),
            "client of a cluster": _by_client(name, lambda _: clients["a"]),
        }
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for turn in range(rounds + 1):
            for way, call in ways.items():
                servers, own = _servers_ns(children), time.process_time_ns()
                for number, text in enumerate(queries):
                    call(USERS[number % len(USERS)], text)
                spent = (_servers_ns(children) - servers, time.process_time_ns() - own)
                if turn:  # the first one plans statements
                    taken[way].append((spent[0] / 1000 / calls, spent[1] / 1000 / calls))
        measured[name] = {
            way: {"servers": median(s for s, _ in each), "program": median(p for _, p in each)}
            for way, each in taken.items()
        }
        say(f"{name}: {measured[name]}")
    return measured


def _in_sql(name: str, connection_of: Callable[[str], psycopg.Connection[Any]]) -> Call:
    def call(user: str, text: str) -> None:
        connection_of(user).execute(CALLS[name].encode(), {"user": user, "text": text}).fetchall()

    return call


def _by_client(name: str, client_of: Callable[[str], Memory]) -> Call:
    calls: dict[str, Callable[[str, str], object]] = {
        "add_message": lambda user, text: client_of(user).add_message(user, "t", "user", text),
        "get_messages": lambda user, _: client_of(user).get_messages(user, "t", recent_k=20),
        "search": lambda user, text: client_of(user).search(user, text, mode="keyword", top_k=10),
    }
    return calls[name]


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _servers_ns(children: Path) -> int:
    """Nanoseconds that all sessions of the server have run; those of the background do little meanwhile."""
    total = 0
    for pid in children.read_text().split():
        with contextlib.suppress(FileNotFoundError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return total


def _write(results: dict[str, Any], folder: Path = RESULTS) -> None:
    rows = []
    for name, ways in results["microseconds"].items():
        for way, other in WAYS.items():
            spent, base = sum(ways[way].values()), sum(ways[other].values())
            rows.append([name, way, f"{base:,.0f}", f"{spent:,.0f}", f"{spent / base:.2f}"])
    text = (
        "# What a cluster adds to a call\n\n"
        f"{describe(results)}. Microseconds of processor time for a call, of all sessions of the servers and of the"
        f" calling program together, median of {results['options']['rounds']} turns of {results['options']['calls']}"
        " calls. Two single servers, each with the users of one node, two nodes and a proxy are databases of one"
        " server. `make bench-cluster` writes this"
        " page."
        f" Load average {results['load']}.\n\n"
        + table(["call", "way", "compared with", "this way", "ratio"], rows)
        + "\n\nA node and a proxy are compared with the same call in SQL on a single server, the client of a cluster"
        " with a client of a single server.\n"
    )
    written = [folder / "cluster.md", folder / f"{results['date']}-cluster.json"]
    written[0].write_text(text)
    written[1].write_text(json.dumps(results, indent=2) + "\n")
    announce(written)


if __name__ == "__main__":
    main()
