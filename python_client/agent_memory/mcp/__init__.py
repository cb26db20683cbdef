"""The MCP server, ``agent-memory mcp``: the tools of ``agent_memory.tools``, threads and artifacts, and a prompt.

Nothing here is imported before a server is asked for; the packages are those of the extra ``mcp``.

- run.py: opens the database and serves, over stdio or HTTP. server.py: what is served.
- resources.py: threads and artifacts as resources. prompts.py: the prompt. errors.py: what a client is told of errors.
"""

from __future__ import annotations

from importlib.util import find_spec

from .._text import pip_install
from ..errors import AgentMemoryError

__all__ = ["check_packages", "has_packages"]


def has_packages() -> bool:
    """Tell whether the extra ``mcp`` is installed, in version 2 or newer, which brought mcp_types."""
    return find_spec("mcp") is not None and find_spec("mcp_types") is not None


def check_packages() -> None:
    """Check that the extra ``mcp`` is installed.

    Raises:
        AgentMemoryError: the package is missing or too old.
    """
    if not has_packages():
        raise AgentMemoryError(
            "MCP needs the package mcp, version 2.3 or newer",
            hint=f"Run: {pip_install('mcp')}",
        )
