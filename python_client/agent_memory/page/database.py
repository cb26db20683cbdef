"""The database for one request: rows of statements, and notices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import Diagnostic
from psycopg.rows import tuple_row
from typing_extensions import LiteralString

from ..calls import AsyncCaller, Notices, async_fetched, async_translated
from ..calls.rows import column_names
from ..client import AsyncMemory

Row = dict[str, Any]


@dataclass(frozen=True)
class Notice:
    """A notice about a degraded answer, with what helps."""

    text: str
    hint: str | None


@dataclass
class Database:
    """A connection that one request has borrowed.

    Attributes:
        connection: the connection, in autocommit mode.
        notices: what degrades the answers of this request, in the order in which it was said.
    """

    connection: AsyncConnection[Any]
    notices: list[Notice] = field(default_factory=list)

    @property
    def memory(self) -> AsyncMemory:
        """A client on this connection, which embeds queries where the database cannot and does no jobs."""
        return AsyncMemory(self.connection, catch_up_seconds=0)

    async def rows(self, statement: LiteralString, **parameters: Any) -> list[Row]:
        """Return the rows of a statement."""
        cursor = self.connection.cursor(row_factory=tuple_row)
        async with async_translated(self.connection):
            await cursor.execute(statement, parameters)
            rows = await async_fetched(cursor)
        names = column_names(cursor)
        return [dict(zip(names, row, strict=True)) for row in rows]

    async def row(self, statement: LiteralString, **parameters: Any) -> Row | None:
        """Return the first row of a statement, None where there is none."""
        rows = await self.rows(statement, **parameters)
        return rows[0] if rows else None

    def hear(self, diagnostic: Diagnostic) -> None:
        """Keep a notice of the connection about a degraded answer."""
        if (diagnostic.sqlstate or "").startswith("01AM"):
            text = (diagnostic.message_primary or "").removeprefix("degraded: ")
            self.notices.append(Notice(text, diagnostic.message_hint))


@asynccontextmanager
async def borrowed(caller: AsyncCaller, user_id: str | None = None) -> AsyncIterator[Database]:
    """Yield a database for one request: in a cluster the node of a user, without one the node that was named."""
    if user_id is not None:
        caller = await caller.of(user_id)
    async with caller.borrowed(Notices(caller.warned)) as connection:
        database = Database(connection)
        connection.add_notice_handler(database.hear)
        try:
            yield database
        finally:
            connection.remove_notice_handler(database.hear)
