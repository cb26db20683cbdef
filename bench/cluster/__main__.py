"""Measures what a node, a routing client and a proxy add to a call: ``python -m bench.cluster --help``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.cluster import nodes
from agent_memory.cluster.proxy import make_proxy
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bench.cluster.ways import BASES, CALLS, DATABASES, USERS, is_client, node_of, opened
from bench.support.callgrind import children, counted, counted_sessions, counting, stop
from bench.support.environment import describe, environment, new_database, say, write
from bench.support.markdown import table
from bench.support.texts import texts
from tests.support.servers import ROOT, Server, running_server

PLACES = ("single a", "single b", "a", "b", "proxy")
RUNS = {"get_messages": (40, 60), "search": (10, 20), "add_message": (40, 60)}
"""Calls of the two runs whose difference is counted. After the first 40 both sessions of a way have made their plans,
which is next to nothing of a search."""
Figures = dict[str, dict[str, dict[str, float]]]
"""Of a call and a way, what the servers and what the calling program took."""


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=main.__doc__)
    parser.add_argument("--turns", type=int, default=100, help="turns of processor time, 20 calls each (default 100)")
    options = parser.parse_args()
    with running_server("system", {"shared_buffers": "256MB"}) as server:
        dsn = _databases(server)
        with psycopg.connect(dsn["a"]) as connection:
            [[data]] = connection.execute("show data_directory").fetchall()
        stop(server, Path(data))
        instructions = _instructions(server, Path(data), dsn)
        server.restart()
        microseconds = _microseconds(Path(data), dsn, options.turns)
        with psycopg.connect(dsn["a"]) as connection:
            about = environment(connection)
    figures = {"turns": options.turns, "instructions": instructions, "microseconds": microseconds}
    write("cluster", {**about, **figures}, _page({**about, **figures}))


def _databases(server: Server) -> dict[str, str]:
    """Make two single servers, two nodes and a proxy, all databases of one server; each user has 200 messages.

    Each single server has the users of one node: as many sessions share the processor's caches, and as many rows are
    in the same tables.
    """
    for name in PLACES:
        with new_database(server, name):
            pass
    dsn = {name: server.conninfo(name) for name in PLACES}
    places = {}
    for name in "ab":
        known = conninfo_to_dict(dsn[name])
        places[name] = make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname")})
    nodes.begin(places, ["a", "b"] * 32, dsn["a"])
    with nodes.opened(dsn["a"]) as opened_nodes, psycopg.connect(dsn["proxy"], autocommit=True) as proxy:
        make_proxy(opened_nodes, proxy, server.user)
    with ExitStack() as stack:
        memories = {name: stack.enter_context(Memory(dsn[name])) for name in ("single a", "single b", "a")}
        for number, user in enumerate(USERS):
            said = [{"role": "user", "content": text} for text in texts(200, seed=number)]
            for name in (f"single {node_of(user)}", "a"):
                memories[name].add_messages(user, "t", said)
    for name in ("single a", "single b", "a", "b"):
        with psycopg.connect(dsn[name], autocommit=True) as connection:
            connection.execute("vacuum analyze")
    return dsn


def _instructions(server: Server, data: Path, dsn: dict[str, str]) -> Figures:
    """Instructions of a call, of all sessions of the servers and of the program of a client."""
    figures: Figures = {}
    for name in CALLS:
        figures[name] = {}
        for way in DATABASES:
            few, many = (_run(server, data, dsn, way, name, calls) for calls in RUNS[name])
            calls = RUNS[name][1] - RUNS[name][0]
            servers, program = ((more - less) / calls for less, more in zip(few, many, strict=True))
            figures[name][way] = {"servers": servers, "program": program}
            say(f"{name}, {way}: {servers:,.0f} instructions of servers, {program:,.0f} of the client")
    return figures


def _run(server: Server, data: Path, dsn: dict[str, str], way: str, name: str, calls: int) -> tuple[int, int]:
    """Instructions of the servers, and of a program that makes so many calls if it is a client."""
    with counted_sessions(server, data) as sessions:
        output = Path(server.host) / "program.callgrind"
        command = counting(output) if is_client(way) else []
        command += [sys.executable, "-m", "bench.cluster.ways", way, name, str(calls), json.dumps(dsn)]
        # The order of Python's sets would change the count from run to run.
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True, capture_output=True)
    return sum(sessions), counted(output) if is_client(way) else 0


def _microseconds(data: Path, dsn: dict[str, str], turns: int) -> Figures:
    """Microseconds of processor time for a call, of all sessions of the servers and of this process.

    The ways take short turns, so that other work on the machine slows all of them.
    """
    queries = texts(turns * len(USERS), seed=99)
    postmaster = int((data / "postmaster.pid").read_text().split()[0])
    figures: Figures = {}
    with ExitStack() as stack:
        calls = {way: opened(way, dsn, stack) for way in DATABASES}
        for name in CALLS:
            taken: dict[str, list[tuple[float, float]]] = {way: [] for way in DATABASES}
            for turn in range(-2, turns):
                for way in DATABASES:
                    servers, own = _sessions_ns(postmaster), time.process_time_ns()
                    for number, user in enumerate(USERS):
                        calls[way][name](user, queries[turn * len(USERS) + number])
                    spent = (_sessions_ns(postmaster) - servers, time.process_time_ns() - own)
                    if turn >= 0:  # the first ones plan statements
                        taken[way].append((spent[0] / 1000 / len(USERS), spent[1] / 1000 / len(USERS)))
            figures[name] = {
                way: {"servers": median(s for s, _ in each), "program": median(p for _, p in each)}
                for way, each in taken.items()
            }
            say(f"{name}: {figures[name]}")
    return figures


def _sessions_ns(postmaster: int) -> int:
    """Nanoseconds that all sessions of the server have run; those of the background do little meanwhile."""
    total = 0
    for pid in children(postmaster):
        with contextlib.suppress(FileNotFoundError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return total


def _page(results: dict[str, Any]) -> str:
    measured = (results["instructions"], 1000), (results["microseconds"], 1)
    rows = [
        [name, way, *(cell for figures, unit in measured for cell in _compared(figures[name], way, unit))]
        for name in CALLS
        for way in BASES
    ]
    units = ("thousand instructions", "µs of processor time")
    header = ["call", "way", *(cell for unit in units for cell in (f"{unit}, compared with", "this way", "ratio"))]
    return f"""# What a cluster adds to a call

{describe(results)}. `make bench-cluster` writes this page.

{table(header, rows)}

A node and a proxy are compared with the same call in SQL on a single server, and the sessions of the servers count: of
PL/Proxy the proxy's and the node's. The client of a cluster is compared with the client of a single server, and the
calling program counts as well.

Instructions are what callgrind counts in a run of many calls less one of few, each on a copy of the same data; two
counts differ by 0.1 %. What the kernel does is not in them: it carries a call from the proxy to the node and back. It
is in the processor time, the median of {results["turns"]} turns of {len(USERS)} calls of each way; it differs by a few
percent from run to run. Two single servers, each with the users of one node, two nodes and a proxy are databases of one
server.
"""


def _compared(figures: dict[str, dict[str, float]], way: str, unit: int) -> list[str]:
    """What the other way took, what this way took, and the ratio."""
    base, spent = (
        sum(took for part, took in figures[each].items() if part == "servers" or is_client(way))
        for each in (BASES[way], way)
    )
    return [f"{base / unit:,.0f}", f"{spent / unit:,.0f}", f"{spent / base:.2f}"]


if __name__ == "__main__":
    main()
