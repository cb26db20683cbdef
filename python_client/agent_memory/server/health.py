"""Whether the server serves."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from starlette.requests import Request

from ..errors import client_version
from .operation import Operation
from .problems import ProblemError

_PATIENCE = 5.0
"""Seconds within which the database has to answer."""


@dataclass(frozen=True)
class Health:
    """The answer of a server that serves."""

    status: Literal["ok"]
    version: str


def operation(pool: AsyncConnectionPool[Any]) -> Operation:
    """Return the endpoint: 200 where the database answers, else 503."""

    async def ask() -> None:
        async with pool.connection(timeout=_PATIENCE) as connection:
            await connection.execute("select memory.version()")

    async def look(_request: Request, _query: None, _body: None) -> Health:
        try:
            await asyncio.wait_for(ask(), _PATIENCE)
        except (psycopg.Error, PoolTimeout, asyncio.TimeoutError):
            raise ProblemError(503, "the database does not answer", headers={"Retry-After": "5"}) from None
        return Health("ok", client_version())

    return Operation("GET", "/healthz", "health", "server", "Whether the server and its database serve.", look, Health)
