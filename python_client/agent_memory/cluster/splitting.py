"""Splits a node: a streaming standby of it is promoted and serves some of its partitions from then on.

The steps, each of which may be the last one of a command that is killed; the same command goes on from there:

1. The map says that the partitions are being moved, so that no node serves them, and the standby gets that map.
2. The standby is promoted. It takes itself for the node that it was copied from until the next step, but no client
   calls it: no map gives it a user.
3. In one transaction the new node deletes the rows of the users who stay behind, and gets the map that gives it the
   partitions. It serves them from then on.
4. In one transaction the old node deletes the rows of those partitions, and gets the same map; so do the others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from ..calls.nodes import ClusterMap
from ..errors import ConflictError, InvalidValueError, NotFoundError, RetryableError
from ..move.tables import Side
from .moving import delete_copies, deletions
from .nodes import Node, Nodes, Statement

_PATIENCE = 300.0
"""Seconds that a standby may take to replay what its primary has written."""


def split(cluster: Nodes, source_name: str, target_name: str, partitions: Sequence[int] | None = None) -> list[int]:
    """Give partitions of a node to its standby, and return their numbers."""
    cluster.need_all()
    for name in (source_name, target_name):
        if name not in cluster.nodes:
            raise NotFoundError(f'there is no node "{name}"', hint=f"The nodes are {', '.join(cluster.nodes)}.")
    source, target = cluster.nodes[source_name], cluster.nodes[target_name]
    known = cluster.newest
    moving = known.moving_partitions()
    if target.map is not None and target.map.node == target_name:
        if known.partitions.count(target_name) == 0:
            raise InvalidValueError(
                f'node "{target_name}" is no standby of "{source_name}"', hint="Add a streaming standby of the node."
            )
        _give_up(cluster, source, known)  # the command was killed after the third step
        return [place for place, node in enumerate(known.partitions) if node == target_name]
    owned = [place for place, node in enumerate(known.partitions) if node == source_name]
    given = sorted(partitions if partitions is not None else owned[1::2])
    if not given or not set(given) <= set(owned):
        raise InvalidValueError(
            f'node "{source_name}" has the partitions {", ".join(map(str, owned))}', hint="Name some of them."
        )
    if moving & set(owned) not in (set(), set(given)):
        raise InvalidValueError(
            f"{', '.join(map(str, sorted(moving & set(owned))))} is being moved, and not {', '.join(map(str, given))}",
            hint=f"Run the same command again, or take the move back: agent-memory cluster move --to {source_name}.",
        )
    if moving & set(owned):
        others = [name for name in cluster.nodes if name != target_name]
        delete_copies(cluster, others, source_name, lambda user: known.is_in(user, given))
    else:
        cluster.change([source_name], moving=[*known.moving, *map(str, given)])
    if target.is_standby():
        source.wait_for_writers()
        _wait_for_replay(source, target)
        target.connection.execute("select pg_promote(true, 60)")
    target.read_map()
    if target.map is None or target.map.version != cluster.newest.version or target.map.node != source_name:
        raise ConflictError(
            f'node "{target_name}" is no standby of "{source_name}" any more', hint="Add a new standby of the node."
        )
    after = _given(cluster.newest, target_name, given)
    stay = [user_id for user_id in Side(target.connection).users() if after.node_of(user_id) != target_name]
    own_map: Statement = ("delete from memory.cluster_map", [])
    cluster.newest = after
    cluster.write_into(target, [own_map, *deletions(Side(target.connection), stay)])
    _give_up(cluster, source, after)
    return given


def _given(known: ClusterMap, target: str, given: Sequence[int]) -> ClusterMap:
    """Return the map in which the target serves the partitions; users who were moved alone stay where they are."""
    partitions = [target if place in given else node for place, node in enumerate(known.partitions)]
    moving = [each for each in known.moving if each not in set(map(str, given))]
    return replace(known, version=known.version + 1, partitions=partitions, moving=moving)


def _give_up(cluster: Nodes, source: Node, after: ClusterMap) -> None:
    side = Side(source.connection)
    leave = [user_id for user_id in side.users() if after.node_of(user_id) != source.name]
    cluster.write_into(source, deletions(side, leave))
    cluster.write()


def _wait_for_replay(source: Node, target: Node) -> None:
    """Wait until the standby has what its primary has written, the map with the moving partitions included."""
    # What is inserted, because a server with synchronous_commit = off commits before it writes.
    [[written]] = source.connection.execute("select pg_current_wal_insert_lsn()::text")
    replayed = "select coalesce(pg_last_wal_replay_lsn() >= %s::pg_lsn, false)"
    end = time.monotonic() + _PATIENCE
    while target.connection.execute(replayed, [written]).fetchone() != (True,):
        if time.monotonic() > end:
            raise RetryableError(
                f'node "{target.name}" does not keep up with "{source.name}"',
                hint="Look at pg_stat_replication of the primary, then split again: it goes on where it ended.",
            )
        time.sleep(0.1)
