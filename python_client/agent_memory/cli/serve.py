"""The command that serves HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

import typer
from rich.text import Text

from .._extras import check_extra, has_extra
from ..server.settings import (
    GRACE,
    HOST,
    MAX_BODY_MIB,
    MCP_PATH,
    MIB,
    POOL_SIZE,
    PORT,
    RATE_LIMIT,
    Settings,
    keys_of_environment,
)
from .console import Dsn, export_telemetry, log_to_stderr
from .printing import console


def serve(
    dsn: Dsn = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    pool_size: Annotated[int, typer.Option(min=1, help="Connections to the database.")] = POOL_SIZE,
    max_body: Annotated[int, typer.Option(min=0, help="MiB of a request; 0 for any number.")] = MAX_BODY_MIB,
    rate_limit: Annotated[
        int, typer.Option(min=0, help="Requests a minute of one user's tokens; 0 for any number.")
    ] = RATE_LIMIT,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that requests under way get to end after SIGTERM.")
    ] = GRACE,
    edit: Annotated[bool, typer.Option("--edit", help="Let the page at / change memories and jobs.")] = False,
    mcp: Annotated[
        bool | None,
        typer.Option(help="Serve MCP at /mcp.", show_default="where its packages are installed"),
    ] = None,
) -> None:
    """Serve HTTP until SIGTERM or SIGINT; /openapi.json describes the endpoints.

    The environment says who may call: AGENT_MEMORY_API_KEY is the administrator's key; AGENT_MEMORY_JWT_SECRET
    (HS256) or AGENT_MEMORY_JWKS_URL check tokens whose sub is the user. With none of them, an address with a token is
    printed: a browser on this machine opens it, programs on this machine send the token as the bearer token.
    """
    settings = Settings(
        **keys_of_environment(),
        host=host,
        port=port,
        pool_size=pool_size,
        max_body=max_body * MIB or None,
        rate_limit=rate_limit or None,
        grace=grace,
    )
    if mcp:
        check_extra("mcp", "MCP")
    with_mcp = has_extra("mcp") if mcp is None else mcp

    def announce(url: str) -> None:
        say_where(url, settings)
        if with_mcp:
            console.print(Text(f"MCP is at {url}{MCP_PATH}."), soft_wrap=True)

    listen(dsn, settings, announce, may_edit=edit, with_mcp=with_mcp)


def listen(
    dsn: str | None,
    settings: Settings,
    announce: Callable[[str], None],
    *,
    may_edit: bool = False,
    with_mcp: bool = False,
) -> None:
    """Serve until a signal, after a check of the packages that this needs."""
    check_extra("server", "the HTTP server")
    from ..server.serve import serve as run

    log_to_stderr("%(asctime)s %(levelname)s %(message)s")
    export_telemetry()
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)  # what the client says of each call, callers read in its answer
    run(dsn, settings, announce, may_edit=may_edit, with_mcp=with_mcp)


def say_where(url: str, settings: Settings) -> None:
    """Print where a server listens, and for whom."""
    who = "for everybody who has this address; programs send its token as the bearer token"
    said = f"({who})." if settings.is_keyless else "(callers need a key or a token)."
    console.print(Text(f"Listening on {settings.entry(url)} {said}"), soft_wrap=True)
