"""Moves partitions and users between the nodes of a cluster while others work.

The steps, each of which may be the last one of a command that is killed; the same command goes on from there:

1. The map says that the users are being moved, first on the source. From then on no node serves them: their calls are
   refused with an error to retry (55P03). The command waits for the transactions that write at that moment.
2. The target gets their rows, compared with the source, and serves nobody of them.
3. In one transaction the source deletes the rows and gets the map that gives the users to the target.
4. The target and the other nodes get that map.

So there is no moment at which two nodes serve a user, and none at which no node has the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from psycopg import sql

from ..calls.nodes import partition_of, user_hash
from ..errors import ConflictError, InvalidValueError, NotFoundError
from ..move.move import copy_user, copying
from ..move.settings import copy_settings
from ..move.tables import Side
from .nodes import Nodes, Statement

Report = Callable[[str, int, int], None]
"""Is told the user, how many users are copied, and how many there are."""


def move_partition(cluster: Nodes, partition: int, target: str, report: Report | None = None) -> int:
    """Move the users of a partition to another node, and return how many there were.

    To the node that serves them: a move that was broken off is taken back, also while other nodes are out of reach.
    """
    known = cluster.newest
    if not 0 <= partition < len(known.partitions):
        raise InvalidValueError(
            f"there is no partition {partition}", hint=f"Partitions are numbered from 0 to {len(known.partitions) - 1}."
        )
    _check_node(cluster, target)
    source = known.partitions[partition]

    def belongs(user_id: str) -> bool:
        return known.is_in(user_id, [partition])

    if source == target:
        return _stay(cluster, str(partition), source, belongs)
    partitions = [target if place == partition else node for place, node in enumerate(known.partitions)]
    return _move(cluster, str(partition), source, target, belongs, report, partitions=partitions)


def move_user(cluster: Nodes, user_id: str, target: str, report: Report | None = None) -> int:
    """Move one user to another node; the map names the user from then on. Return 0 where the user is there already."""
    known = cluster.newest
    _check_node(cluster, target)
    source, digest = known.node_of(user_id), user_hash(user_id)
    if source == target:
        return _stay(cluster, digest, source, lambda found: found == user_id)
    users = {key: node for key, node in known.users.items() if key != digest}
    if known.partitions[partition_of(user_id, len(known.partitions))] != target:
        users[digest] = target
    return _move(cluster, digest, source, target, lambda found: found == user_id, report, users=users)


def _check_node(cluster: Nodes, name: str) -> None:
    if name not in cluster.newest.nodes:
        raise NotFoundError(f'there is no node "{name}"', hint=f"The nodes are {', '.join(cluster.newest.nodes)}.")


def _stay(cluster: Nodes, what: str, source_name: str, belongs: Callable[[str], bool]) -> int:
    """Take a move back that was broken off: the source serves the users again. A node out of reach keeps its copies."""
    if what in cluster.newest.moving:
        delete_copies(cluster, cluster.nodes, source_name, belongs)
        cluster.change([source_name], moving=[each for each in cluster.newest.moving if each != what])
    return 0


def delete_copies(cluster: Nodes, names: Iterable[str], source_name: str, belongs: Callable[[str], bool]) -> None:
    """Remove from nodes what moves that were broken off have copied; the source alone has the rows that count."""
    for name in names:
        node = cluster.nodes[name]
        if name != source_name and node.map is not None and not node.is_standby():
            side = Side(node.connection)
            delete(side, [user_id for user_id in side.users() if belongs(user_id)])


def _move(
    cluster: Nodes,
    what: str,
    source_name: str,
    target_name: str,
    belongs: Callable[[str], bool],
    report: Report | None,
    **changes: Any,
) -> int:
    cluster.need_all()
    source, target = cluster.nodes[source_name], cluster.nodes[target_name]
    is_resumed = what in cluster.newest.moving
    if not is_resumed:
        cluster.change([source_name], moving=[*cluster.newest.moving, what])
    source.wait_for_writers()
    with copying(source.connection, target.connection) as (from_side, to_side):
        users = [user_id for user_id in from_side.users() if belongs(user_id)]
        # One that was broken off may have had another target.
        delete_copies(cluster, cluster.nodes if is_resumed else [target_name], source_name, belongs)
        copy_settings(source.connection, target.connection, is_new=False)
        for number, user_id in enumerate(users):
            if report is not None:
                report(user_id, number, len(users))
            moved = copy_user(from_side, to_side, user_id)
            if moved.outcome != "moved":
                raise ConflictError(
                    f'user "{user_id}" was not copied: {moved.problem}', hint="Nothing was deleted. Move again."
                )
        moving = [each for each in cluster.newest.moving if each != what]
        cluster.newest = replace(cluster.newest, version=cluster.newest.version + 1, moving=moving, **changes)
        cluster.write_into(source, deletions(from_side, users))
    cluster.write([target_name])
    return len(users)


def deletions(side: Side, users: Sequence[str]) -> list[Statement]:
    """Return the statements that remove the rows of users without a trace: they live on, on another node."""
    let_pass: Statement = ("select set_config('memory.rows_are_copied', 'yes', true)", [])
    tables = [table.name for table in reversed(side.tables)] + ["moved_users", "new_changes", "changes"]
    return [let_pass] + [
        (sql.SQL("delete from {} where user_id = any (%s)").format(sql.Identifier("memory", name)), [list(users)])
        for name in tables
    ]


def delete(side: Side, users: Sequence[str]) -> None:
    """Remove the rows of users from a node that does not serve them."""
    with side.connection.transaction():
        for statement, arguments in deletions(side, users) if users else []:
            side.connection.execute(statement, arguments)
