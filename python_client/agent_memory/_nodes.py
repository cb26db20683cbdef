"""Blocking connections to the nodes of a cluster, for commands and imports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg

from .calls import prepare_nothing_behind_a_pooler
from .calls.nodes import NO_MAP, ClusterMap, named
from .errors import NotConnectedError, connecting
from .schema import cursors_in, named_schema


class NodeConnections:
    """Connections in autocommit mode: to a named database, and where that is a node, to the others when needed.

    Attributes:
        first: the connection to the named database.
        map: the map of the cluster; None for a single server.
    """

    def __init__(self, conninfo: str, stack: ExitStack, application_name: str, schema: str) -> None:
        self._conninfo = conninfo
        self._schema = schema
        self._stack = stack
        self._application_name = application_name
        self.first = self._connected(conninfo)
        self.map = _map_of(self.first)
        self._opened = {} if self.map is None else {self.map.node: self.first}
        self._is_compared = False

    def of(self, user_id: str) -> psycopg.Connection[Any]:
        """Return the connection to the node of a user."""
        if self.map is None:
            return self.first
        if not self._is_compared:  # the first node may have been restored from a backup
            maps = [_map_of(connection) for connection in self.all({})]
            self.map = max((found for found in maps if found is not None), key=lambda found: found.version)
            self._is_compared = True
        return self._node(self.map, self.map.node_of(user_id))

    def all(self, missing: dict[str, NotConnectedError] | None = None) -> Iterator[psycopg.Connection[Any]]:
        """Yield the connections to all nodes."""
        if self.map is None:
            yield self.first
            return
        for name in self.map.nodes:
            try:
                connection = self._node(self.map, name)
            except NotConnectedError as error:  # noqa: PERF203  # the other nodes are reached all the same
                if missing is None:
                    raise
                missing[name] = error
            else:
                yield connection

    def _node(self, cluster: ClusterMap, name: str) -> psycopg.Connection[Any]:
        if name not in self._opened:
            with named(name):
                self._opened[name] = self._connected(cluster.address(name, self._conninfo))
        return self._opened[name]

    def _connected(self, conninfo: str) -> psycopg.Connection[Any]:
        with connecting(conninfo):
            opened = psycopg.connect(
                conninfo,
                autocommit=True,
                application_name=self._application_name,
                cursor_factory=cursors_in(self._schema),
            )
        connection = self._stack.enter_context(opened)
        prepare_nothing_behind_a_pooler(connection)
        return connection


@contextmanager
def node_connections(
    conninfo: str, application_name: str = "agent-memory", schema: str | None = None
) -> Iterator[NodeConnections]:
    """Yield connections to the nodes of the cluster that a database belongs to, or to a single server."""
    with ExitStack() as stack:
        yield NodeConnections(conninfo, stack, application_name, named_schema(schema))


def _map_of(connection: psycopg.Connection[Any]) -> ClusterMap | None:
    try:
        row = connection.execute("select memory._cluster_map()").fetchone()
    except NO_MAP:
        return None
    return None if row is None or row[0] is None else ClusterMap(**row[0])
