"""The database that ``agent-memory mcp`` serves from, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg
from psycopg_pool import AsyncConnectionPool

from ..calls import async_prepare_nothing_behind_a_pooler
from ..client import AsyncMemory, Memory
from ..errors import AgentMemoryError, NotInstalledError, connecting
from ..schema import async_cursors_in, named_schema
from ..server.settings import POOL_SIZE

logger = logging.getLogger("agent_memory.mcp")

_PATIENCE = 3.0
"""Seconds that a request waits for a connection. A model waits with it, so it is told soon that there is none."""


@asynccontextmanager
async def opened(conninfo: str | None, pool_size: int = POOL_SIZE) -> AsyncIterator[AsyncMemory]:
    """Yield a client. A database that cannot be reached now may come back, so requests say that, and not this."""
    async with AsyncExitStack() as stack:
        if conninfo is None:
            memory = AsyncMemory(pool_size=pool_size)
        else:
            pool = AsyncConnectionPool(
                conninfo,
                min_size=1,
                max_size=pool_size,
                open=False,
                timeout=_PATIENCE,
                reconnect_timeout=1.0,  # later requests try anew, without a pool's pauses, which double up to minutes
                # Otherwise as many requests would fail after a restart of the database as the pool has connections.
                check=AsyncConnectionPool.check_connection,
                configure=async_prepare_nothing_behind_a_pooler,
                kwargs={
                    "autocommit": True,
                    "application_name": "agent-memory mcp",
                    "cursor_factory": async_cursors_in(named_schema()),
                },
            )
            memory = AsyncMemory(await stack.enter_async_context(pool))
        await stack.enter_async_context(memory)
        trying = asyncio.create_task(_try(memory))
        stack.push_async_callback(_ended, trying)
        yield memory


def check_installed(conninfo: str | None) -> None:
    """Refuse a database that has no agent_memory; one that is out of reach, or refuses the role, may come back."""
    if conninfo is None:
        return  # an embedded store installs it
    try:
        with connecting(conninfo):
            connection = psycopg.connect(conninfo, autocommit=True, connect_timeout=2)
        with connection:
            Memory(connection).version()
    except NotInstalledError:
        raise
    except (AgentMemoryError, psycopg.Error):
        pass  # the log says so when the server serves


async def _try(memory: AsyncMemory) -> None:
    """Call the database once, so that the log says at the start what is wrong, and an embedded store is started."""
    try:
        await memory.version()
    except (AgentMemoryError, psycopg.Error, OSError) as error:
        logger.error("%s", error)


async def _ended(trying: asyncio.Task[None]) -> None:
    """Let the first call end: psycopg warns of a query that is cancelled half way."""
    await asyncio.wait({trying}, timeout=_PATIENCE)
    trying.cancel()
