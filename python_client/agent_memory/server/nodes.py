"""Questions to all nodes of a cluster at the same time, and rows of all of them as those of one server."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
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


def added(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[str], others: Mapping[str, Callable[[Any, Any], Any]] = {}
) -> list[dict[str, Any]]:
    """Make one row of the rows of all nodes that have the same keys, in the order in which these come first.

    Figures are added up, unless ``others`` says how two become one. What is None on a node does not count.
    """
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        known = sums.setdefault(tuple(row[key] for key in keys), {})
        for name, value in row.items():
            if name in keys or known.get(name) is None:
                known[name] = value
            elif value is not None:
                known[name] = others.get(name, operator.add)(known[name], value)
    return list(sums.values())
