"""The pool that a client opens for itself, and whether a connection of a pool has ended."""

from __future__ import annotations

import asyncio
import select
from typing import Any

from psycopg_pool import AsyncConnectionPool, ConnectionPool

_POLL_INTERVAL = 0.01


SyncPool = ConnectionPool[Any]
"""The pool of a client that blocks."""


class AsyncPool(AsyncConnectionPool[Any]):
    """A pool that does not keep its event loop from ending.

    ``asyncio.run`` cancels each task once and waits for the end of all. A worker of psycopg's pool that is connecting
    takes the cancellation for a failed attempt and waits for its next task, for ever: 5 of 32 programs of one call
    never ended (2026-11, psycopg-pool 3.3.3).
    """

    _ender: asyncio.Task[None] | None = None

    async def open(self, wait: bool = False, timeout: float = 30.0) -> None:
        """Open the pool, as psycopg does."""
        await super().open(wait, timeout)
        if self._ender is None:
            self._ender = asyncio.create_task(self._end_workers(), name=f"end of {self.name}")

    async def close(self, timeout: float = 5.0) -> None:
        """Close the pool, as psycopg does."""
        await super().close(timeout)
        if self._ender is not None and not self._ender.done():
            self._ender.cancel()
            await asyncio.wait([self._ender])

    async def _end_workers(self) -> None:
        """Wait for the end of the event loop, then cancel the pool's tasks until all have ended."""
        try:
            await asyncio.Event().wait()
        finally:
            while tasks := [task for task in asyncio.all_tasks() if task.get_name().startswith(f"{self.name}-")]:
                for task in tasks:
                    task.cancel()
                await asyncio.sleep(_POLL_INTERVAL)


def has_ended(connection: Any) -> bool:
    """Whether a connection that nobody uses has ended, found out without a round trip.

    A server says nothing on such a connection, except that it ends the session. The rare other word, such as a setting
    that an administrator has changed, costs a look by the pool.
    """
    if connection.closed:
        return True
    if not hasattr(select, "poll"):  # on Windows
        return bool(select.select([connection.fileno()], [], [], 0)[0])
    polled = select.poll()
    polled.register(connection.fileno(), select.POLLIN)
    return bool(polled.poll(0))
