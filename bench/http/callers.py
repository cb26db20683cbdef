"""Callers that ask the same of the database, over HTTP and in SQL, so many of them at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

Call = Callable[[int], Awaitable[None]]
"""Makes the call of a number; different numbers are of different users."""
Arguments = Callable[[int], dict[str, Any]]
"""The arguments of a call, without the user."""


async def times(call: Call, in_flight: int, calls: int) -> list[float]:
    """Milliseconds of each call, with so many callers that call one time after another."""
    taken: list[float] = []
    numbers = iter(range(calls))

    async def caller() -> None:
        for number in numbers:
            started = time.perf_counter()
            await call(number)
            taken.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(caller() for _ in range(in_flight)))
    return taken


def in_sql(pool: AsyncConnectionPool[Any], function: str, arguments: Arguments, user: Callable[[int], str]) -> Call:
    """The function called in SQL on a pool."""

    async def call(number: int) -> None:
        given = {"user_id": user(number), **arguments(number)}
        names = sql.SQL(", ").join(sql.SQL("{} => {}").format(sql.Identifier(n), sql.Placeholder(n)) for n in given)
        statement = sql.SQL("select * from {}({})").format(sql.Identifier("memory", function), names)
        sent = {name: Jsonb(value) if isinstance(value, dict) else value for name, value in given.items()}
        async with pool.connection() as connection:
            await (await connection.execute(statement, sent)).fetchall()

    return call


class Connections:
    """Connections of HTTP/1.1 that are kept; the least that a client can do, so that the server is what is measured.

    Args:
        host: the server's host.
        port: the server's port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._where = (host, port)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    def over_http(self, function: str, arguments: Arguments, token: Callable[[int], str]) -> Call:
        """The function called over HTTP."""

        async def call(number: int) -> None:
            body = json.dumps(arguments(number)).encode()
            head = (
                f"POST /v1/{function} HTTP/1.1\r\nHost: {self._where[0]}\r\nAuthorization: Bearer {token(number)}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._where)
            writer.write(head.encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(line for line in answer.lower().split("\r\n") if line.startswith("content-length:"))
            content = await reader.readexactly(int(length.partition(":")[2]))
            assert answer.startswith("HTTP/1.1 200"), content
            self._idle.append((reader, writer))

        return call

    def close(self) -> None:
        """Close all."""
        while self._idle:
            self._idle.pop()[1].close()
