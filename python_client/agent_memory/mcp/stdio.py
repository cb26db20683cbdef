"""Serves MCP over stdio, to the program that starts ``agent-memory mcp``."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg
from mcp.server.stdio import stdio_server
from psycopg_pool import AsyncConnectionPool

from .. import _hooks
from ..calls import async_prepare_nothing_behind_a_pooler
from ..client import AsyncMemory, Memory
from ..errors import AgentMemoryError, NotInstalledError, connecting
from ..schema import async_cursors_in, named_schema
from ..source import named_database
from .errors import Errors
from .server import create_server

logger = logging.getLogger("agent_memory.mcp")

_PATIENCE = 3.0
"""Seconds that a request waits for a connection. A model waits with it, so it is told soon that there is none."""


def serve_stdio(dsn: str | None, user_id: str, agent_id: str | None, also: Sequence[str] = ()) -> None:
    """Serve the program that started this one, until it closes stdin, or SIGTERM or SIGINT comes."""
    conninfo = named_database(dsn)
    _check_installed(conninfo)

    async def run() -> None:
        async with _opened(conninfo) as memory:
            _end_on_signals(memory)
            errors = Errors(conninfo, to_operator=True)
            server = create_server(memory, lambda _: user_id, errors, agent_id=agent_id, also=also)
            async with stdio_server() as (requests, answers):
                await server.run(requests, answers, server.create_initialization_options())

    asyncio.run(run())


@asynccontextmanager
async def _opened(conninfo: str | None) -> AsyncIterator[AsyncMemory]:
    """Yield a client. A database that cannot be reached now may come back, so requests say that, and not this."""
    async with AsyncExitStack() as stack:
        if conninfo is None:
            memory = AsyncMemory()
        else:
            pool = AsyncConnectionPool(
                conninfo,
                min_size=1,
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


def _check_installed(conninfo: str | None) -> None:
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


def _end_on_signals(memory: AsyncMemory) -> None:
    """Close the client and end the process on SIGTERM and SIGINT.

    A cancelled task would wait for the thread that reads stdin, and that for the next line.
    """
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    async def end() -> None:
        try:
            await memory.close()
            if _hooks.flush is not None:
                await asyncio.to_thread(_hooks.flush)
        finally:
            os._exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: ending.append(loop.create_task(end())))
