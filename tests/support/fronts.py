"""Two nodes of a cluster and what stands before them, as the database of a test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Literal, NoReturn

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.calls import SyncRoutedCaller
from agent_memory.calls.nodes import ClusterMap
from agent_memory.cluster import nodes
from agent_memory.cluster.proxy import make_proxy
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

Way = Literal["proxy", "nodes"]

TEMPLATE = "through_template"
OWNERS = ["a", "b"] * 32
LOOKS_AT_TWO = "looks into tables for users of both nodes"


def skip(reason: str) -> NoReturn:
    pytest.skip(reason)


class Front:
    """Two nodes and what stands before them, all made of one template; ``name`` is what a test connects to."""

    def __init__(self, way: Way, name: str, conninfo: Callable[[str], str]) -> None:
        self.way = way
        self.name = name
        self.names = {"b": name, "a": f"{name}__a"} | ({"b": f"{name}__b", "proxy": name} if way == "proxy" else {})
        self.conninfo = conninfo
        self.users: set[str] = set()
        self.hear: Callable[[psycopg.errors.Diagnostic], None] = lambda _notice: None
        self._opened = contextlib.ExitStack()
        self._known: dict[str, Any] = {}
        self._saved: list[dict[str, int]] = []
        self._depth = 0

    def dsn(self, part: str) -> str:
        return self.conninfo(self.names[part])

    def places(self) -> dict[str, str]:
        known = {node: conninfo_to_dict(self.dsn(node)) for node in "ab"}
        return {
            node: make_conninfo(**{key: str(value[key]) for key in ("host", "port", "dbname")})
            for node, value in known.items()
        }

    def begin(self) -> None:
        """Make the first cluster, of which all others are copies."""
        nodes.begin(self.places(), OWNERS, self.dsn("a"))
        if self.way == "proxy":
            with nodes.opened(self.dsn("a")) as opened, psycopg.connect(self.dsn("proxy"), autocommit=True) as proxy:
                make_proxy(opened, proxy, str(conninfo_to_dict(self.dsn("a"))["user"]))

    def name_places(self) -> None:
        """Tell a copy where its own nodes are."""
        places = self.places()
        for node in "ab":
            with psycopg.connect(self.dsn(node)) as connection:
                known = nodes.read_map(connection)
                assert known is not None
                numbered = {name: {"dsn": places[name], "number": known.nodes[name]["number"]} for name in "ab"}
                connection.execute(
                    "select memory._set_cluster_map(%s, %s, %s, %s)",
                    [node, known.version + 1, OWNERS, Jsonb(numbered)],
                )
        if self.way == "proxy":
            with psycopg.connect(self.dsn("proxy")) as connection:
                for number, node in enumerate("ab"):
                    connection.execute(
                        sql.SQL("alter server agent_memory options (set {} {})").format(
                            sql.Identifier(f"p{number}"), sql.Literal(places[node])
                        )
                    )

    def open(self, part: str) -> psycopg.Connection[Any]:
        """Return a connection to a database of the cluster, which is open until ``close``."""
        if part not in self._known:
            connection = psycopg.connect(self.dsn(part), autocommit=True)
            self._known[part] = self._opened.enter_context(contextlib.closing(connection))
        found: psycopg.Connection[Any] = self._known[part]
        return found

    @property
    def caller(self) -> SyncRoutedCaller:
        if "caller" not in self._known:
            pool = ConnectionPool(
                self.dsn("b"),
                min_size=1,
                max_size=1,
                kwargs={"autocommit": True},
                configure=lambda connection: connection.add_notice_handler(lambda notice: self.hear(notice)),
                open=True,
            )
            self._opened.callback(pool.close)
            self._known["caller"] = SyncRoutedCaller(pool, like=pool)
            self._opened.callback(self._known["caller"].close)
        found: SyncRoutedCaller = self._known["caller"]
        return found

    @property
    def memory(self) -> Memory:
        if "memory" not in self._known:
            self._known["memory"] = self._opened.enter_context(Memory(self.dsn("b"), pool_size=1))
        found: Memory = self._known["memory"]
        return found

    def map(self) -> ClusterMap:
        found = nodes.read_map(self.open("a"))
        assert found is not None
        return found

    def node_of_users(self, named: str | None = None) -> str:
        """Return the node of the users whom the test has named."""
        users = self.users if named is None else {named}
        known = self.map()
        found = {known.node_of(user) for user in users}
        if len(found) != 1:
            skip(LOOKS_AT_TWO if found else "looks into tables, and has named nobody")
        return found.pop()

    def close(self) -> None:
        self._opened.close()
        self._known.clear()

    @contextlib.contextmanager
    def kept(self, *, is_as_before: bool) -> Iterator[None]:
        """Put the databases back, at the end, as they are now; ``is_as_before`` says that they are as the last time.

        Most tests change one database of two or three, so those that have counted no change since stay.
        """
        self.close()
        if not (is_as_before and len(self._saved) > self._depth):
            copy({f"{name}__{self._depth}": name for name in self.names.values()}, self.conninfo("postgres"))
            self._saved[self._depth :] = [self._changes()]
        self._depth += 1
        try:
            yield
        finally:
            self.close()
            self._depth -= 1
            del self._saved[self._depth + 1 :]
            before = self._saved[self._depth]
            changed = [name for name, changes in self._changes().items() if changes != before[name]]
            copy({name: f"{name}__{self._depth}" for name in changed}, self.conninfo("postgres"))
            for saved in self._saved:
                saved |= dict.fromkeys(changed, -1)  # unlike what any database counts
            before |= dict.fromkeys(changed, 0)

    def _changes(self) -> dict[str, int]:
        """How many rows have been changed in each database, catalogs too, when all sessions there have ended."""
        names = [*self.names.values()]
        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = any(%s)", [names]
            )
            counted = connection.execute(
                "select datname, tup_inserted + tup_updated + tup_deleted from pg_stat_database"
                " where datname = any(%s)",
                [names],
            ).fetchall()
        return dict(counted)


FRONTS: dict[str, Front] = {}
"""The clusters by the name of the database that a test takes for its own."""


def copy(template_of: dict[str, str], maintenance: str) -> None:
    """Make databases anew, each as a copy of another one."""
    with psycopg.connect(maintenance, autocommit=True) as connection:
        for name, template in template_of.items():
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
            connection.execute(
                sql.SQL("select pg_terminate_backend(pid) from pg_stat_activity where datname = {}").format(
                    sql.Literal(template)
                )
            )
            connection.execute(
                sql.SQL("create database {} template {} strategy file_copy").format(
                    sql.Identifier(name), sql.Identifier(template)
                )
            )
