"""Errors of the SQL API as the exceptions of this package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.pq import TransactionStatus

from ...errors import QUESTIONS, from_psycopg
from ...schema import in_schema, schema_of


@asynccontextmanager
async def async_translated(
    connection: AsyncConnection[Any], function: str | None = None, schema: str | None = None
) -> AsyncIterator[None]:
    """Raise the errors of the SQL API as the exceptions of this package; the psycopg error is their ``__cause__``."""
    try:
        yield
    except psycopg.Error as error:
        await async_raise_translated(connection, error, function, schema_of(connection, schema))


async def async_raise_translated(
    connection: AsyncConnection[Any], error: psycopg.Error, function: str | None, schema: str
) -> NoReturn:
    translation = from_psycopg(error, connection.info, function, await _answer(connection, error, schema), schema)
    if translation is None:
        raise error
    raise translation from error


async def _answer(connection: AsyncConnection[Any], error: psycopg.Error, schema: str) -> str | None:
    """Ask the server for facts that explain an error, unless the error ended its transaction."""
    question = QUESTIONS.get(error.sqlstate or "")
    if question is None or connection.info.transaction_status != TransactionStatus.IDLE:
        return None
    try:
        [answer] = await (await AsyncCursor(connection).execute(in_schema(question, schema))).fetchone() or [None]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
        return ""
    except psycopg.Error:
        return None
    return str(answer)
