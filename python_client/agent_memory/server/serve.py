"""Opens the database, listens, and stops in an orderly way."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any

import uvloop
from psycopg_pool import AsyncConnectionPool

from ..calls import async_prepare_nothing_behind_a_pooler
from ..client import AsyncMemory
from ..embedded import open_store
from ..errors import DegradedWarning
from ..page.routes import routes as page_routes
from ..schema import async_cursors_in, named_schema
from ..source import named_database
from .application import create_app
from .catalog import read_catalog
from .listening import listening_socket, serve_app, url_of
from .settings import Settings
from .tokens import Tokens, warn_of_short_secret


def serve(
    dsn: str | None,
    settings: Settings,
    announce: Callable[[str], None],
    *,
    may_edit: bool = False,
    with_mcp: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT; requests under way get ``settings.grace`` seconds to end.

    Args:
        dsn: the connection string; without one the database of the environment, else the embedded store of this user.
        settings: the keys and limits.
        announce: is told where the server listens, as soon as it does.
        may_edit: whether the page may change something.
        with_mcp: whether MCP is served as well; its packages are those of the extra ``mcp``.

    Raises:
        InvalidValueError: the settings do not fit together.
        AgentMemoryError: the database cannot be used.
        OSError: the address cannot be listened on.
    """
    settings.check()
    with ExitStack() as stack:
        # First, so that a port that is taken is told before an embedded store is started.
        listening = stack.enter_context(listening_socket(settings))
        named = named_database(dsn)
        conninfo: Callable[[], str] = partial(str, named)
        if named is None:
            conninfo = stack.enter_context(open_store(worker=True)).ensure_running
        catalog = read_catalog(conninfo(), named_schema())
        warnings.simplefilter("ignore", DegradedWarning)  # answers have a header that says so
        warn_of_short_secret(settings)

        async def run() -> None:
            announced = settings
            async with AsyncExitStack() as opened:
                pool = await opened.enter_async_context(_pool(conninfo, settings, is_embedded=named is None))
                memory = await opened.enter_async_context(AsyncMemory(pool))
                routes = page_routes(memory, Tokens(settings).is_key, is_keyless=settings.is_keyless, may_edit=may_edit)
                if with_mcp:
                    from ..mcp.http import announcing, mounted

                    announced = announcing(settings, url_of(listening))
                    routes += await opened.enter_async_context(mounted(memory, named, announced))
                app = create_app(memory, catalog, announced, routes)
                await serve_app(app, listening, settings, announce)

        uvloop.run(run())


def _pool(conninfo: Callable[[], str], settings: Settings, *, is_embedded: bool) -> AsyncConnectionPool[Any]:
    async def running() -> str:
        return await asyncio.to_thread(conninfo)

    return AsyncConnectionPool(
        running if is_embedded else conninfo(),
        min_size=min(2, settings.pool_size),
        max_size=settings.pool_size,
        open=False,
        reconnect_timeout=10.0,  # later requests try anew, without a pool's pauses, which double up to minutes
        # An embedded server that was killed is started again; that a named one is gone the client finds out by itself.
        check=AsyncConnectionPool.check_connection if is_embedded else None,
        configure=async_prepare_nothing_behind_a_pooler,
        kwargs={
            "autocommit": True,
            "application_name": "agent-memory serve",
            "cursor_factory": async_cursors_in(named_schema()),
        },
    )
