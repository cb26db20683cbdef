# Generated from _async/maps.py by generate_sync.py; do not edit.
"""The map of a cluster as a client knows it, and the callers of its nodes."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Cursor
from psycopg.rows import scalar_row
from psycopg_pool import ConnectionPool

from ...errors import RetryableError
from ...schema import in_schema
from ..nodes import NO_MAP, ClusterMap
from ..notices import Notices
from .reach import SyncNodeCaller

AWAY = (psycopg.OperationalError, RetryableError)
"""Errors that concern one node, and not the others."""


class SyncMapCaller(SyncNodeCaller):
    """A caller that reads the map of its database, and knows the other nodes by it: each has a caller of its own."""

    _is_map_read = False

    def __init__(self, source: ConnectionPool[Any] | str, **options: Any) -> None:
        super().__init__(source, **options)
        self._others: dict[str, SyncMapCaller] = {}
        self._reading = threading.Lock()

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from."""
        super().begin_anew()
        self._reading = threading.Lock()

    def close(self) -> None:
        """Close the client's own pools."""
        for other in self._others.values():
            other.close()
        super().close()

    def pool_figure(self, name: str) -> int:
        """Return a figure of the pools over all nodes."""
        return sum((other.pool_figure(name) for other in self._others.values()), super().pool_figure(name))

    def _node(self, cluster: ClusterMap, node: str, user_id: str | None = None) -> SyncMapCaller:
        """Return the caller of a node.

        Raises:
            RetryableError: the node has an older map, because it was restored from a backup, or is about to get the
                newest one, and does not serve the user by it. Or another node has its address.
        """
        if node == cluster.node:
            return self
        other = self._others.get(node)
        if other is None:
            made = self._like_this(cluster, node)
            with self._reading:
                other = self._others.setdefault(node, made)
            if other is not made:
                made.close()
        # Without a lock: whoever calls a node that is down would hold up the calls of all others.
        found = other._map
        if found is None or found.version < cluster.version:
            found = other._map = other._read_map()
            if found is not None and found.node == node:
                self._adopt(found)
        if found is None or found.node != node:
            raise RetryableError(
                "is not there" if found is None else f'is node "{found.node}"',
                hint="Compare the addresses of the map: agent-memory cluster doctor",
            )
        if found.version < cluster.version and user_id is not None and found.node_of(user_id) != node:
            raise RetryableError(
                f"has version {found.version} of the cluster's map, and the newest is {cluster.version}",
                hint="Try again. If that does not help: agent-memory cluster doctor",
            )
        return other

    def _adopt(self, found: ClusterMap | None) -> ClusterMap | None:
        """Use a map from now on if it is newer than the known one; return the one that counts.

        A tenant's map names its own user only, so that the users of two maps of the same version are put together.
        """
        known = self._map
        if found is not None and (known is None or found.version > known.version):
            self._map = replace(found, node=found.node if known is None else known.node)
        elif found is not None and known is not None and found.version == known.version:
            self._map = replace(known, users={**known.users, **found.users})
        return self._map

    def _like_this(self, cluster: ClusterMap, node: str) -> SyncMapCaller:
        """Make a caller for another node, with the settings of this one."""
        return type(self)(
            cluster.address(node, self.place()),
            pool_size=self._pool_size,
            token=self._token,
            prepare=self._prepares,
            like=self._like if self._owns_pool else self._pool,
            schema=self.schema,
        )

    def _known_map(self) -> ClusterMap | None:
        if not self._is_map_read:  # first calls that come at the same time connect once, and fail together
            self._map = own = self._read_map()
            # The database may have been restored from a backup: what users do has to go where the others say. Each of
            # them is asked, because one that was out of reach may have an old map, too.
            if own is not None:
                for node in own.nodes:
                    with suppress(*AWAY):
                        self._node(own, node)
            self._is_map_read = True
        return self._map

    def _read_map(self) -> ClusterMap | None:
        """Return the map that the database has; None for a single server."""
        try:
            with self.borrowed(Notices(self.warned)) as connection:
                cursor = Cursor(connection, row_factory=scalar_row)
                self._execute(cursor, in_schema(b"select memory._cluster_map()", self.schema), {})
                row = cursor.fetchone()
        except NO_MAP:
            return None
        return None if row is None else ClusterMap(**row)

    def _newer_map(self, cluster: ClusterMap | None, user_id: str) -> ClusterMap | None:
        """Read the map of the node that has refused a user, and return it if it is newer than the one that was used."""
        node = None if cluster is None else cluster.node_of(user_id)
        refusing = self if node is None or cluster is None or node == cluster.node else self._others[node]
        found = refusing._read_map()
        is_known = (
            cluster is not None
            and found is not None
            and (
                found.version < cluster.version
                or (found.version == cluster.version and found.node_of(user_id) == cluster.node_of(user_id))
            )
        )
        return None if found is None or is_known else self._adopt(found)

    def _fresh_map(self, cluster: ClusterMap) -> ClusterMap:
        """Read the map anew: what concerns all nodes is refused by none, so a node that has come would be left out.

        Any node has it; where none can be reached, the known one counts.
        """
        for node in sorted(cluster.nodes, key=lambda name: name != cluster.node):
            with suppress(*AWAY):
                caller = self if node == cluster.node else self._node(cluster, node)
                return self._adopt(caller._read_map()) or cluster
        return cluster
