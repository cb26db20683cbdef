"""Connections to all nodes of a cluster, the map on each of them, and changes of the map."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb

from ..calls import translated
from ..calls.nodes import ClusterMap, named
from ..errors import ConflictError, InvalidValueError, NotConnectedError, NotFoundError, RetryableError, connecting
from ..install import install
from ..move.settings import copy_settings
from ..schema import cursors_in, named_schema

if TYPE_CHECKING:
    from typing_extensions import LiteralString

_LOCK = "hashtextextended('agent_memory cluster', 0)"
_ATTEMPTS = 150
"""How often the first map is tried, which waits a moment for all who write."""
# Whoever writes to a table of users holds this lock on it until the transaction ends.
_WRITERS = """
select distinct l.virtualtransaction
from pg_locks as l
where l.database = (select d.oid from pg_database as d where d.datname = current_database())
  and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
  and (l.pid = any (%(pids)s::int[]) or %(pids)s::int[] is null)
  and l.relation = any (array(
    select a.attrelid from pg_attribute as a join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'user_id'))
"""
# Statements that run, of clients and of processes such as pg_cron's.
_STATEMENTS = """
select a.pid, a.query_start
from pg_stat_activity as a
where a.datname = current_database() and a.state = 'active' and a.pid <> pg_backend_pid()
  and a.backend_type not in ('autovacuum worker', 'walsender')
"""
WRITERS_PATIENCE = 60.0
"""Seconds that transactions may take which write when users begin to move, and statements which run at ``init``."""

Statement = tuple[str | sql.Composed, Sequence[Any]]


@dataclass
class Node:
    """A node and the map that it has; None before ``init``, and for a new node."""

    name: str
    connection: Connection[Any]
    map: ClusterMap | None

    def read_map(self) -> None:
        """Look up which map the node has."""
        self.map = read_map(self.connection)

    def wait_for_writers(self) -> None:
        """Wait until the transactions have ended that write now.

        One that wrote before the first map has read no map, so the change of a map does not wait for it. Its rows
        would be copied nowhere. To look at the locks, rather than to ask for one, has nobody wait behind us.
        """
        self._wait_for(_WRITERS, "transaction that writes")

    def wait_for_statements(self) -> None:
        """Wait until the statements have ended that run now, and the transactions in which they wrote.

        One that was checked before the first map, and has not locked anything yet, would store rows by no map.
        """
        running = self._wait_for(_STATEMENTS, "statement that began before the map")
        self._wait_for(_WRITERS, "transaction that writes", [pid for pid, _ in running])

    def _wait_for(self, query: LiteralString, what: str, pids: list[int] | None = None) -> set[Any]:
        """Wait until the rows are gone that the query finds now, of these processes or of all; return them."""
        found = set(self.connection.execute(query, {"pids": pids}).fetchall())
        running = found
        end = time.monotonic() + WRITERS_PATIENCE
        while running:
            time.sleep(0.05)
            running = running & set(self.connection.execute(query, {"pids": pids}).fetchall())
            if running and time.monotonic() > end:
                raise RetryableError(
                    f'node "{self.name}": a {what} does not end',
                    hint="See pg_stat_activity.xact_start there, end it, then run the command again: it goes on.",
                )
        return found

    def is_standby(self) -> bool:
        """Whether the node is a standby, which gets what its primary writes and cannot be written to."""
        return self.connection.execute("select pg_is_in_recovery()").fetchone() == (True,)


def read_map(connection: Connection[Any]) -> ClusterMap | None:
    """Return the map that a database has; None for a single server."""
    with translated(connection):
        [[row]] = connection.execute("select memory._cluster_map()")
    return None if row is None else ClusterMap(**row)


class Nodes:
    """All nodes of a cluster, connected. One command at a time changes a cluster."""

    def __init__(self, nodes: Mapping[str, Node], newest: ClusterMap, unreachable: Mapping[str, str] = {}) -> None:
        self.nodes = nodes
        self.newest = newest
        self.unreachable = unreachable

    def need_all(self) -> None:
        """Refuse to go on without a node."""
        for name, problem in self.unreachable.items():
            raise NotConnectedError(
                f'node "{name}": {problem}', hint="Start the node, or see docs/cluster.md, Operate."
            )

    def change(self, order: Sequence[str] = (), **changes: Any) -> None:
        """Write the next version of the map into all nodes, those of ``order`` first."""
        self.newest = replace(self.newest, version=self.newest.version + 1, **changes)
        self.write(order)

    def write(self, order: Sequence[str] = ()) -> None:
        """Write the newest map into each node that lacks it, those of ``order`` first."""
        for name in dict.fromkeys([*order, *self.nodes]):
            if name in self.unreachable:  # it gets the map from the next command that reaches it
                continue
            node = self.nodes[name]
            if (node.map is None or node.map.version < self.newest.version) and not node.is_standby():
                self.write_into(node)

    def write_into(self, node: Node, statements: Sequence[Statement] = ()) -> None:
        """Write the newest map into a node, after other statements in the same transaction.

        All but the first run a second time while calls wait, for what was stored before the lock on the map.
        """
        attempts = 1 if node.map is not None else _ATTEMPTS
        for attempt in range(attempts):
            try:
                with translated(node.connection), node.connection.transaction():
                    for statement, arguments in statements:
                        node.connection.execute(statement, arguments)
                    _set_map(node.connection, node.name, self.newest)
                    for statement, arguments in statements[1:]:
                        node.connection.execute(statement, arguments)
                break
            except RetryableError:
                if attempt == attempts - 1:
                    raise
                time.sleep(0.05)
        node.read_map()


def _set_map(connection: Connection[Any], name: str, cluster: ClusterMap) -> None:
    connection.execute(
        "select memory._set_cluster_map(%s, %s, %s, %s, %s, %s)",
        [
            name,
            cluster.version,
            list(cluster.partitions),
            Jsonb(cluster.nodes),
            Jsonb(cluster.users),
            list(cluster.moving),
        ],
    )


@contextmanager
def opened(dsn: str, *, only_look: bool = False, without: bool = False) -> Iterator[Nodes]:
    """Connect to all nodes of the cluster that a database belongs to, and bring the newest map to all of them.

    A command that was killed may have left nodes behind. What it had done by then is right on every node that has its
    last map, so the others get that.
    """
    with ExitStack() as stack:
        first = _connected(stack, dsn)
        newest = read_map(first)
        if newest is None:
            raise NotFoundError("the database is no node of a cluster", hint="agent-memory cluster init makes one.")
        nodes = {newest.node: Node(newest.node, first, None)}
        unreachable: dict[str, str] = {}
        _lock(stack, nodes)
        is_complete = False
        while not is_complete:
            for name in sorted(newest.nodes.keys() - nodes.keys() - unreachable.keys()):
                try:
                    connection = _reached(stack, name, newest.address(name, dsn))
                except NotConnectedError as error:  # noqa: PERF203  # the other nodes are reached all the same
                    if not without:
                        raise
                    unreachable[name] = error.message.removeprefix(f'node "{name}": ')
                else:
                    nodes[name] = Node(name, connection, None)
                    _lock(stack, {name: nodes[name]})
            # Only now, because a command that ended meanwhile has changed them.
            for node in nodes.values():
                node.read_map()
                if node.map is not None and node.map.version > newest.version:
                    newest = node.map
            is_complete = newest.nodes.keys() <= nodes.keys() | unreachable.keys()
        cluster = Nodes({name: nodes[name] for name in newest.nodes if name in nodes}, newest, unreachable)
        if not only_look:
            cluster.write()
        yield cluster


def begin(dsn_by_name: Mapping[str, str], assignment: Sequence[str], own_dsn: str) -> ClusterMap:
    """Make a cluster: install each node, copy the settings of the first one that has users, and write the map."""
    numbered = {name: {"dsn": dsn, "number": number} for number, (name, dsn) in enumerate(dsn_by_name.items())}
    cluster = ClusterMap(1, "", list(assignment), {}, [], numbered)
    with ExitStack() as stack:
        nodes = {}
        for name in dsn_by_name:
            connection = _reached(stack, name, cluster.address(name, own_dsn))
            install(connection)
            nodes[name] = Node(name, connection, read_map(connection))
        _lock(stack, nodes)
        begun = [node.map for node in nodes.values() if node.map is not None]
        if any(replace(found, node="") != cluster for found in begun):
            raise ConflictError(
                "a node belongs to a cluster already", hint="agent-memory cluster add takes further nodes."
            )
        settled = [name for name, node in nodes.items() if _has_users(node.connection)]
        for node in nodes.values():
            _refuse_users_elsewhere(
                node,
                cluster,
                "Give the first map all partitions to the node that has users, then move partitions to the others.",
            )
        source = nodes[settled[0] if settled else next(iter(nodes))]
        for node in nodes.values():
            if node is not source:
                share_settings(source.connection, node.connection, is_new=node.name not in settled)
        Nodes(nodes, cluster).write()
        for node in nodes.values():
            node.wait_for_statements()
            _refuse_users_elsewhere(node, cluster, "They came in this moment: agent-memory cluster doctor --repair.")
    return cluster


def add(cluster: Nodes, dsn_by_name: Mapping[str, str], own_dsn: str) -> list[str]:
    """Add the nodes that the cluster lacks, without partitions, and return their names.

    A node is an empty database, or a streaming standby of a node that ``split`` will divide.
    """
    known = cluster.newest
    new = {name: dsn for name, dsn in dsn_by_name.items() if name not in known.nodes}
    for name, dsn in dsn_by_name.items():
        if name in known.nodes and conninfo_to_dict(known.nodes[name]["dsn"]) != conninfo_to_dict(dsn):
            raise InvalidValueError(
                f'node "{name}" is at {known.nodes[name]["dsn"]} in the map, and at {dsn} in the file',
                hint="A node that has moved is named in the file as the map names it, or gets another name.",
            )
    following = 1 + max(node["number"] for node in known.nodes.values())
    numbered = {name: {"dsn": dsn, "number": following + place} for place, (name, dsn) in enumerate(new.items())}
    changed = replace(known, nodes={**known.nodes, **numbered})
    source = next(iter(cluster.nodes.values()))
    with ExitStack() as stack:
        nodes = dict(cluster.nodes)
        for name in new:
            connection = _reached(stack, name, changed.address(name, own_dsn))
            node = nodes[name] = Node(name, connection, None)
            if node.is_standby():  # of the node that "split" will divide; it has all that its primary has
                continue
            install(connection)
            node.read_map()
            if node.map is not None or _has_users(connection):
                raise ConflictError(
                    f'node "{name}" has users, or belongs to a cluster', hint="A new node is an empty database."
                )
            share_settings(source.connection, connection, is_new=True)
        if new:
            Nodes(nodes, known).change(nodes=changed.nodes)
    return list(new)


def share_settings(source: Connection[Any], target: Connection[Any], *, is_new: bool) -> None:
    """Copy what is the same on all nodes: models, policies, prompts, memory types, keys of tokens and of hashes."""
    copy_settings(source, target, is_new=is_new)
    if is_new:
        _share_models(source, target)
    rows = source.execute("select is_previous, inner_block, outer_block, set_at from memory.token_keys").fetchall()
    with target.transaction():
        target.execute("delete from memory.token_keys")
        target.cursor().executemany(
            "insert into memory.token_keys (is_previous, inner_block, outer_block, set_at) values (%s, %s, %s, %s)",
            rows,
        )


def _share_models(source: Connection[Any], target: Connection[Any]) -> None:
    """Give a new node the models as they are: those that an installation makes may be off or gone at the source."""
    [[models]] = source.execute("select coalesce(jsonb_agg(to_jsonb(m)), '[]') from memory.models as m")
    with target.transaction():
        target.execute("delete from memory.models where name <> all (%s)", [[model["name"] for model in models]])
        target.execute("update memory.models set is_active = false")
        target.execute(
            "update memory.models as m set settings = r.settings, is_active = r.is_active, is_off = r.is_off"
            " from jsonb_populate_recordset(null::memory.models, %s) as r where r.name = m.name",
            [Jsonb(models)],
        )


def _connected(stack: ExitStack, dsn: str) -> Connection[Any]:
    with connecting(dsn):
        connection = psycopg.connect(dsn, autocommit=True, cursor_factory=cursors_in(named_schema()))
    return stack.enter_context(connection)


def _reached(stack: ExitStack, name: str, dsn: str) -> Connection[Any]:
    """Connect to a node, and have an error name the node."""
    with named(name):
        return _connected(stack, dsn)


def _lock(stack: ExitStack, nodes: Mapping[str, Node]) -> None:
    """Keep other commands out: whoever changes a cluster holds a lock on each node."""
    for name in sorted(nodes):
        connection = nodes[name].connection
        if connection.execute(f"select pg_try_advisory_lock({_LOCK})").fetchone() != (True,):
            raise RetryableError(
                "another command changes this cluster",
                hint="Wait for its end. One that was killed ends within minutes.",
            )
        stack.callback(_unlock, connection)


def _unlock(connection: Connection[Any]) -> None:
    if not connection.closed:
        connection.execute(f"select pg_advisory_unlock({_LOCK})")


def _has_users(connection: Connection[Any]) -> bool:
    return connection.execute(
        "select exists (select from memory.threads) or exists (select from memory.memories)"
        " or exists (select from memory.documents) or exists (select from memory.artifacts)"
    ).fetchone() == (True,)


def _refuse_users_elsewhere(node: Node, cluster: ClusterMap, hint: str) -> None:
    row = node.connection.execute(
        "select u from memory._users_elsewhere(%s, %s, %s) as u limit 1",
        [node.name, list(cluster.partitions), Jsonb(cluster.users)],
    ).fetchone()
    if row is not None:
        raise ConflictError(
            f'user "{row[0]}" is on node "{node.name}", and would belong to node "{cluster.node_of(row[0])}"',
            hint=hint,
        )
