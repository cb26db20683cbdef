"""Whether the server serves."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from starlette.requests import Request

from ..calls import AsyncCaller
from ..errors import AgentMemoryError, client_version
from .nodes import ask_nodes
from .operation import Operation
from .problems import ProblemError


@dataclass(frozen=True)
class Health:
    """The answer of a server that serves."""

    status: Literal["ok"]
    version: str


def operation(caller: AsyncCaller) -> Operation:
    """Return the endpoint: 200 where the database answers, or any node of its cluster, else 503."""

    async def ask(connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute("select memory.version()")

    async def look(_request: Request, _query: None, _body: None) -> Health:
        try:
            answers, _ = await ask_nodes(caller, ask)
        except (AgentMemoryError, psycopg.Error, asyncio.TimeoutError):
            answers = {}
        if not answers:
            raise ProblemError(503, "the database does not answer", headers={"Retry-After": "5"})
        return Health("ok", client_version())

    return Operation("GET", "/healthz", "health", "server", "Whether the server and its database serve.", look, Health)
