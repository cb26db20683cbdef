"""Calls of a cluster: each goes to the node of its user, and those that concern all users to all nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from ...errors import NotFoundError, WrongNodeError
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
from .maps import AWAY, AsyncMapCaller


class AsyncRoutedCaller(AsyncMapCaller):
    """A client's pool that knows the other nodes where its database is a node of a cluster.

    The map is read before the first call. A node that refuses a user (AM003) may know a newer map: that is read, and
    the call is made once more. Where the database is a single server, calls go there.
    """

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

    async def _call_routed(self, cluster: ClusterMap, function: Function[T], given: Mapping[str, Any]) -> T:
        if is_for_all(function.name, given):
            changed: T = await self._change_all(await self._fresh_map(cluster), function, given)
            return changed
        user_id = user_of(given)
        if isinstance(user_id, str):
            node = cluster.node_of(user_id)
            with named(node):
                return await AsyncCaller.call(await self._node(cluster, node, user_id), function, given)
        if function.name in IN_TURN:
            claimed: T = await self._claim_in_turn(cluster, function, given)
            return claimed
        merge = merger_of(function.name, given)
        if merge is None:
            return await super().call(function, given)
        asked = asked_of_each(function.name, given)
        answers, missing = await self._ask_all(
            await self._fresh_map(cluster), lambda caller: AsyncCaller.call(caller, function, asked)
        )
        if missing and (function.name not in DIAGNOSES or not answers):
            raise next(iter(missing.values()))
        answer: T = with_missing(function.name, merge(answers), missing) if missing else merge(answers)
        return answer

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
        if function.name in ("bind_role", "trust_claims"):
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
