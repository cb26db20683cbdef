"""What the benchmarks share: databases, what is said of the machine, and the files of results."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from tests.support.servers import ROOT, Server, install_agent_memory

RESULTS = ROOT / "bench" / "results"
SHARED = ROOT.parent / "shared"
LOCOMO = SHARED / "data" / "locomo" / "locomo10.json"

# The defaults of a durable server, which the servers of the tests do not have. No checkpoint starts in the middle of a
# measurement.
DURABLE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
}


def say(text: str) -> None:
    """Prints a line at once, also into a pipe."""
    print(text, flush=True)


@contextlib.contextmanager
def new_database(server: Server, name: str) -> Iterator[psycopg.Connection]:
    """A session of a new database with the schema."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    install_agent_memory(server, name)
    with psycopg.connect(server.conninfo(name), autocommit=True) as connection:
        yield connection


def value(connection: psycopg.Connection, query: str, *arguments: object) -> int:
    """The whole number that a query returns."""
    row = connection.execute(query.encode(), arguments or None).fetchone()
    return int(row[0]) if row else 0


def machine() -> dict[str, Any]:
    """Cores, memory and system."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def environment(connection: psycopg.Connection) -> dict[str, Any]:
    """When and where a run was; asked for at its end, it says how busy the machine was meanwhile."""
    version = connection.info.server_version
    row = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "postgresql": f"{version // 10_000}.{version % 10_000}",
        "pgvector": row and row[0],
        "load": round(os.getloadavg()[2], 1),
    }


def describe(results: dict[str, Any]) -> str:
    """The environment of a run as the start of a sentence."""
    where = results["machine"]
    return (
        f"{results['date']}, PostgreSQL {results['postgresql']}, pgvector {results['pgvector']}, "
        f"{where['cores']} cores, {where['memory_gb']} GB, {where['system']}, load average {results['load']}"
    )


def write(name: str, results: dict[str, Any], page: str, page_name: str | None = None) -> None:
    """Writes the figures as ``<date>-<name>.json`` and the page as ``<page_name or name>.md``."""
    paths = RESULTS / f"{results['date']}-{name}.json", RESULTS / f"{page_name or name}.md"
    for path, text in zip(paths, (json.dumps(results, indent=1, ensure_ascii=False), page), strict=True):
        path.write_text(text.rstrip("\n") + "\n")
        say(f"wrote {path.relative_to(ROOT)}")
