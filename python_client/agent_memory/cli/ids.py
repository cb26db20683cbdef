"""Ids that people shorten: the beginning of an id is enough where a user has one id that begins so."""

from __future__ import annotations

import re
from typing import Literal
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Identifier

from .._text import harmless
from ..client import Memory
from ..errors import InvalidValueError, NotFoundError
from .printing import one_line

_MOST = 10
"""How many candidates an error lists."""


def whole_id(memory: Memory, kind: Literal["memory", "document"], user_id: str, given: str) -> str:
    """Return the id that begins as given; what is no beginning of an id is returned as it is.

    Args:
        memory: a client on a connection.
        kind: what the id names.
        user_id: whose it is.
        given: an id, or four hexadecimal digits of its beginning or more.

    Raises:
        NotFoundError: no id of the user begins so.
        InvalidValueError: several do, or the role may not look for them.
    """
    digits = given.replace("-", "").lower()
    if not re.fullmatch("[0-9a-f]{4,31}", digits):
        return given
    table = {"memory": "memories", "document": "documents"}[kind]
    plural, column = SQL(table), Identifier(f"{kind}_id")
    query = SQL(
        "select {column}, left(content, 60) from memory.{table} where user_id = %s and {column} between %s and %s"
        " order by {column} limit %s"
    ).format(column=column, table=plural)
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    try:
        found = memory._connection.execute(query, [user_id, first, last, _MOST + 1]).fetchall()  # type: ignore[union-attr]
    except psycopg.errors.InsufficientPrivilege:
        raise InvalidValueError(
            f"{kind}_id: this role may not look for ids that begin with {given}", hint="Give the whole id."
        ) from None
    if not found:
        raise NotFoundError(
            f'user "{user_id}" has no {kind} whose id begins with {given}',
            hint=f"Run: agent-memory {table} list {user_id}",
        )
    if len(found) > 1:
        candidates = [f"{id_} ({harmless(one_line(content))})" for id_, content in found[:_MOST]]
        more = ["and others"] if len(found) > _MOST else []
        raise InvalidValueError(
            f"the ids of several {table} begin with {given}", hint="\n  ".join(["Name one of:", *candidates, *more])
        )
    return str(found[0][0])
