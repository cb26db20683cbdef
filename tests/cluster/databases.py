"""Databases of one server that become nodes of a cluster, and users in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
from agent_memory import Memory
from agent_memory.cluster import nodes
from agent_memory.cluster.proxy import make_proxy
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.sqlapi import Api

PARTITIONS = 8
OWNERS = "aabbabab"
USERS = [f"user {number}" for number in range(12)]


class Databases:
    """Databases of one server that become nodes; names are letters."""

    def __init__(self, dsn: dict[str, str], stack: contextlib.ExitStack) -> None:
        self.dsn = dsn
        self._stack = stack
        self._known: dict[str, Api] = {}

    def place(self, name: str) -> str:
        known = conninfo_to_dict(self.dsn[name])
        return make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname") if key in known})

    def begin(self, names: str, owners: str) -> None:
        nodes.begin({name: self.place(name) for name in names}, list(owners), self.dsn["a"])

    @contextlib.contextmanager
    def opened(self) -> Iterator[nodes.Nodes]:
        with nodes.opened(self.dsn["a"]) as opened:
            yield opened

    @contextlib.contextmanager
    def api(self, name: str) -> Iterator[Api]:
        with contextlib.closing(psycopg.connect(self.dsn[name], autocommit=True)) as connection:
            yield Api(connection)

    def node(self, name: str) -> Api:
        """A session that lasts as long as the test."""
        if name not in self._known:
            connection = psycopg.connect(self.dsn[name], autocommit=True)
            self._known[name] = Api(self._stack.enter_context(contextlib.closing(connection)))
        return self._known[name]

    def users(self, name: str) -> set[str]:
        """Who has messages on a node."""
        return set(self.rows(name))

    def rows(self, name: str) -> dict[str, list[str]]:
        """The texts of each user's messages on a node."""
        with self.api(name) as api:
            found = api.query("select user_id, array_agg(content order by seq) from memory.messages group by 1")
        return dict(found)

    def set_away(self, name: str, is_away: bool) -> None:
        """Have a database refuse connections, as if its server were gone."""
        dbname = str(conninfo_to_dict(self.dsn[name])["dbname"])
        allow = sql.SQL("alter database {} with allow_connections {}")
        with psycopg.connect(self.dsn["a"], autocommit=True) as connection:
            connection.execute(allow.format(sql.Identifier(dbname), sql.Literal(not is_away)))
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [dbname])


def fill(databases: Databases) -> None:
    with Memory(databases.dsn["a"]) as memory:
        for user in USERS:
            memory.add_messages(user, "t", [{"role": "user", "content": f"{user} {n}"} for n in range(12)])
            memory.add_memory(user, f"{user} likes tea")
            memory.extract_memories(user, "t")


def expected() -> dict[str, list[str]]:
    return {user: [f"{user} {n}" for n in range(12)] for user in USERS}


class Proxied(Databases):
    """Nodes a and b, and a proxy c before them; ``front`` calls the proxy."""

    def __init__(self, dsn: dict[str, str], stack: contextlib.ExitStack) -> None:
        super().__init__(dsn, stack)
        self.begin("ab", OWNERS)
        self.role = str(conninfo_to_dict(self.dsn["a"])["user"])
        self.front = self.node("c")
        self.connection = self.front.connection
        self.renew()

    def renew(self) -> int:
        with self.opened() as opened:
            return make_proxy(opened, self.connection, self.role)
