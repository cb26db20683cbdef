"""The statement that calls one SQL function, for both clients."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from psycopg import sql

from ..schema import SCHEMA

if TYPE_CHECKING:
    from typing_extensions import LiteralString


@lru_cache(maxsize=512)
def statement(verb: LiteralString, function: str, names: tuple[str, ...], schema: str = SCHEMA) -> bytes:
    """Compose e.g. ``select * from memory.sweep(batch_size => %(batch_size)s)`` of "select * from", "sweep", ...."""
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    call = sql.SQL("{} {}({})").format(sql.SQL(verb), sql.Identifier(schema, function), arguments)
    return call.as_bytes(None)
