"""Tells clients about errors."""

from __future__ import annotations

import logging

import psycopg
from mcp import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from psycopg_pool import PoolTimeout

from ..errors import (
    AgentMemoryError,
    InvalidValueError,
    NotConnectedError,
    NotFoundError,
    NotInstalledError,
    PermissionDeniedError,
    connecting,
)

logger = logging.getLogger("agent_memory.mcp")

_OPERATORS = (NotConnectedError, NotInstalledError, PermissionDeniedError)
"""Errors whose texts name servers, roles and commands, which help the operator alone."""
_UNAVAILABLE = AgentMemoryError(
    "the memory does not serve at the moment",
    hint="Go on without it, and try again in a few seconds. The log of the server says what is wrong.",
)
_FAILED = AgentMemoryError("the memory failed", hint="Go on without it. The log of the server says what is wrong.")


class Errors:
    """Chooses the words for clients; the log has the details.

    Args:
        conninfo: the connection string of the database, None for an embedded store.
        to_operator: whether the client is the operator's own, who may read names of servers and roles.
    """

    def __init__(self, conninfo: str | None, *, to_operator: bool) -> None:
        self._conninfo = conninfo
        self._to_operator = to_operator

    async def told(self, error: Exception) -> AgentMemoryError:
        """Return the message of an error for clients."""
        if isinstance(error, PoolTimeout) and self._conninfo is not None:
            error = await _reason(self._conninfo) or error
        if isinstance(error, AgentMemoryError):
            if not isinstance(error, _OPERATORS):
                return error
            logger.error("%s", error)
            return error if self._to_operator else _UNAVAILABLE
        if isinstance(error, psycopg.OperationalError):
            logger.error("the database does not serve: %s", error)
            return _UNAVAILABLE
        logger.error("a request failed", exc_info=error)
        return _FAILED

    async def of_protocol(self, error: Exception) -> MCPError:
        """Return an error as the protocol has it, for requests that are no calls of tools."""
        said = await self.told(error)
        is_callers = isinstance(said, (InvalidValueError, NotFoundError))
        data = None if said.hint is None else {"hint": said.hint}
        return MCPError(INVALID_PARAMS if is_callers else INTERNAL_ERROR, str(said), data)


async def _reason(conninfo: str) -> AgentMemoryError | None:
    """Return why no connection can be made, which a pool does not say; None where one can be made now."""
    try:
        with connecting(conninfo):
            connection = await psycopg.AsyncConnection.connect(conninfo, connect_timeout=2)
    except NotConnectedError as error:
        return error
    await connection.close()
    return None
