"""Fixtures of the tests of search among very many messages."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.conftest import Database
from tests.search.messages.steps import ABOVE, fill
from tests.support.search_world import register
from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With an embedding model, and searches that choose among more than so many messages."""
    with rolled_back(shared_api) as api:
        choosing(api)
        yield api


def choosing(api: Api) -> None:
    register(api, "many", dimensions=64)
    api.activate_model(name="many")
    api.set_policy(settings={"search": {"preselect_above": ABOVE}})


@pytest.fixture(scope="module")
def _full(_database: Database, _template: str) -> Iterator[Api]:
    """A database of its own, because filling takes half a second."""
    with (
        _database("many_messages", _template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        api = Api(connection)
        choosing(api)
        fill(api, "ana", threads=8, messages=200)
        fill(api, "bob", threads=1, messages=200)
        yield api


@pytest.fixture
def full(_full: Api) -> Iterator[Api]:
    """Ana has 1,600 messages in eight threads, and bob has 200; all are parsed and embedded."""
    with rolled_back(_full) as api:
        yield api
