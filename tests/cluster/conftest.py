"""Databases that are nodes of a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.cluster.databases import Databases, Proxied
from tests.conftest import BUILT_IN_POLICY, DATABASE_NAMES, Database
from tests.support.sqlapi import Api

PARTITIONS = 8
NODES = {"a": {"dsn": "host=a", "number": 1}, "b": {"dsn": "host=b", "number": 2}}


def set_map(
    api: Api,
    node: str,
    version: int,
    partitions: str,
    moving: list[Any] | None = None,
    nodes: Any = None,
    users: Any = None,
) -> None:
    """Write a map; ``partitions`` has one letter, the name of a node, for each partition."""
    with api.connection.transaction():
        api.connection.execute(
            "select memory._set_cluster_map(%s, %s, %s, %s, %s, %s)",
            [node, version, list(partitions), Jsonb(nodes or NODES), Jsonb(users or {}), list(map(str, moving or []))],
        )


def partition_of(api: Api, user_id: str) -> int:
    place: int = api.value(
        "select memory.partition_of(%(user_id)s, %(partitions)s)", user_id=user_id, partitions=PARTITIONS
    )
    return place


def map_with(api: Api, users_of_a: list[str], users_of_b: list[str]) -> str:
    """Return the partitions of a map that gives some users to node a and others to node b."""
    places = {partition_of(api, user_id): "a" for user_id in users_of_a}
    others = {partition_of(api, user_id): "b" for user_id in users_of_b}
    assert not places.keys() & others.keys(), "choose other users"
    return "".join((places | others).get(place, "a") for place in range(PARTITIONS))


@pytest.fixture
def databases(request: pytest.FixtureRequest, _database: Database, _template: str) -> Iterator[Databases]:
    with contextlib.ExitStack() as stack:

        class Made(dict[str, str]):
            """Databases by name, each made when it is first named."""

            def __missing__(self, name: str) -> str:
                dsn = self[name] = stack.enter_context(_database(next(DATABASE_NAMES), _template))
                if request.node.get_closest_marker("compares_words"):
                    with psycopg.connect(dsn, autocommit=True) as connection:
                        connection.execute(BUILT_IN_POLICY)
                return dsn

        yield Databases(Made(), stack)


@pytest.fixture
def proxied(_database: Database, _template: str) -> Iterator[Proxied]:
    with contextlib.ExitStack() as stack:
        dsns = [stack.enter_context(_database(next(DATABASE_NAMES), _template)) for _ in range(3)]
        with psycopg.connect(dsns[0]) as connection:
            if not connection.execute("select from pg_available_extensions where name = 'plproxy'").fetchall():
                pytest.skip("the server has no PL/Proxy")
        yield Proxied(dict(zip("abc", dsns, strict=True)), stack)
