"""Moves of users between the nodes of a cluster."""

from __future__ import annotations


def move_user_to(dsn: str, user_id: str, other_id: str) -> None:
    """Move a user to the node of another one."""
    # Few programs move users, and these modules take a third of the client's time to import.
    from ..cluster import nodes
    from ..cluster.moving import move_user

    with nodes.opened(dsn) as cluster:
        move_user(cluster, user_id, cluster.newest.node_of(other_id))
