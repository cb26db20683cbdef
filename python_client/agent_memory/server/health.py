"""Whether the server serves."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from fastapi import APIRouter

from ..calls import AsyncCaller
from ..errors import AgentMemoryError, client_version
from .nodes import ask_nodes
from .problems import ProblemError


@dataclass(frozen=True)
class Health:
    """The answer of a server that serves."""

    status: Literal["ok"]
    version: str


def add_endpoint(router: APIRouter, caller: AsyncCaller) -> None:
    """Add the endpoint: 200 where the database answers, or any node of its cluster, else 503."""

    async def ask(connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute("select memory.version()")

    @router.get("/healthz", tags=["server"])
    async def health() -> Health:
        """Whether the server and its database serve."""
        try:
            answers, _ = await ask_nodes(caller, ask)
        except (AgentMemoryError, psycopg.Error, asyncio.TimeoutError):
            answers = {}
        if not answers:
            raise ProblemError(503, "the database does not answer", headers={"Retry-After": "5"})
        return Health("ok", client_version())
