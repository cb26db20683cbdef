"""A server over stdio that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.steps import Host, over_stdio, stdio_server
from tests.support.sqlapi import Api


@pytest.fixture(scope="module")
def ana(shared_api: Api) -> Iterator[Host]:
    """A host whose server works for ana."""
    with over_stdio(stdio_server(shared_api.connection.info.dsn, "--user", "ana")) as host:
        yield host
