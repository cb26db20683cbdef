"""Fixtures of the tests of the in-database runner."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.server.steps import may_run
from tests.support.fake_model_server import FakeModelServer
from tests.support.servers import Server
from tests.support.sqlapi import Api


@pytest.fixture
def api(server: Server, db: psycopg.Connection) -> Api:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    api = Api(db)
    may_run(api, 10)
    return api


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server
