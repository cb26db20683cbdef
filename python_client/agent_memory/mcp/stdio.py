"""Serves MCP over stdio, to the program that starts ``agent-memory mcp``."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence

from mcp.server.stdio import stdio_server

from .. import _hooks
from ..client import AsyncMemory
from ..source import named_database
from .database import check_installed, opened
from .errors import Errors
from .server import create_server


def serve_stdio(dsn: str | None, user_id: str, agent_id: str | None, also: Sequence[str] = ()) -> None:
    """Serve the program that started this one, until it closes stdin, or SIGTERM or SIGINT comes.

    Args:
        dsn: the connection string; without one the database of the environment, else the embedded store of this user.
        user_id: the user of all requests.
        agent_id: the agent that what is stored belongs to; None for the default one.
        also: tools that are listed besides the usual ones.

    Raises:
        NotInstalledError: the database has no agent_memory.
        AgentMemoryError: the embedded store cannot be used.
    """
    conninfo = named_database(dsn)
    check_installed(conninfo)

    async def run() -> None:
        async with opened(conninfo) as memory:
            _end_on_signals(memory)
            errors = Errors(conninfo, to_operator=True)
            server = create_server(memory, lambda _: user_id, errors, agent_id=agent_id, also=also)
            async with stdio_server() as (requests, answers):
                await server.run(requests, answers, server.create_initialization_options())

    asyncio.run(run())


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
