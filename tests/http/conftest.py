"""A server that the tests of a module share; each of them has users of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import httpx
import pytest

from tests.http.steps import Serving, token, with_keys
from tests.support.sqlapi import Api


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest, shared_api: Api) -> Iterator[Serving]:
    """A server with keys, on the database of the module; it serves MCP where the module has WITH_MCP."""
    with_mcp = getattr(request.module, "WITH_MCP", False)
    with with_keys(shared_api.connection.info.dsn, with_mcp=with_mcp) as serving:
        yield serving


@pytest.fixture
def admin(served: Serving) -> Iterator[httpx.Client]:
    """A client with the administrator's key."""
    with served.client() as client:
        yield client


@pytest.fixture
def ana(served: Serving) -> Iterator[httpx.Client]:
    """A client with a token of the user ana."""
    with served.client(token("ana")) as client:
        yield client


@pytest.fixture
def newcomer(served: Serving) -> Iterator[httpx.Client]:
    """A client with a token of a user who has nothing yet."""
    with served.client(token(f"user-{uuid.uuid4()}")) as client:
        yield client
