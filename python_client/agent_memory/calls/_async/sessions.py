"""What the session of a call is set up with: nothing prepared behind a pooler, and settings of its transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, AsyncCursor


async def async_prepare_nothing_behind_a_pooler(connection: AsyncConnection[Any]) -> None:
    """Have a new connection in autocommit mode prepare no statements if a pooler stands between it and the server.

    A pooler in transaction mode that does not know prepared statements, as PgBouncer before 1.21, hands each
    transaction to any of its sessions. All clients number their statements from 0, so a session may have another
    client's statement under the number that this client executes. A pooler gives the process id of no session, because
    it keeps the key that cancels for itself.
    """
    cursor = await connection.execute("select pg_catalog.pg_backend_pid()", prepare=False)
    [backend_pid] = await cursor.fetchone() or [None]
    if backend_pid != connection.info.backend_pid:
        connection.prepare_threshold = None


async def async_set_locally(connection: AsyncConnection[Any], setting: str, value: str) -> None:
    """Set a setting until the transaction of the connection ends."""
    await AsyncCursor(connection).execute("select set_config(%s, %s, true)", [setting, value])


@asynccontextmanager
async def async_carrying(
    connection: AsyncConnection[Any], traceparent: str | None, *, is_alone: bool = False
) -> AsyncIterator[None]:
    """Have the jobs that the statements inside make due carry a trace, as W3C Trace Context writes it, if there is one.

    What follows in the transaction, unless the statements are alone, may be another user's and has a trace of its own.
    """
    if traceparent is not None:
        await async_set_locally(connection, "agent_memory.traceparent", traceparent)
    yield
    if traceparent is not None and not is_alone:
        await async_set_locally(connection, "agent_memory.traceparent", "")
