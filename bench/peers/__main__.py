"""Measures this project beside others, each through its own client: ``python -m bench.peers --help``."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

import psycopg
from psycopg import sql

from bench.peers import report
from bench.peers.clients import Client, System, rate, running_clients
from bench.peers.data import BIG, queries, texts
from bench.peers.embedder import embedding
from bench.support.environment import DURABLE, environment, say, write
from tests.support.servers import ROOT, Server, install_agent_memory, running_server

CLIENTS = (1, 4)
STORES = (
    System("agent_memory", "AgentMemory", None, "ours"),
    System("mem0, HNSW", "Mem0", "mem0", "mem0"),
    System("mem0, exact", "ExactMem0", "mem0", "mem0_exact", copied_from="mem0"),
    System("LangGraph, HNSW", "LangGraph", "langgraph", "langgraph"),
    System("LangGraph, exact", "ExactLangGraph", "langgraph", "langgraph_exact", copied_from="langgraph"),
)
QUEUES = (
    System("agent_memory", "AgentMemoryJobs", None, "our_jobs"),
    System("procrastinate", "Procrastinate", "procrastinate", "procrastinate"),
    System("pgqueuer", "PgQueuer", "pgqueuer", "pgqueuer"),
    System("pgqueuer, one by one", "PgQueuerOneByOne", "pgqueuer", "pgqueuer"),
)
SAVERS = (
    System("agent_memory", "AgentMemoryCheckpoints", None, "our_checkpoints"),
    System("PostgresSaver", "LangGraphCheckpoints", "langgraph", "langgraph_checkpoints"),
)
KINDS = {"memories": STORES, "queues": QUEUES, "checkpoints": SAVERS}
"""The systems that are compared, by the name of their part of the page."""
_PACKAGES = ("mem0ai", "langgraph", "langgraph-checkpoint-postgres", "procrastinate", "pgqueuer")


def main() -> None:
    """Runs the benchmark, and writes its results to bench/results unless only a part is asked for."""
    options = _options()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running_server("system", {**DURABLE, "shared_buffers": "512MB"}))
        url = stack.enter_context(_running_embedder())
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rates: dict[str, dict[str, dict[str, list[float]]]] = {}
        recall: dict[str, dict[str, float]] = {}
        try:
            for systems, operations in options.wanted:
                with _filled(server, url, systems, logs) as clients:
                    rates |= {each: _measure(clients, each, options.rounds, options.seconds) for each in operations}
                    if systems is STORES:
                        recall = {name: _recall(of[0].ask("found")) for name, of in clients.items()}
        except RuntimeError:
            for log in logs.iterdir():
                say("\n".join(log.read_text().splitlines()[-20:]))
            raise
        with psycopg.connect(server.conninfo(options.wanted[0][0][0].database)) as connection:
            about = environment(connection)
    results = {
        **about,
        "packages": _versions(),
        "options": {"seconds": options.seconds, "rounds": options.rounds, "clients": list(CLIENTS)},
        "systems": {kind: [each.name for each in systems] for kind, systems in KINDS.items()},
        "rates": rates,
        "recall": recall,
    }
    if not options.only:
        write("peers", results, report.markdown(results))
    say("\n" + report.tables(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=main.__doc__)
    parser.add_argument("--seconds", type=float, default=0.8, help="length of one turn of a system (default 0.8)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each system (default 3)")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only operations whose names contain one of these")
    options = parser.parse_args()
    wanted = []
    for kind, systems in KINDS.items():
        operations = report.OPERATIONS[kind]
        chosen = [each for each in operations if not options.only or any(word in each for word in options.only)]
        if chosen:
            wanted.append((systems, chosen))
    if not wanted:
        names = [each for operations in report.OPERATIONS.values() for each in operations]
        parser.error("no operation has such a name; they are: " + ", ".join(names))
    for system in (each for systems, _ in wanted for each in systems):
        if not Path(system.python).exists():
            parser.error(f"there is no {system.python}: run make bench-peers")
    options.wanted = wanted
    return options


@contextlib.contextmanager
def _running_embedder() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.peers.embedder", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


@contextlib.contextmanager
def _filled(server: Server, url: str, systems: Sequence[System], logs: Path) -> Iterator[dict[str, Sequence[Client]]]:
    """Fill the database of each system, and start its clients."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection, contextlib.ExitStack() as stack:
        made: set[str] = set()
        for system in systems:
            started = time.monotonic()
            dsn, names = server.conninfo(system.database), [sql.Identifier(system.database)]
            if system.copied_from:
                names.append(sql.Identifier(system.copied_from))
                connection.execute(sql.SQL("create database {} template {}").format(*names))
                _without_index(dsn)
            elif system.database not in made:
                connection.execute(sql.SQL("create database {}").format(*names))
                if system.environment is None:
                    install_agent_memory(server, system.database)
                with running_clients(system, dsn, url, 1, logs) as [client]:
                    _fill(client, dsn)
            made.add(system.database)
            say(f"{system.name}: filled in {time.monotonic() - started:.0f} s")
        connection.execute("checkpoint")
        yield {
            system.name: stack.enter_context(
                running_clients(system, server.conninfo(system.database), url, max(CLIENTS), logs)
            )
            for system in systems
        }


def _fill(client: Client, dsn: str) -> None:
    """Fill a database, and make its index of nearest neighbours anew afterwards: that takes a tenth of the time."""
    client.ask("prepare")
    indexes = _without_index(dsn)
    client.ask("fill")
    with psycopg.connect(dsn, autocommit=True) as filled:
        for definition in indexes:
            filled.execute(definition)
        filled.execute("vacuum analyze")


def _without_index(dsn: str) -> list[bytes]:
    """Drop the index of nearest neighbours of a peer's database, and return the statement that makes it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        indexes = connection.execute(
            "select schemaname, indexname, indexdef from pg_indexes"
            " where schemaname = 'public' and indexdef like '% USING hnsw %'"
        ).fetchall()
        for schema, index, _ in indexes:
            connection.execute(sql.SQL("drop index {}").format(sql.Identifier(schema, index)))
    return [definition.encode() for _, _, definition in indexes]


def _measure(
    clients: Mapping[str, Sequence[Client]], operation: str, rounds: int, seconds: float
) -> dict[str, dict[str, list[float]]]:
    """The rates of an operation by number of clients and system; the systems take turns."""
    measured: dict[str, dict[str, list[float]]] = {}
    for count in CLIENTS:
        by_system: dict[str, list[float]] = {name: [] for name in clients}
        for number in range(rounds + 1):
            if number == 0 and operation in ("bulk", "delete"):
                continue  # they are too dear for a turn that does not count
            for name, of in clients.items():
                for client in of[:count]:
                    client.ask("warm", operation)
                value = rate(of[:count], operation, seconds if number else seconds / 3)
                if number:
                    by_system[name].append(round(value, 2))
        say(f"{operation}, {count}: " + ", ".join(f"{name} {values[-1]:,.1f}/s" for name, values in by_system.items()))
        measured[str(count)] = by_system
    return measured


def _recall(found: Sequence[Sequence[str]]) -> dict[str, float]:
    """How much of the nearest ten was found, by user: on average over the queries."""
    import numpy

    shares: dict[str, list[float]] = {}
    stored = {user: texts(user) for user, _ in queries()}
    matrix = {user: numpy.stack([embedding(text) for text in of]) for user, of in stored.items()}
    for (user, query), got in zip(queries(), found, strict=True):
        nearest = numpy.argsort(-(matrix[user] @ embedding(query)))[:10]
        shares.setdefault(user, []).append(len({stored[user][index] for index in nearest} & set(got)) / 10)
    return {"big" if user == BIG else "small": round(mean(of), 3) for user, of in shares.items()}


def _versions() -> dict[str, str]:
    """The versions of the compared packages, as their requirements pin them."""
    files = (ROOT / "bench/peers/requirements").glob("*.txt")
    pinned = dict(line.split("==") for file in files for line in file.read_text().splitlines())
    return {name: pinned[name] for name in _PACKAGES}


if __name__ == "__main__":
    main()
