"""What the tests of searches by meaning do again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from agent_memory import Memory

WORDS = ("tea", "green", "black", "coffee")
LONG = 120.0
"""Seconds to catch up in tests of what is found, on a machine that has other work."""


def use(memory: Memory, name: str, folder: Path) -> None:
    memory.admin.register_model(name, "embedding", "local", name, {"model_dir": str(folder)})
    memory.admin.activate_model(name)


def found(memory: Memory, query: str, **arguments: Any) -> list[str]:
    return [result.content for result in memory.search("ana", query, **arguments)]


def jobs(db: psycopg.Connection) -> list[tuple[str, int]]:
    """Status and attempts of each embed job."""
    return db.execute("select status, attempts from memory.jobs where kind = 'embed' order by job_id").fetchall()
