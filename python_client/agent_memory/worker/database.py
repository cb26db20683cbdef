"""The connections of a worker."""

from __future__ import annotations

import logging
from typing import Any

import psycopg

from ..calls import async_prepare_nothing_behind_a_pooler

logger = logging.getLogger("agent_memory.worker")

CONNECT_TIMEOUT = 5.0
"""Seconds that one attempt to connect may take; short, so that ``Worker.stop()`` need not wait for it."""
LOCK_TIMEOUT = 2000
"""Milliseconds that a hand-in waits for rows which a transaction of the application holds. Then it is repeated, and
other jobs have the connection in between."""


async def prepare(connection: psycopg.AsyncConnection[Any]) -> None:
    """Prepare a connection of the worker's pool: how long it waits for locks, and what the server says to it."""
    await async_prepare_nothing_behind_a_pooler(connection)
    await connection.execute(f"set lock_timeout = {LOCK_TIMEOUT}")
    if logger.isEnabledFor(logging.DEBUG):
        await connection.execute("set client_min_messages = debug1")
