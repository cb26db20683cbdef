# Generated from _async/routed.py by generate_sync.py; do not edit.
"""Calls of a cluster: each goes to the node of its user, and those that concern all users to all nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
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
from .caller import SyncCaller
from .maps import AWAY, SyncMapCaller


class SyncRoutedCaller(SyncMapCaller):
    """A client's pool that knows the other nodes where its database is a node of a cluster.

    The map is read before the first call. A node that refuses a user (AM003) may know a newer map: that is read, and
    the call is made once more. Where the database is a single server, calls go there.
    """

    def call(self, function: Function[T], given: Mapping[str, Any]) -> T:
        """Call a function on the node or the nodes that it concerns."""
        cluster = self._known_map()
        try:
            if cluster is None:
                return super().call(function, given)
            return self._call_routed(cluster, function, given)
        except WrongNodeError:
            user_id = user_of(given)
            newer = None if user_id is None else self._newer_map(cluster, user_id)
            if newer is None:
                raise
            return self._call_routed(newer, function, given)

    def call_procedure(self, function: Function[Any], given: Mapping[str, Any]) -> None:
        """Call a procedure that commits, on one node after the other."""
        cluster = self._known_map()
        if cluster is None:
            super().call_procedure(function, given)
            return
        _, missing = self._ask_all(
            self._fresh_map(cluster), lambda caller: SyncCaller.call_procedure(caller, function, given)
        )
        if missing:
            raise next(iter(missing.values()))

    def cluster(self, *, is_fresh: bool = True) -> ClusterMap | None:
        """Return the map of the cluster, read anew unless told otherwise; None for a single server."""
        known = self._known_map()
        return known if known is None or not is_fresh else self._fresh_map(known)

    def node_names(self) -> list[str]:
        """Return the names of the nodes; a single server has the empty name."""
        cluster = self._known_map()
        return [""] if cluster is None else list(cluster.nodes)

    def node(self, name: str) -> SyncCaller:
        """Return the caller of a node.

        Raises:
            NotFoundError: there is no such node.
        """
        cluster = self._known_map()
        if cluster is None:
            return self
        if name not in cluster.nodes:
            raise NotFoundError(f'there is no node "{name}"', hint=f"The nodes are {', '.join(cluster.nodes)}.")
        with named(name):
            return self._node(cluster, name)

    def of(self, user_id: str, *, is_fresh: bool = False) -> SyncCaller:
        """Return the caller for statements about a user, by a map that is read anew if ``is_fresh`` says so."""
        cluster = self._known_map()
        if is_fresh and cluster is not None:
            cluster = self._fresh_map(cluster)
        if cluster is None:
            return self
        node = cluster.node_of(user_id)
        with named(node):
            return self._node(cluster, node, user_id)

    def _call_routed(self, cluster: ClusterMap, function: Function[T], given: Mapping[str, Any]) -> T:
        if is_for_all(function.name, given):
            changed: T = self._change_all(self._fresh_map(cluster), function, given)
            return changed
        user_id = user_of(given)
        if isinstance(user_id, str):
            node = cluster.node_of(user_id)
            with named(node):
                return SyncCaller.call(self._node(cluster, node, user_id), function, given)
        if function.name in IN_TURN:
            claimed: T = self._claim_in_turn(cluster, function, given)
            return claimed
        merge = merger_of(function.name, given)
        if merge is None:
            return super().call(function, given)
        asked = asked_of_each(function.name, given)
        answers, missing = self._ask_all(
            self._fresh_map(cluster), lambda caller: SyncCaller.call(caller, function, asked)
        )
        if missing and (function.name not in DIAGNOSES or not answers):
            raise next(iter(missing.values()))
        answer: T = with_missing(function.name, merge(answers), missing) if missing else merge(answers)
        return answer

    def _ask_all(
        self, cluster: ClusterMap, ask: Callable[[SyncCaller], Any]
    ) -> tuple[dict[str, Any], dict[str, Exception]]:
        """Return the answers of all nodes, and why others gave none."""
        answers: dict[str, Any] = {}
        missing: dict[str, Exception] = {}
        for node in cluster.nodes:
            try:
                with named(node):
                    answers[node] = ask(self._node(cluster, node))
            except AWAY as error:  # noqa: PERF203  # the other nodes are asked all the same
                missing[node] = error
        return answers, missing

    def _claim_in_turn(self, cluster: ClusterMap, function: Function[Any], given: Mapping[str, Any]) -> Any:
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
                        claimed += SyncCaller.call(
                            self._node(cluster, node), function, {**given, "max_jobs": wanted - len(claimed)}
                        )
                except AWAY as error:
                    missing.append(error)
        if missing and not claimed:
            raise missing[0]
        return claimed

    def _change_all(self, cluster: ClusterMap, function: Function[Any], given: Mapping[str, Any]) -> Any:
        """Change all nodes, or none: each in a transaction, and these are committed when all have succeeded."""
        if function.name in ("bind_role", "trust_claims"):
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
