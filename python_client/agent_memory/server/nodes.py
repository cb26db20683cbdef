"""Questions to all nodes of a cluster at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from ..calls import AsyncCaller, Notices
from ..errors import AgentMemoryError

_SECONDS = 5.0
"""Seconds that the answer of a node may take."""
Ask = Callable[[psycopg.AsyncConnection[Any]], Awaitable[Any]]


async def ask_nodes(caller: AsyncCaller, ask: Ask) -> tuple[dict[str, Any], dict[str, Exception]]:
    """Return the answers of all nodes by name, and why others gave none; a single server has the empty name.

    A node that is out of reach, or hangs, holds up no other one.
    """

    async def asked(name: str) -> Any:
        async def answer() -> Any:
            async with (await caller.node(name)).borrowed(Notices(caller.warned)) as connection:
                return await ask(connection)

        return await asyncio.wait_for(answer(), _SECONDS)

    names = await asyncio.wait_for(caller.node_names(), _SECONDS)
    given = await asyncio.gather(*map(asked, names), return_exceptions=True)
    answers: dict[str, Any] = {}
    missing: dict[str, Exception] = {}
    for name, each in zip(names, given, strict=True):
        if isinstance(each, (AgentMemoryError, psycopg.Error, asyncio.TimeoutError)):
            missing[name] = each
        elif isinstance(each, BaseException):
            raise each
        else:
            answers[name] = each
    return answers, missing
