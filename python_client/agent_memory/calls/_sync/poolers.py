# Generated from _async/poolers.py by generate_sync.py; do not edit.
"""Connections through a pooler such as PgBouncer."""

from __future__ import annotations

from typing import Any

from psycopg import Connection


def prepare_nothing_behind_a_pooler(connection: Connection[Any]) -> None:
    """Have a new connection in autocommit mode prepare no statements if a pooler stands between it and the server.

    A pooler in transaction mode that does not know prepared statements, as PgBouncer before 1.21, hands each
    transaction to any of its sessions. All clients number their statements from 0, so a session may have another
    client's statement under the number that this client executes. A pooler gives the process id of no session, because
    it keeps the key that cancels for itself.
    """
    cursor = connection.execute("select pg_catalog.pg_backend_pid()", prepare=False)
    [backend_pid] = cursor.fetchone() or [None]
    if backend_pid != connection.info.backend_pid:
        connection.prepare_threshold = None
