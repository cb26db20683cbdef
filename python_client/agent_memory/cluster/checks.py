"""What must be the same on all nodes, and how a node that missed a change gets it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, errors, sql
from psycopg.types.json import Jsonb

from ..calls.nodes import user_hash
from ..install import installed_version
from ..move.move import copy_user, copying
from ..move.settings import copy_settings
from ..move.tables import Side
from .moving import delete
from .nodes import Node, Nodes

Rows = dict[str, str]
"""The rows of a table by primary key, both as JSON."""


@dataclass(frozen=True)
class _Shared:
    """A table of which every node has the same rows.

    Attributes:
        table: its name.
        keys: the columns of its primary key.
        own: the columns that may differ: times, names of roles, and what a node finds out by itself.
        condition: which rows are the same.
    """

    table: str
    keys: tuple[str, ...]
    own: tuple[str, ...] = ()
    condition: str = "true"


_SHARED = (
    _Shared("memory_types", ("memory_type",)),
    _Shared("models", ("name",), ("dimensions", "created_at")),
    _Shared("prompt_versions", ("name", "version"), ("changed_by", "changed_at")),
    _Shared("policies", ("user_id", "agent_id"), ("updated_at",), "user_id = ''"),
    _Shared("token_keys", ("is_previous",), ("set_at",)),
    _Shared("bound_roles", ("role_name",), ("bound_at",)),
)


@dataclass(frozen=True)
class Finding:
    """Something that is not as it must be.

    Attributes:
        node: the node.
        what: the name of the check.
        detail: what is wrong.
        is_mended: whether ``repair`` has mended it.
    """

    node: str
    what: str
    detail: str
    is_mended: bool = False


def check(cluster: Nodes, *, repair: bool = False) -> Iterator[Finding]:
    """Compare the nodes of a cluster: versions, maps, users on the wrong node, and what all nodes have in common."""
    for name, problem in cluster.unreachable.items():
        yield Finding(name, "connection", problem)
    versions = {name: installed_version(node.connection) for name, node in cluster.nodes.items()}
    newest = max(versions.values(), key=lambda version: [int(part) for part in version.split(".")])
    for name, version in versions.items():
        if version != newest:
            detail = f"agent_memory {version}, others have {newest}: run agent-memory cluster upgrade"
            yield Finding(name, "version", detail)
    for name, node in cluster.nodes.items():
        yield from _older_map(name, node, cluster, repair)
        # The function that checks users knows the transaction that wrote the map. A server that a dump was restored
        # into may count less, and would read the map's row in each call until it has counted as far.
        if repair and not node.is_standby():
            node.connection.execute("select memory._route_by_map()")
    for name, node in cluster.nodes.items():
        yield from _users_elsewhere(name, node, cluster, repair)
    if cluster.newest.moving:
        detail = f"{', '.join(cluster.newest.moving)} is being moved: run the same agent-memory cluster move again"
        yield Finding("all", "moves", detail)
    yield from _places_of_nobody(cluster, repair)
    for shared in _SHARED:
        yield from _differences(shared, cluster, repair)


def _older_map(name: str, node: Node, cluster: Nodes, repair: bool) -> Iterator[Finding]:
    """Say that a node was restored from a backup, or that a command was killed before it reached the node.

    Such a node may have rows of users who were moved away since. They go first.
    """
    found = node.map.version if node.map else 0
    if found == cluster.newest.version:
        return
    if repair:
        _mend_users(node, cluster, _strays(node, cluster))
        cluster.write_into(node)
    detail = f"has version {found}, the newest is {cluster.newest.version}: it was restored, or a command was killed"
    yield Finding(name, "map", detail, is_mended=repair)


def _users_elsewhere(name: str, node: Node, cluster: Nodes, repair: bool) -> Iterator[Finding]:
    users = _strays(node, cluster)
    if not users:
        return
    left = _mend_users(node, cluster, users) if repair else users
    shown = ", ".join(users[:10]) + (", ..." if len(users) > 10 else "")
    yield Finding(name, "users", f"has rows of users whom other nodes serve: {shown}", is_mended=not left)


def _places_of_nobody(cluster: Nodes, repair: bool) -> Iterator[Finding]:
    """Say that the map names users by their hash of whom nothing is left, as after ``forget_user``.

    Whoever guesses an id finds it by the hash. Their tombstones go along to the node that serves them then.
    """
    known = cluster.newest
    if not known.users or known.moving or cluster.unreachable:
        return
    sides = [Side(cluster.nodes[name].connection) for name in set(known.users.values())]
    gone = known.users.keys() - {user_hash(user_id) for side in sides for user_id in side.users()}
    if not gone:
        return
    if repair:
        for digest in gone:
            proper = known.partitions[int(digest[:8], 16) % len(known.partitions)]
            copy_settings(cluster.nodes[known.users[digest]].connection, cluster.nodes[proper].connection, is_new=False)
        users = {digest: node for digest, node in known.users.items() if digest not in gone}
        cluster.change(sorted({known.users[digest] for digest in gone}), users=users)
    detail = f"has the hashes of {len(gone)} users of whom nothing is stored any more"
    yield Finding("all", "map", detail, is_mended=repair)


def _strays(node: Node, cluster: Nodes) -> list[str]:
    """Return the users who have rows on a node that does not serve them, without copies of a move under way."""
    known = cluster.newest
    rows = node.connection.execute(
        "select distinct u from memory._users_elsewhere(%s, %s, %s) as u order by 1",
        [node.name, list(known.partitions), Jsonb(known.users)],
    ).fetchall()
    partitions = known.moving_partitions()
    return [
        user_id for [user_id] in rows if user_hash(user_id) not in known.moving and not known.is_in(user_id, partitions)
    ]


def _mend_users(node: Node, cluster: Nodes, users: list[str]) -> list[str]:
    """Remove the rows of users whom another node has, or has forgotten; copy the others there before.

    Return those whose node is out of reach, or has rows that differ.
    """
    left, gone = [], []
    for user_id in users:
        proper = cluster.nodes.get(cluster.newest.node_of(user_id))
        if proper is None:
            left.append(user_id)
            continue
        with copying(node.connection, proper.connection) as (here, there):
            # What the proper node has is what its users have seen since; so is that they were forgotten there.
            has_user = there.has_user(user_id) or there.forgotten_at(user_id) > 0
            if has_user or copy_user(here, there, user_id).outcome in ("moved", "present"):
                gone.append(user_id)
            else:
                left.append(user_id)
    delete(Side(node.connection), gone)
    return left


def _differences(shared: _Shared, cluster: Nodes, repair: bool) -> Iterator[Finding]:
    found = {name: _rows(shared, node.connection) for name, node in cluster.nodes.items()}
    digests = {name: json.dumps(rows, sort_keys=True) for name, rows in found.items()}
    [(majority, _), *_] = Counter(digests.values()).most_common()
    model = next(name for name, digest in digests.items() if digest == majority)
    for name, rows in found.items():
        if digests[name] == majority:
            continue
        wrong = sorted(key for key in rows.keys() | found[model].keys() if rows.get(key) != found[model].get(key))
        detail = f"differs from node {model} in {', '.join(wrong[:10])}{', ...' if len(wrong) > 10 else ''}"
        if repair:
            _repair(shared, cluster.nodes[model].connection, cluster.nodes[name].connection, wrong)
        yield Finding(name, shared.table, detail, is_mended=repair)


def _rows(shared: _Shared, connection: Connection[Any]) -> Rows:
    query = sql.SQL("select to_jsonb(t) - {}::text[] from {} as t where ").format(
        sql.Literal(list(shared.own)), sql.Identifier("memory", shared.table)
    ) + sql.SQL(shared.condition)
    rows: Iterator[Mapping[str, Any]] = (row for [row] in connection.execute(query))
    return {_key(shared, row): json.dumps(row, sort_keys=True) for row in rows}


def _key(shared: _Shared, row: Mapping[str, Any]) -> str:
    return "/".join(str(row[column]) for column in shared.keys)


def _repair(shared: _Shared, source: Connection[Any], target: Connection[Any], wrong: list[str]) -> None:
    """Give a node the rows of another one; a row that only the node has goes, unless other rows refer to it."""
    table = sql.Identifier("memory", shared.table)
    whole = sql.SQL("select to_jsonb(t) from {} as t where ").format(table) + sql.SQL(shared.condition)
    wanted = {_key(shared, row): row for [row] in source.execute(whole) if _key(shared, row) in wrong}
    present = {_key(shared, row): row for [row] in target.execute(whole) if _key(shared, row) in wrong}
    is_row = sql.SQL(" and ").join(
        sql.SQL("to_jsonb(t.{0}) = %(row)s -> {1}").format(sql.Identifier(column), sql.Literal(column))
        for column in shared.keys
    )
    with target.transaction():
        for key, row in present.items():
            if key in wanted:
                columns = [column for column in row if column not in (*shared.keys, "dimensions")]
                assignments = sql.SQL(", ").join(
                    sql.SQL("{0} = r.{0}").format(sql.Identifier(column)) for column in columns
                )
                update = sql.SQL("update {0} as t set {1} from jsonb_populate_record(null::{0}, %(new)s) as r where ")
                target.execute(
                    update.format(table, assignments) + is_row, {"new": Jsonb(wanted[key]), "row": Jsonb(row)}
                )
            else:
                try:
                    with target.transaction():
                        target.execute(
                            sql.SQL("delete from {} as t where ").format(table) + is_row, {"row": Jsonb(row)}
                        )
                except errors.ForeignKeyViolation:
                    continue
        for key, row in wanted.items():
            if key not in present:
                insert = sql.SQL("insert into {0} select r.* from jsonb_populate_record(null::{0}, %s) as r").format(
                    table
                )
                target.execute(insert, [Jsonb(row)])
