# Generated from _async/sessions.py by generate_sync.py; do not edit.
"""What the session of a call is set up with: nothing prepared behind a pooler, and settings of its transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection, Cursor


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


def set_locally(connection: Connection[Any], setting: str, value: str) -> None:
    """Set a setting until the transaction of the connection ends."""
    Cursor(connection).execute("select set_config(%s, %s, true)", [setting, value])


@contextmanager
def carrying(connection: Connection[Any], traceparent: str | None, *, is_alone: bool = False) -> Iterator[None]:
    """Have the jobs that the statements inside make due carry a trace, as W3C Trace Context writes it, if there is one.

    What follows in the transaction, unless the statements are alone, may be another user's and has a trace of its own.
    """
    if traceparent is not None:
        set_locally(connection, "agent_memory.traceparent", traceparent)
    yield
    if traceparent is not None and not is_alone:
        set_locally(connection, "agent_memory.traceparent", "")
