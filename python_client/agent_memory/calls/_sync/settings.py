# Generated from _async/settings.py by generate_sync.py; do not edit.
"""Settings that the statements of a call find in their transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection, Cursor


def set_locally(connection: Connection[Any], setting: str, value: str) -> None:
    """Set a setting until the transaction of the connection ends."""
    Cursor(connection).execute("select set_config(%s, %s, true)", [setting, value])


@contextmanager
def carrying(connection: Connection[Any], traceparent: str | None, *, is_alone: bool = False) -> Iterator[None]:
    """Have the jobs that the statements inside make due carry a trace, unless there is none.

    What follows in the transaction may be another user's, and has a trace of its own.

    Args:
        connection: it is in a transaction.
        traceparent: the trace, as W3C Trace Context writes it.
        is_alone: whether nothing follows.
    """
    if traceparent is not None:
        set_locally(connection, "agent_memory.traceparent", traceparent)
    yield
    if traceparent is not None and not is_alone:
        set_locally(connection, "agent_memory.traceparent", "")
