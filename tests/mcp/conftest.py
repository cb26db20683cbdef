"""A server over stdio, and one over HTTP, that the tests of a module share; the tests have users of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.http.steps import KEY, SECRET
from tests.mcp.steps import Host, McpServing, over_stdio, stdio_server
from tests.support.sqlapi import Api


@pytest.fixture(scope="module")
def ana(shared_api: Api) -> Iterator[Host]:
    """A host whose server works for ana."""
    with over_stdio(stdio_server(shared_api.connection.info.dsn, "--user", "ana")) as host:
        yield host


@pytest.fixture(scope="module")
def served(shared_api: Api) -> Iterator[McpServing]:
    """A server that knows the key of the administrator and the secret of tokens."""
    serving = McpServing(shared_api.connection.info.dsn, AGENT_MEMORY_API_KEY=KEY, AGENT_MEMORY_JWT_SECRET=SECRET)
    with serving:
        yield serving


@pytest.fixture
def newcomer() -> str:
    """The id of a user who has nothing yet."""
    return f"user-{uuid.uuid4()}"
