"""The connections of a worker."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool

from ..calls import AsyncCaller, Function, async_prepare_nothing_behind_a_pooler
from ..errors import LeaseLostError, WrongNodeError

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


class NodeCaller(AsyncCaller):
    """Calls the database of a worker; for a user who has moved since a job was claimed, the node that has the job."""

    def __init__(self, pool: AsyncConnectionPool[Any], cluster: AsyncCaller | None) -> None:
        super().__init__(pool)
        self._cluster = cluster

    async def call(self, function: Function[Any], given: Mapping[str, Any]) -> Any:
        """Call a function."""
        try:
            return await super().call(function, given)
        except WrongNodeError as error:
            if self._cluster is None:
                raise LeaseLostError(error.message, hint=error.hint) from error
            return await self._cluster.call(function, given)
