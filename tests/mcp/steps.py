"""A host of MCP: the official client, whose calls block, on a server of its own process or on a URL."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.http.steps import Serving

COMMAND = [sys.executable, "-m", "agent_memory.cli", "mcp"]


class Host:
    """A connected client."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Return what a method of the client returns."""

        async def asked() -> Any:
            return await getattr(self._client, method)(*arguments, **named)

        return self._portal.call(asked)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that succeeds, and return its typed result, which the client has checked by its schema."""
        answer = self.ask("call_tool", tool, arguments)
        assert not answer.is_error, answer.content[0].text
        result: dict[str, Any] = answer.structured_content
        assert json.loads(answer.content[0].text) == result
        return result

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses, and return what the model reads."""
        answer = self.ask("call_tool", tool, arguments)
        assert answer.is_error, answer
        text: str = answer.content[0].text
        return text

    def error(self, method: str, *arguments: Any, **named: Any) -> MCPError:
        """Return the error of the protocol that a method of the client raises."""
        try:
            answer = self.ask(method, *arguments, **named)
        except MCPError as error:
            return error
        raise AssertionError(f"there was no error, but {answer}")

    def read(self, uri: str) -> list[Any]:
        """Return the contents of a resource."""
        contents: list[Any] = self.ask("read_resource", uri).contents
        return contents

    def resources(self) -> list[Any]:
        """Return all resources, from all pages."""
        found: list[Any] = []
        cursor = None
        while True:
            page = self.ask("list_resources", cursor=cursor)
            found += page.resources
            cursor = page.next_cursor
            if cursor is None:
                return found


def stdio_server(dsn: str | None, *options: str, **environment: str) -> StdioServerParameters:
    """The command with its options, as hosts start it; a DSN of None leaves the embedded store of the environment."""
    passed = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")} | ({} if dsn is None else {"AGENT_MEMORY_DSN": dsn})
    return StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *options], env=passed | environment)


@contextmanager
def over_stdio(server: StdioServerParameters, *, mode: str = "auto", log: TextIO = sys.stderr) -> Iterator[Host]:
    """A host that starts a server."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server, errlog=log), mode=mode)) as client,
    ):
        yield Host(portal, client)


@contextmanager
def over_http(url: str, token: str | None = None, *, mode: str = "auto") -> Iterator[Host]:
    """A host that is connected to a server by its URL, with a bearer token if there is one."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with start_blocking_portal() as portal:

        async def make_client() -> httpx2.AsyncClient:
            return httpx2.AsyncClient(headers=headers, timeout=180)

        with (
            portal.wrap_async_context_manager(portal.call(make_client)) as http_client,
            portal.wrap_async_context_manager(
                Client(streamable_http_client(url, http_client=http_client), mode=mode)
            ) as client,
        ):
            yield Host(portal, client)


class McpServing(Serving):
    """``agent-memory mcp --http`` on a free port of loopback, until the end of ``with``."""

    def __init__(self, dsn: str | None, *options: str, **environment: str) -> None:
        super().__init__(dsn, with_mcp=True, **environment)
        self._command = [*COMMAND, "--http", "--port", "0", *options]
