"""The command that serves MCP."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Annotated

import typer

from .._extras import check_extra
from ..errors import DegradedWarning, InvalidValueError
from .console import Dsn, export_telemetry, log_to_stderr
from .printing import stderr


def _log_warning(message: Warning | str, *_: object, **__: object) -> None:
    logging.getLogger("agent_memory.mcp").warning("%s", message)


def mcp(
    dsn: Dsn = None,
    user: Annotated[str | None, typer.Option(help="The id of the user.")] = None,
    agent: Annotated[
        str | None,
        typer.Option(help="The agent that writes, and whose memories are searched; all agents unless given."),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="List this tool as well, such as memory_files; repeatable."),
    ] = None,
) -> None:
    """Serve a user's memory to an MCP host, such as Claude or an editor, which starts this command itself.

    Over HTTP "agent-memory serve" has MCP at /mcp.
    """
    check_extra("mcp", "MCP")
    from ..mcp.stdio import serve_stdio

    log_to_stderr("%(asctime)s %(levelname)s %(message)s", logging.WARNING)
    # Results tell models what searches lack; the log tells the operator what helps, each cause once.
    warnings.simplefilter("always", DegradedWarning)
    warnings.showwarning = _log_warning
    export_telemetry()
    if user is None or not user.strip():
        raise InvalidValueError("--user: is missing", hint="Run: agent-memory mcp --user NAME")
    if sys.stdin.isatty():
        stderr.print("An MCP host starts this command and speaks the protocol with it. Ctrl-D ends it.", soft_wrap=True)
    serve_stdio(dsn, user, agent, tool or ())
