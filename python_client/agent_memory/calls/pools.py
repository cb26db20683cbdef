"""The pool that a client opens for itself."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from psycopg_pool import AsyncConnectionPool, ConnectionPool

_POLL_INTERVAL = 0.01


class _Lent:
    """Lends a connection of a pool, as ``connection()`` of psycopg's pools does, and writes no statistics of the time.

    In autocommit mode nothing is left to commit or to roll back when a call has ended. To lend a connection took 38,000
    in place of 54,000 instructions, of 363,000 that a client takes to load a checkpoint (2026-11).
    """

    __slots__ = ("_connection", "_pool", "_timeout")

    def __init__(self, pool: SyncPool | AsyncPool, timeout: float | None) -> None:
        self._pool: Any = pool
        self._timeout = timeout

    def __enter__(self) -> Any:
        self._connection = self._pool.getconn(self._timeout)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if not self._connection.autocommit:
                self._connection.__exit__(kind, error, traceback)
        finally:
            self._pool.putconn(self._connection)

    async def __aenter__(self) -> Any:
        self._connection = await self._pool.getconn(self._timeout)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if not self._connection.autocommit:
                await self._connection.__aexit__(kind, error, traceback)
        finally:
            await self._pool.putconn(self._connection)


class SyncPool(ConnectionPool[Any]):
    """A pool that lends the connection that came back last.

    Its server process has all it needs in the processor's caches. By turns, as psycopg lends them, calls took up to
    twice the server's CPU as soon as a pool had four connections (2026-11).
    """

    def connection(self, timeout: float | None = None) -> Any:
        """Lend a connection within ``with``."""
        return _Lent(self, timeout)

    def _get_ready_connection(self, timeout: float | None) -> Any:
        self._pool.rotate(1)
        return super()._get_ready_connection(timeout)


class AsyncPool(AsyncConnectionPool[Any]):
    """A pool that lends the connection that came back last, and does not keep its event loop from ending.

    ``asyncio.run`` cancels each task once and waits for the end of all. A worker of psycopg's pool that is connecting
    takes the cancellation for a failed attempt and waits for its next task, for ever: 5 of 32 programs of one call
    never ended (2026-11, psycopg-pool 3.3.3).
    """

    _ender: asyncio.Task[None] | None = None

    def connection(self, timeout: float | None = None) -> Any:
        """Lend a connection within ``async with``."""
        return _Lent(self, timeout)

    async def _get_ready_connection(self, timeout: float | None) -> Any:
        self._pool.rotate(1)
        return await super()._get_ready_connection(timeout)

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
