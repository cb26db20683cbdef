"""Calls of a cluster: each goes to the node of its user, and those that concern all users to all nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool

from ...errors import NotFoundError, RetryableError, WrongNodeError
from ..function import Function, T
from ..nodes import (
    DIAGNOSES,
    IN_TURN,
    ClusterMap,
    asked_of_each,
    is_for_all,
    merger_of,
    named,
    user_of,
    with_missing,
)
from .caller import AsyncCaller
from .reach import AsyncNodeCaller

AWAY = (psycopg.OperationalError, RetryableError)
"""Errors that concern one node, and not the others."""


class AsyncRoutedCaller(AsyncNodeCaller):
    """A client's pool that knows the other nodes where its database is a node of a cluster.

    The map is read before the first call. A node that refuses a user (AM003) may know a newer map: that is read, and
    the call is made once more. Where the database is a single server, calls go there.
    """

    _is_map_read = False

    def __init__(self, source: AsyncConnectionPool[Any] | str, **options: Any) -> None:
        super().__init__(source, **options)
        self._others: dict[str, AsyncNodeCaller] = {}

    async def close(self) -> None:
        """Close the client's own pools."""
        for other in self._others.values():
            await other.close()
        await super().close()

    def pool_figure(self, name: str) -> int:
        """Return a figure of the pools over all nodes."""
        return sum((other.pool_figure(name) for other in self._others.values()), super().pool_figure(name))

    async def call(self, function: Function[T], given: Mapping[str, Any]) -> T:
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

    async def call_procedure(self, function: Function[Any], given: Mapping[str, Any]) -> None:
        """Call a procedure that commits, on one node after the other."""
        cluster = await self.cluster()
        if cluster is None:
            await super().call_procedure(function, given)
            return
        _, missing = await self._ask_all(cluster, lambda caller: AsyncCaller.call_procedure(caller, function, given))
        if missing:
            raise next(iter(missing.values()))

    async def cluster(self, *, is_fresh: bool = True) -> ClusterMap | None:
        """Return the map of the cluster, read anew unless told otherwise; None for a single server."""
        known = await self._known_map()
        return known if known is None or not is_fresh else await self._fresh_map(known)

    async def node_names(self) -> list[str]:
        """Return the names of the nodes; a single server has the empty name."""
        cluster = await self._known_map()
        return [""] if cluster is None else list(cluster.nodes)

    async def node(self, name: str) -> AsyncCaller:
        """Return the caller of a node, or raise NotFoundError."""
        cluster = await self._known_map()
        if cluster is None:
            return self
        if name not in cluster.nodes:
            raise NotFoundError(f'there is no node "{name}"', hint=f"The nodes are {', '.join(cluster.nodes)}.")
        with named(name):
            return await self._node(cluster, name)

    async def of(self, user_id: str, *, is_fresh: bool = False) -> AsyncNodeCaller:
        """Return the caller for statements about a user, by a map that is read anew if ``is_fresh`` says so."""
        cluster = await self.cluster(is_fresh=is_fresh)
        if cluster is None:
            return self
        node = cluster.node_of(user_id)
        with named(node):
            return await self._node(cluster, node, user_id)

    async def _call_routed(self, cluster: ClusterMap, function: Function[T], given: Mapping[str, Any]) -> T:
        answer: Any
        user_id = user_of(given)
        merge = merger_of(function.name, given)
        if is_for_all(function.name, given):
            answer = await self._change_all(await self._fresh_map(cluster), function, given)
        elif isinstance(user_id, str):
            node = cluster.node_of(user_id)
            with named(node):
                answer = await AsyncCaller.call(await self._node(cluster, node, user_id), function, given)
        elif function.name in IN_TURN:
            answer = await self._claim_in_turn(cluster, function, given)
        elif merge is None:
            answer = await super().call(function, given)
        else:
            asked = asked_of_each(function.name, given)
            answers, missing = await self._ask_all(
                await self._fresh_map(cluster), lambda caller: AsyncCaller.call(caller, function, asked)
            )
            if missing and (function.name not in DIAGNOSES or not answers):
                raise next(iter(missing.values()))
            answer = merge(answers)
            if missing:
                answer = with_missing(function.name, answer, missing)
        return answer  # type: ignore[no-any-return]

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
            except AWAY as error:  # noqa: PERF203  # the other nodes are asked all the same
                missing[node] = error
        return answers, missing

    async def _claim_in_turn(self, cluster: ClusterMap, function: Function[Any], given: Mapping[str, Any]) -> Any:
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
                except AWAY as error:
                    missing.append(error)
        if missing and not claimed:
            raise missing[0]
        return claimed

    async def _change_all(self, cluster: ClusterMap, function: Function[Any], given: Mapping[str, Any]) -> Any:
        """Change all nodes, or none: each in a transaction, and these are committed when all have succeeded."""
        callers = {}
        for node in cluster.nodes:  # before a transaction takes the only connection of a pool
            with named(node):
                callers[node] = await self._node(cluster, node)
        results = []
        async with AsyncExitStack() as transactions:
            for node, caller in callers.items():
                with named(node):
                    if function.name in ("bind_role", "trust_claims"):
                        # Nodes that are databases of one server would wait for each other: a role is a member there
                        # once for all.
                        results.append(await AsyncCaller.call(caller, function, given))
                    else:
                        bound = await transactions.enter_async_context(caller.in_a_transaction("read committed"))
                        results.append(await bound.call(function, given))
        return results[0]

    async def _node(self, cluster: ClusterMap, node: str, user_id: str | None = None) -> AsyncNodeCaller:
        """Return the caller of a node.

        Raises RetryableError where another node has its address, or where it has an older map, because it was restored
        from a backup or is about to get the newest one, and does not serve the user by that.
        """
        if node == cluster.node:
            return self
        other = self._others.get(node) or self._others.setdefault(node, await self._like_this(cluster, node))
        # Without a lock: whoever calls a node that is down would hold up the calls of all others.
        found = other.map
        if found is None or found.version < cluster.version:
            found = other.map = await other.read_map()
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

    async def _like_this(self, cluster: ClusterMap, node: str) -> AsyncNodeCaller:
        """Make a caller for another node, with the settings of this one."""
        return AsyncNodeCaller(
            cluster.address(node, await self.place()),
            pool_size=self._pool_size,
            token=self._token,
            prepare=self._prepares,
            like=None if self._owns_pool else self._pool,
            schema=self.schema,
        )

    def _adopt(self, found: ClusterMap | None) -> ClusterMap | None:
        """Use a map from now on if it is newer than the known one; return the one that counts.

        A tenant's map names its own user only, so that the users of two maps of the same version are put together.
        """
        known = self.map
        if found is not None and (known is None or found.version > known.version):
            self.map = replace(found, node=found.node if known is None else known.node)
        elif found is not None and known is not None and found.version == known.version:
            self.map = replace(known, users={**known.users, **found.users})
        return self.map

    async def _known_map(self) -> ClusterMap | None:
        if not self._is_map_read:  # first calls that come at the same time connect once, and fail together
            self.map = own = await self.read_map()
            # The database may have been restored from a backup: what users do has to go where the others say. Each of
            # them is asked, because one that was out of reach may have an old map, too.
            if own is not None:
                for node in own.nodes:
                    with suppress(*AWAY):
                        await self._node(own, node)
            self._is_map_read = True
        return self.map

    async def _newer_map(self, cluster: ClusterMap | None, user_id: str) -> ClusterMap | None:
        """Read the map of the node that has refused a user, and return it if it is newer than the one that was used."""
        node = None if cluster is None else cluster.node_of(user_id)
        refusing = self if cluster is None or node is None or node == cluster.node else self._others[node]
        found = await refusing.read_map()
        if found is None:
            return None
        if cluster is not None and (
            found.version < cluster.version or (found.version == cluster.version and found.node_of(user_id) == node)
        ):
            return None
        return self._adopt(found)

    async def _fresh_map(self, cluster: ClusterMap) -> ClusterMap:
        """Read the map anew: what concerns all nodes is refused by none, so a node that has come would be left out.

        Any node has it; where none can be reached, the known one counts.
        """
        for node in sorted(cluster.nodes, key=lambda name: name != cluster.node):
            with suppress(*AWAY):
                caller = await self._node(cluster, node)
                return self._adopt(await caller.read_map()) or cluster
        return cluster
