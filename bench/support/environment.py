"""Functions that the benchmarks share: the folder of results, the machine they ran on, and reports of progress."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import psycopg

from tests.support.servers import ROOT

RESULTS = ROOT / "bench" / "results"
SHARED = ROOT.parent / "shared"
LOCOMO = SHARED / "data" / "locomo" / "locomo10.json"


def say(text: str) -> None:
    """Prints a line at once, also into a pipe."""
    print(text, flush=True)


def machine() -> dict[str, Any]:
    """Cores, memory and system."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def postgresql(connection: psycopg.Connection) -> str:
    """The server's version, as in 16.4."""
    version = connection.info.server_version
    return f"{version // 10_000}.{version % 10_000}"


def pgvector(connection: psycopg.Connection) -> str:
    """The version of the extension vector."""
    row = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return str(row and row[0])


def describe(results: dict[str, Any]) -> str:
    """The environment of a run as the start of a sentence."""
    where = results["machine"]
    return (
        f"{results['date']}, PostgreSQL {results['postgresql']}, pgvector {results['pgvector']}, "
        f"{where['cores']} cores, {where['memory_gb']} GB, {where['system']}"
    )


def announce(paths: list[Path]) -> None:
    """Names the files written."""
    for path in paths:
        say(f"wrote {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
