"""How many jobs are left in the queue, for people who watch a worker."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import psycopg
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from .._text import counted

logger = logging.getLogger("agent_memory.worker")

LOOK_TIMEOUT = 1000
"""Milliseconds that a look may take, since it counts all jobs that are kept."""

_STATS = """
select coalesce(sum(jobs) filter (where status = 'pending'), 0)::int as pending,
  coalesce(sum(jobs) filter (where status = 'dead'), 0)::int as dead,
  min(next_run_after) filter (where status = 'pending') as next_run_after
from memory.queue_stats where kind = any (%(kinds)s) or %(kinds)s is null
"""


@dataclass(frozen=True)
class QueueStats:
    """The jobs of all users: how many wait, until when the first of these waits, and how many are given up."""

    pending: int
    dead: int
    next_run_after: datetime | None


class QueueLook:
    """Looks into the queue, where the worker's role may do that; the worker itself does not need it."""

    def __init__(self, kinds: Sequence[str] | None) -> None:
        self.stats: QueueStats | None = None
        self._kinds = None if kinds is None else list(kinds)
        self._may_look = True

    async def look(self, pool: AsyncConnectionPool[Any]) -> None:
        """Set ``stats``; None where the role may not see the queue, or the look failed or took too long."""
        self.stats = None
        if not self._may_look:
            return
        try:
            async with pool.connection(timeout=LOOK_TIMEOUT / 1000) as connection, connection.transaction():
                await connection.execute(f"set local statement_timeout = {LOOK_TIMEOUT}")
                cursor = connection.cursor(row_factory=class_row(QueueStats))
                self.stats = await (await cursor.execute(_STATS, {"kinds": self._kinds})).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            self._may_look = False
        except psycopg.Error as error:
            logger.debug("cannot look at the queue: %s", error)

    def lines(self) -> list[str]:
        """Return lines that say how many jobs are left; no lines if the worker may not see the queue."""
        lines = []
        if self.stats is not None and self.stats.pending:
            waits = counted(self.stats.pending, "job waits", "jobs wait")
            first = self.stats.next_run_after
            if first is not None and first > datetime.now(timezone.utc):
                waits += f", the first until {first.astimezone():%Y-%m-%d %H:%M:%S}"
            lines.append(f"{waits}.")
        if self.stats is not None and self.stats.dead:
            dead = counted(self.stats.dead, "job is dead", "jobs are dead")
            lines.append(f"{dead}: see memory.dead_jobs and memory.retry_job().")
        return lines
