"""Calls of a cluster: each goes to the node of its user, and those that concern all users to all nodes."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import AsyncCursor
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo
from psycopg.rows import scalar_row
from psycopg_pool import AsyncConnectionPool

from ...errors import NotFoundError, RetryableError, WrongNodeError, connecting
from ..function import Function
from ..nodes import (
    CONNECT_SECONDS,
    DIAGNOSES,
    IN_TURN,
    NO_MAP,
    PLACE,
    ClusterMap,
    asked_of_each,
    is_for_all,
    merger_of,
    named,
    user_of,
    with_missing,
)
from ..notices import Notices
from ..pools import AsyncPool
from .caller import AsyncCaller

_AWAY = (psycopg.OperationalError, RetryableError)
"""Errors that concern one node, and not the others."""
_PARAMETERS = {option.keyword.decode() for option in Conninfo.get_defaults()}
"""What a connection string may say, in the words of libpq."""
_RECONNECT_SECONDS = 1.0
"""Seconds for which the pool of a node tries to open a connection again. Then the next call tries anew, without the
pauses of a pool, which double up to minutes."""
_UP_SECONDS = 1.0
"""How long a client relies on what it has found out about a node: that it accepts connections, or that it does not."""


def _without_place(parameters: Any) -> Any:
    """Return the parameters of a pool's connections without those that say where its database is."""
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: value for name, value in parameters.items() if name not in PLACE}


class AsyncRoutedCaller(AsyncCaller):
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
    _tried_at = float("-inf")
    _failure: Exception | None = None

    def __init__(
        self,
        source: AsyncConnectionPool[Any] | str,
        *,
        pool_size: int = 10,
        token: str | Callable[[], str] | None = None,
        prepare: bool | None = None,
        like: AsyncConnectionPool[Any] | None = None,
    ) -> None:
        self._like = like
        super().__init__(source, pool_size=pool_size, token=token, prepare=prepare)
        self._others: dict[str, AsyncRoutedCaller] = {}
        self._reading = asyncio.Lock()
        self._trying = asyncio.Lock()

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from."""
        super().begin_anew()
        self._reading = asyncio.Lock()
        self._trying = asyncio.Lock()

    async def close(self) -> None:
        """Close the client's own pools."""
        for other in self._others.values():
            await other.close()
        await super().close()

    async def call(self, function: Function, given: Mapping[str, Any]) -> Any:
        """Call a function on the node or the nodes that it concerns."""
        cluster = await self._known_map()
        try:
            if cluster is None:
                return await super().call(function, given)
            return await self._call_routed(cluster, function, given)
        except WrongNodeError:
            user_id = user_of(given)
            newer = None if user_id is None else await self._newer_map(cluster, user_id)
            if newer is None:
                raise
            return await self._call_routed(newer, function, given)

    async def call_procedure(self, function: Function, given: Mapping[str, Any]) -> None:
        """Call a procedure that commits, on one node after the other."""
        cluster = await self._known_map()
        if cluster is None:
            await super().call_procedure(function, given)
            return
        _, missing = await self._ask_all(
            await self._fresh_map(cluster), lambda caller: AsyncCaller.call_procedure(caller, function, given)
        )
        if missing:
            raise next(iter(missing.values()))

    async def cluster(self, *, is_fresh: bool = True) -> ClusterMap | None:
        """Return the map of the cluster, read anew unless told otherwise; None for a single server."""
        known = await self._known_map()
        return known if known is None or not is_fresh else await self._fresh_map(known)

    def pool_figure(self, name: str) -> int:
        """Return a figure of the pools over all nodes."""
        return sum((other.pool_figure(name) for other in self._others.values()), super().pool_figure(name))

    async def node_names(self) -> list[str]:
        """Return the names of the nodes; a single server has the empty name."""
        cluster = await self._known_map()
        return [""] if cluster is None else list(cluster.nodes)

    async def node(self, name: str) -> AsyncCaller:
        """Return the caller of a node.

        Raises:
            NotFoundError: there is no such node.
        """
        cluster = await self._known_map()
        if cluster is None:
            return self
        if name not in cluster.nodes:
            raise NotFoundError(f'there is no node "{name}"', hint=f"The nodes are {', '.join(cluster.nodes)}.")
        with named(name):
            return await self._node(cluster, name)

    async def of(self, user_id: str, *, is_fresh: bool = False) -> AsyncCaller:
        """Return the caller for statements about a user, by a map that is read anew if ``is_fresh`` says so."""
        cluster = await self._known_map()
        if is_fresh and cluster is not None:
            cluster = await self._fresh_map(cluster)
        if cluster is None:
            return self
        node = cluster.node_of(user_id)
        with named(node):
            return await self._node(cluster, node, user_id)

    async def _call_routed(self, cluster: ClusterMap, function: Function, given: Mapping[str, Any]) -> Any:
        if is_for_all(function.name, given):
            return await self._change_all(await self._fresh_map(cluster), function, given)
        user_id = user_of(given)
        if isinstance(user_id, str):
            node = cluster.node_of(user_id)
            with named(node):
                return await AsyncCaller.call(await self._node(cluster, node, user_id), function, given)
        if function.name in IN_TURN:
            return await self._claim_in_turn(cluster, function, given)
        merge = merger_of(function.name, given)
        if merge is None:
            return await super().call(function, given)
        asked = asked_of_each(function.name, given)
        answers, missing = await self._ask_all(
            await self._fresh_map(cluster), lambda caller: AsyncCaller.call(caller, function, asked)
        )
        if missing and (function.name not in DIAGNOSES or not answers):
            raise next(iter(missing.values()))
        return with_missing(function.name, merge(answers), missing) if missing else merge(answers)

    async def _ask_all(
        self, cluster: ClusterMap, ask: Callable[[AsyncCaller], Any]
    ) -> tuple[dict[str, Any], dict[str, Exception]]:
        """Return the answers of all nodes, and why others gave none."""
        answers: dict[str, Any] = {}
        missing: dict[str, Exception] = {}
        for node in cluster.nodes:
            try:
                with named(node):
                    answers[node] = await ask(await self._node(cluster, node))
            except _AWAY as error:  # noqa: PERF203  # the other nodes are asked all the same
                missing[node] = error
        return answers, missing

    async def _claim_in_turn(self, cluster: ClusterMap, function: Function, given: Mapping[str, Any]) -> Any:
        """Claim jobs of one node after the other, beginning anywhere, until there are enough."""
        wanted = given.get("max_jobs")
        wanted = 1 if wanted is None else wanted
        claimed: list[Any] = []
        missing: list[Exception] = []
        nodes = list(cluster.nodes)
        begin = random.randrange(len(nodes))
        for node in nodes[begin:] + nodes[:begin]:
            if not claimed or len(claimed) < wanted:
                try:
                    with named(node):
                        claimed += await AsyncCaller.call(
                            await self._node(cluster, node), function, {**given, "max_jobs": wanted - len(claimed)}
                        )
                except _AWAY as error:
                    missing.append(error)
        if missing and not claimed:
            raise missing[0]
        return claimed

    async def _change_all(self, cluster: ClusterMap, function: Function, given: Mapping[str, Any]) -> Any:
        """Change all nodes, or none: each in a transaction, and these are committed when all have succeeded."""
        if function.name == "bind_role":
            # Nodes that are databases of one server would wait for each other: a role is a member there once for all.
            for node in cluster.nodes:
                with named(node):
                    await AsyncCaller.call(await self._node(cluster, node), function, given)
            return None
        results = []
        callers = {}
        for node in cluster.nodes:  # before a transaction takes the only connection of a pool
            with named(node):
                callers[node] = await self._node(cluster, node)
        async with AsyncExitStack() as transactions:
            for node, caller in callers.items():
                with named(node):
                    bound = await transactions.enter_async_context(caller.in_a_transaction("read committed"))
                    results.append(await bound.call(function, given))
        return results[0]

    async def _node(self, cluster: ClusterMap, node: str, user_id: str | None = None) -> AsyncRoutedCaller:
        """Return the caller of a node.

        Raises:
            RetryableError: the node has an older map, because it was restored from a backup, or is about to get the
                newest one, and does not serve the user by it. Or another node has its address.
        """
        if node == cluster.node:
            return self
        other = self._others.get(node)
        if other is None:
            made = await self._like_this(cluster, node)
            async with self._reading:
                other = self._others.setdefault(node, made)
            if other is not made:
                await made.close()
        # Without a lock: whoever calls a node that is down would hold up the calls of all others.
        found = other._map
        if found is None or found.version < cluster.version:
            found = other._map = await other._read_map()
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

    def _new_pool(self) -> AsyncConnectionPool[Any]:
        like = self._like
        if like is None:
            return super()._new_pool()
        return AsyncPool(
            self._conninfo,
            connection_class=like.connection_class,
            kwargs=_without_place(like.kwargs),
            min_size=like.min_size,
            max_size=like.max_size,
            timeout=like.timeout,
            max_idle=like.max_idle,
            max_lifetime=like.max_lifetime,
            max_waiting=like.max_waiting,
            # The pool has no public names for how its owner has connections prepared.
            configure=like._configure,
            check=like._check,
            reset=like._reset,
            open=False,
        )

    async def _like_this(self, cluster: ClusterMap, node: str) -> AsyncRoutedCaller:
        """Make a caller for another node, with the settings of this one."""
        like = self._like if self._owns_pool else self._pool
        conninfo = self._conninfo
        if not self._owns_pool and self._pool is not None:
            conninfo = await self._conninfo_of(self._pool)
        return AsyncRoutedCaller(
            cluster.address(node, conninfo),
            pool_size=self._pool_size,
            token=self._token,
            prepare=self._prepares,
            like=like,
        )

    @staticmethod
    async def _conninfo_of(pool: AsyncConnectionPool[Any]) -> str:
        """Return where an application's pool connects to, and as whom."""
        if isinstance(pool.conninfo, str) and isinstance(pool.kwargs, Mapping):
            # Without a connection: its node may be out of reach, and the others are not.
            return make_conninfo(
                pool.conninfo, **{name: pool.kwargs[name] for name in pool.kwargs.keys() & _PARAMETERS}
            )
        async with pool.connection() as connection:
            return make_conninfo(**connection.info.get_parameters(), password=connection.info.password)

    async def _known_map(self) -> ClusterMap | None:
        if not self._is_map_read:  # first calls that come at the same time connect once, and fail together
            self._map = await self._read_map()
            self._is_map_read = True
        return self._map

    async def _read_map(self) -> ClusterMap | None:
        """Return the map that the database has; None for a single server."""
        try:
            async with self.borrowed(Notices(self.warned)) as connection:
                cursor = AsyncCursor(connection, row_factory=scalar_row)
                await self._execute(cursor, b"select memory._cluster_map()", {})
                row = await cursor.fetchone()
        except NO_MAP:
            return None
        return None if row is None else ClusterMap(**row)

    async def _newer_map(self, cluster: ClusterMap | None, user_id: str) -> ClusterMap | None:
        """Read the map of the node that has refused a user, and return it if it is newer than the one that was used."""
        node = None if cluster is None else cluster.node_of(user_id)
        refusing = self if node is None or cluster is None or node == cluster.node else self._others[node]
        found = await refusing._read_map()
        is_known = (
            cluster is not None
            and found is not None
            and (
                found.version < cluster.version
                or (found.version == cluster.version and found.node_of(user_id) == cluster.node_of(user_id))
            )
        )
        return None if found is None or is_known else self._adopt(found)

    async def _fresh_map(self, cluster: ClusterMap) -> ClusterMap:
        """Read the map anew: what concerns all nodes is refused by none, so a node that has come would be left out.

        Any node has it; where none can be reached, the known one counts.
        """
        for node in sorted(cluster.nodes, key=lambda name: name != cluster.node):
            with suppress(*_AWAY):
                caller = self if node == cluster.node else await self._node(cluster, node)
                return self._adopt(await caller._read_map()) or cluster
        return cluster

    async def _check_reach(self) -> None:
        """Say at once that a node is out of reach: its pool would wait half a minute for a connection.

        While the pool has no connection to spare, one call a second tries that.
        """
        pool = self._pool
        if self._map is None or pool is None or pool.closed or pool._pool:  # a connection to spare
            return
        if self._owns_pool:
            pool.reconnect_timeout = _RECONNECT_SECONDS
        async with self._trying:
            if time.monotonic() > self._tried_at + _UP_SECONDS:
                try:
                    with connecting(self._conninfo):
                        tried = await pool._connect(CONNECT_SECONDS)
                    await tried.close()
                    self._failure = None
                except psycopg.OperationalError as error:
                    self._failure = error
                self._tried_at = time.monotonic()
            if self._failure is not None:
                raise self._failure
