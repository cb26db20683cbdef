"""Settings that the statements of a call find in their transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, AsyncCursor


async def async_set_locally(connection: AsyncConnection[Any], setting: str, value: str) -> None:
    """Set a setting until the transaction of the connection ends."""
    await AsyncCursor(connection).execute("select set_config(%s, %s, true)", [setting, value])


@asynccontextmanager
async def async_carrying(
    connection: AsyncConnection[Any], traceparent: str | None, *, is_alone: bool = False
) -> AsyncIterator[None]:
    """Have the jobs that the statements inside make due carry a trace, unless there is none.

    What follows in the transaction may be another user's, and has a trace of its own.

    Args:
        connection: it is in a transaction.
        traceparent: the trace, as W3C Trace Context writes it.
        is_alone: whether nothing follows.
    """
    if traceparent is not None:
        await async_set_locally(connection, "agent_memory.traceparent", traceparent)
    yield
    if traceparent is not None and not is_alone:
        await async_set_locally(connection, "agent_memory.traceparent", "")
