"""The MCP server, ``agent-memory mcp``: the tools of ``agent_memory.tools``, threads and artifacts, and a prompt.

Nothing here is imported before a server is asked for; the packages are those of the extra ``mcp``.

- run.py: opens the database and serves, over stdio or HTTP. server.py: what is served.
- resources.py: threads and artifacts as resources. prompts.py: the prompt. errors.py: what a client is told of errors.
"""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import AgentMemoryError

__all__ = ["check_packages"]


def check_packages() -> None:
    """Check that the extra ``mcp`` is installed.

    Raises:
        AgentMemoryError: the package is missing, or older than version 2, which brought mcp_types.
    """
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise AgentMemoryError(
            "agent-memory mcp needs the package mcp, version 2.3 or newer",
            hint="Run: pip install 'pg-agent-memory[mcp]'",
        )
