"""The cursors of calls. A connection of a client's own pool keeps one for each statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .arguments import DUMPERS
from .function import Function
from .rows import adapt

Kind = TypeVar("Kind")

_MOST = 50
"""How many cursors a connection keeps; one has a few KB."""
_NAME = "_agent_memory_cursors"


def taken_cursor(
    kind: type[Kind],
    connection: Any,
    function: Function,
    query: Any,
    arguments: Mapping[str, Any],
    *,
    is_own: bool,
) -> Kind:
    """Take the cursor that a connection keeps for a statement, or make one.

    A cursor that executes its statement again looks nothing up of how the values are sent and loaded: that took a fifth
    of the client's instructions of a small call (2026-11). The connection does not have the cursor while the call uses
    it, so a call that fails leaves none behind.

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
    cursor: Any = kind(connection, row_factory=function.row_factory)  # type: ignore[call-arg]
    cursor.format = function.format
    adapt(cursor.adapters, map(type, arguments.values()))
    return cursor  # type: ignore[no-any-return]


def keep_cursor(connection: Any, function: Function, query: Any, cursor: Any) -> None:
    """Give a cursor back to its connection, without its arguments and its result, which may be large.

    psycopg has no public way to empty a cursor. A version of psycopg without these methods keeps no cursors.
    """
    kept = vars(connection)[_NAME]
    if len(kept) >= _MOST:
        return
    try:
        cursor._reset()
        cursor._tx.set_pgresult(None)
    except AttributeError:
        return
    kept[function, query] = cursor
