"""The statement that calls one SQL function, and its result rows, for both clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.types.datetime import TimestamptzLoader

from ..errors import NotInstalledError, client_version

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Row = TypeVar("Row")


class TimeLoader(TimestamptzLoader):
    """Loads a time that datetime cannot hold, before the year 1 or after 9999, as None: one such row breaks no list."""

    def load(self, data: Buffer) -> datetime | None:  # type: ignore[override]
        """Return the time, or None."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return None


@lru_cache(maxsize=512)
def statement(verb: LiteralString, function: str, names: tuple[str, ...]) -> bytes:
    """Compose e.g. ``select * from memory.sweep(batch_size => %(batch_size)s)`` of "select * from", "sweep", ...."""
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    call = sql.SQL("{} {}({})").format(sql.SQL(verb), sql.Identifier("memory", function), arguments)
    return call.as_bytes(None)


def records(row_type: type[Row], rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Turn result rows into dataclasses. A column that a newer database added is ignored.

    Raises:
        NotInstalledError: a column is missing, because an older agent_memory is installed.
    """
    names = [field.name for field in fields(row_type)]  # type: ignore[arg-type]
    if rows and (missing := [name for name in names if name not in rows[0]]):
        raise NotInstalledError(
            f"the agent_memory in this database is older than this client, {client_version()}:"
            f" a {row_type.__name__} lacks {', '.join(missing)}",
            hint="Run: agent-memory install",
        )
    return [row_type(**{name: row[name] for name in names}) for row in rows]
