"""The cursors of calls. A connection of a client's own pool keeps those of calls with short arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from psycopg import AsyncCursor, Cursor

from .arguments import DUMPERS
from .function import Function
from .rows import adapt

Kind = TypeVar("Kind", AsyncCursor[Any], Cursor[Any])

_MOST = 50
"""How many cursors a connection keeps; one has a few KB."""
_SHORT = 1000
"""Characters of an argument, which a kept cursor holds until its next call."""
_NAME = "_agent_memory_cursors"


def taken_cursor(
    kind: type[Kind], connection: Any, function: Function, query: bytes, arguments: Mapping[str, Any], *, is_own: bool
) -> Kind:
    """Take the cursor that a connection keeps for a statement, or make one.

    A cursor that executes its statement again looks nothing up of how values are sent and loaded: to execute and fetch
    a checkpoint took 192,000 instructions in place of 252,000 (2026-11). While a call has the cursor the connection
    does not, so a call that fails leaves none behind.

    Args:
        kind: the class of the cursor.
        connection: the connection.
        function: the function that the statement calls.
        query: the statement.
        arguments: the arguments of the call.
        is_own: whether the connection is of the client's own pool.
    """
    if is_own:
        kept: Kind | None = vars(connection).setdefault(_NAME, {}).pop((function, query), None)
        if kept is not None:
            return kept
        adapt(connection.adapters, DUMPERS)
    # The caller's connection may have another cursor type and row factory.
    cursor = kind(connection, row_factory=function.row_factory)
    cursor.format = function.format
    adapt(cursor.adapters, map(type, arguments.values()))
    return cursor


def keep_cursor(
    cursor: AsyncCursor[Any] | Cursor[Any], function: Function, query: bytes, arguments: Mapping[str, Any]
) -> None:
    """Have a connection keep the cursor of a call that has succeeded, without its result, unless a secret was sent."""
    kept = vars(cursor.connection)[_NAME]
    is_short = function.keys is None and len(kept) < _MOST
    if is_short and all(type(value) is str and len(value) <= _SHORT for value in arguments.values()):
        assert cursor.pgresult is not None
        cursor.pgresult.clear()
        kept[function, query] = cursor
