# Generated from _async/translating.py by generate_sync.py; do not edit.
"""Errors of the SQL API as the exceptions of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus

from ...errors import QUESTIONS, from_psycopg
from ...schema import in_schema, schema_of


@contextmanager
def translated(connection: Connection[Any], function: str | None = None, schema: str | None = None) -> Iterator[None]:
    """Raise the errors of the SQL API as the exceptions of this package; the psycopg error is their ``__cause__``."""
    try:
        yield
    except psycopg.Error as error:
        raise_translated(connection, error, function, schema_of(connection, schema))


def raise_translated(connection: Connection[Any], error: psycopg.Error, function: str | None, schema: str) -> NoReturn:
    translation = from_psycopg(error, connection.info, function, _answer(connection, error, schema), schema)
    if translation is None:
        raise error
    raise translation from error


def _answer(connection: Connection[Any], error: psycopg.Error, schema: str) -> str | None:
    """Ask the server for facts that explain an error, unless the error ended its transaction."""
    question = QUESTIONS.get(error.sqlstate or "")
    if question is None or connection.info.transaction_status != TransactionStatus.IDLE:
        return None
    try:
        [answer] = (Cursor(connection).execute(in_schema(question, schema))).fetchone() or [None]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
        return ""
    except psycopg.Error:
        return None
    return str(answer)
