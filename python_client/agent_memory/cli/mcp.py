"""The command that serves MCP."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Annotated, Any

import typer
from rich.text import Text

from .._extras import check_extra
from ..errors import DegradedWarning, InvalidValueError
from ..server.settings import HOST, RATE_LIMIT, Settings, keys_of_environment
from .console import Dsn, export_telemetry, log_to_stderr
from .printing import console, stderr

_PORT = 3002


def _log_warning(message: Warning | str, *_: object, **__: object) -> None:
    logging.getLogger("agent_memory.mcp").warning("%s", message)


def mcp(
    dsn: Dsn = None,
    user: Annotated[
        str | None,
        typer.Option(help="The id of the user; over HTTP, without one, the user of each request's token."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(help="The agent that writes, and whose memories are searched; all agents unless given."),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="List this tool as well, such as memory_files; repeatable."),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option(help="With --http: the address to listen on.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --http: the port; 0 takes a free one.")] = _PORT,
    rate_limit: Annotated[
        int, typer.Option(min=0, help="With --http: requests a minute of one user's tokens; 0 for any number.")
    ] = RATE_LIMIT,
) -> None:
    """Serve a user's memory to an MCP host, such as Claude or an editor, which starts this command itself.

    With --http, the environment says who may call: AGENT_MEMORY_API_KEY is the administrator's key;
    AGENT_MEMORY_JWT_SECRET (HS256) or AGENT_MEMORY_JWKS_URL check tokens whose sub is the user. With none of them,
    a token is printed, which programs of this machine send as the bearer token.
    """
    check_extra("mcp", "MCP")
    log_to_stderr("%(asctime)s %(levelname)s %(message)s", logging.WARNING)
    # Results tell models what searches lack; the log tells the operator what helps, each cause once.
    warnings.simplefilter("always", DegradedWarning)
    warnings.showwarning = _log_warning
    export_telemetry()
    if user is not None and not user.strip():
        raise InvalidValueError("--user: must not be empty", hint="Name the user whose memory is served.")
    if not http:
        if user is None:
            raise InvalidValueError("--user: is missing", hint="Run: agent-memory mcp --user NAME")
        if sys.stdin.isatty():
            stderr.print(
                "An MCP host starts this command, and speaks the protocol with it. Ctrl-D ends it.", soft_wrap=True
            )
        from ..mcp.stdio import serve_stdio

        serve_stdio(dsn, user, agent, tool or ())
        return
    keys: dict[str, Any] = keys_of_environment()
    settings = Settings(**keys, host=host, port=port, rate_limit=rate_limit or None)

    def announce(url: str) -> None:
        who = (
            f"for who sends: Authorization: Bearer {settings.token}"
            if settings.is_keyless
            else "callers need a key or a token"
        )
        console.print(Text(f"Listening on {url} ({who})"), soft_wrap=True)

    from ..mcp.http import serve_http

    serve_http(dsn, user, agent, settings, announce, tool or ())
