# Generated from _async/routed.py by generate_sync.py; do not edit.
"""Calls of a cluster: each goes to the node of its user, and those that concern all users to all nodes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Cursor
from psycopg.conninfo import make_conninfo
from psycopg.rows import scalar_row
from psycopg_pool import ConnectionPool

from ...errors import RetryableError, WrongNodeError
from ..function import Function
from ..nodes import PLACE, ClusterMap, asked_of_each, is_for_all, merger_of, named
from ..notices import Notices
from ..pools import SyncPool
from .caller import SyncCaller

_NO_MAP = (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName, psycopg.errors.InsufficientPrivilege)
"""What a database answers that has no agent_memory, one of an earlier version, or a role that may not call it."""


def _without_place(parameters: Any) -> Any:
    """Return the parameters of a pool's connections without those that say where its database is."""
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: value for name, value in parameters.items() if name not in PLACE}


class SyncRoutedCaller(SyncCaller):
    """A client's pool that knows the other nodes where its database is a node of a cluster.

    The map is read before the first call. A node that refuses a user (AM003) may know a newer map: that is read, and
    the call is made once more. Where the database is a single server, calls go there.

    Args:
        source: a psycopg pool or a connection string.
        pool_size, token, prepare: as in AsyncCaller.
        like: an application's pool, whose settings the client's own has.
    """

    _map: ClusterMap | None = None
    _is_map_read = False

    def __init__(
        self,
        source: ConnectionPool[Any] | str,
        *,
        pool_size: int = 10,
        token: str | Callable[[], str] | None = None,
        prepare: bool | None = None,
        like: ConnectionPool[Any] | None = None,
    ) -> None:
        self._like = like
        super().__init__(source, pool_size=pool_size, token=token, prepare=prepare)
        self._others: dict[str, SyncRoutedCaller] = {}
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

    def call(self, function: Function, given: Mapping[str, Any]) -> Any:
        """Call a function on the node or the nodes that it concerns."""
        cluster = self._known_map()
        try:
            if cluster is None:
                return super().call(function, given)
            return self._call_routed(cluster, function, given)
        except WrongNodeError:
            user_id = given.get("user_id")
            newer = None if user_id is None else self._newer_map(cluster, user_id)
            if newer is None:
                raise
            return self._call_routed(newer, function, given)

    def call_procedure(self, function: Function, given: Mapping[str, Any]) -> None:
        """Call a procedure that commits, on one node after the other."""
        cluster = self._known_map()
        if cluster is None:
            super().call_procedure(function, given)
            return
        cluster = self._fresh_map(cluster)
        for node in cluster.nodes:
            with named(node):
                SyncCaller.call_procedure(self._node(cluster, node), function, given)

    def of(self, user_id: str, *, is_fresh: bool = False) -> SyncCaller:
        """Return the caller for statements about a user, by a map that is read anew if ``is_fresh`` says so."""
        cluster = self._known_map()
        if is_fresh and cluster is not None:
            cluster = self._fresh_map(cluster)
        return self if cluster is None else self._node(cluster, cluster.node_of(user_id), user_id)

    def _call_routed(self, cluster: ClusterMap, function: Function, given: Mapping[str, Any]) -> Any:
        if is_for_all(function.name, given):
            return self._change_all(self._fresh_map(cluster), function, given)
        user_id = given.get("user_id")
        if isinstance(user_id, str):
            node = cluster.node_of(user_id)
            with named(node):
                return SyncCaller.call(self._node(cluster, node, user_id), function, given)
        merge = merger_of(function.name, given)
        if merge is None:
            return super().call(function, given)
        cluster = self._fresh_map(cluster)
        answers = {}
        for node in cluster.nodes:
            with named(node):
                answers[node] = SyncCaller.call(
                    self._node(cluster, node), function, asked_of_each(function.name, given)
                )
        return merge(answers)

    def _change_all(self, cluster: ClusterMap, function: Function, given: Mapping[str, Any]) -> Any:
        """Change all nodes, or none: each in a transaction, and these are committed when all have succeeded."""
        if function.name == "bind_role":
            # Nodes that are databases of one server would wait for each other: a role is a member there once for all.
            for node in cluster.nodes:
                with named(node):
                    SyncCaller.call(self._node(cluster, node), function, given)
            return None
        results = []
        callers = {}
        for node in cluster.nodes:  # before a transaction takes the only connection of a pool
            with named(node):
                callers[node] = self._node(cluster, node)
        with ExitStack() as transactions:
            for node, caller in callers.items():
                with named(node):
                    bound = transactions.enter_context(caller.in_a_transaction("read committed"))
                    results.append(bound.call(function, given))
        return results[0]

    def _node(self, cluster: ClusterMap, node: str, user_id: str | None = None) -> SyncCaller:
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

    def _new_pool(self) -> ConnectionPool[Any]:
        like = self._like
        if like is None:
            return super()._new_pool()
        return SyncPool(
            self._conninfo,
            connection_class=like.connection_class,
            kwargs=_without_place(like.kwargs),
            min_size=like.min_size,
            max_size=like.max_size,
            timeout=like.timeout,
            max_idle=like.max_idle,
            max_lifetime=like.max_lifetime,
            # The pool has no public name for how its owner has connections prepared.
            configure=like._configure,
            reset=like._reset,
            open=False,
        )

    def _like_this(self, cluster: ClusterMap, node: str) -> SyncRoutedCaller:
        """Make a caller for another node, with the settings of this one."""
        like = self._like if self._owns_pool else self._pool
        conninfo = self._conninfo
        if not self._owns_pool and self._pool is not None:
            with self._pool.connection() as connection:
                conninfo = make_conninfo(**connection.info.get_parameters(), password=connection.info.password)
        return SyncRoutedCaller(
            cluster.address(node, conninfo),
            pool_size=self._pool_size,
            token=self._token,
            prepare=self._prepares,
            like=like,
        )

    def _known_map(self) -> ClusterMap | None:
        if not self._is_map_read:  # first calls that come at the same time connect once, and fail together
            self._map = self._read_map()
            self._is_map_read = True
        return self._map

    def _read_map(self) -> ClusterMap | None:
        """Return the map that the database has; None for a single server."""
        try:
            with self.borrowed(Notices(self.warned)) as connection:
                cursor = Cursor(connection, row_factory=scalar_row)
                self._execute(cursor, b"select memory._cluster_map()", {})
                row = cursor.fetchone()
        except _NO_MAP:
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
        if found is None or is_known:
            return None
        return self._adopt(found)

    def _fresh_map(self, cluster: ClusterMap) -> ClusterMap:
        """Read the map anew: what concerns all nodes is refused by none, so a node that has come would be left out."""
        return self._adopt(self._read_map()) or cluster
