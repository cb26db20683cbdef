"""Notifications that wake a worker between two polls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import psycopg

logger = logging.getLogger("agent_memory.worker")

CHANNEL = "agent_memory_jobs"
"""The channel for ``notify``, for an application that does not want to wait for the next poll."""
LISTEN_PAUSE = 5.0
"""Seconds between the loss of the connection that listens and the next attempt."""


async def listen(conninfo: str, wake: Callable[[], None]) -> None:
    """Call ``wake`` at each notification until cancelled; polling goes on while the connection is lost."""
    while True:
        await _hear(conninfo, wake)
        await asyncio.sleep(LISTEN_PAUSE)


async def _hear(conninfo: str, wake: Callable[[], None]) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, application_name="agent-memory worker"
        ) as connection:
            await connection.execute(f"listen {CHANNEL}")
            wake()  # a notification may have come while nobody listened
            async for _ in connection.notifies():
                wake()
    except psycopg.Error as error:
        logger.warning("cannot listen, next attempt in %g s: %s", LISTEN_PAUSE, error)
