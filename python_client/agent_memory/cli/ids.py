"""Ids that people shorten: the first or last digits are enough where a user has one id that begins or ends so.

Ids begin with the time, so those of one conversation begin alike and end differently.
"""

from __future__ import annotations

import re
import shlex
from typing import Literal
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Identifier

from .._text import harmless
from ..calls import Notices
from ..client import Memory
from ..errors import InvalidValueError, NotFoundError
from .printing import one_line

_MOST = 10
"""How many candidates an error lists."""


def whole_id(memory: Memory, kind: Literal["memory", "document"], user_id: str, given: str) -> str:
    """Return the id that begins or ends as given; a whole id is returned as it is.

    Args:
        memory: a client on a connection.
        kind: what the id names.
        user_id: whose it is.
        given: an id, or its first or last hexadecimal digits, four at least.

    Raises:
        NotFoundError: no id of the user begins or ends so.
        InvalidValueError: several do, it is no part of an id, or the role may not look for ids.
    """
    digits = given.replace("-", "").lower()
    if re.fullmatch("[0-9a-f]{32}", digits):
        return given
    table = {"memory": "memories", "document": "documents"}[kind]
    help_ = f"Name the id, or its first or last digits, four at least: agent-memory {table} {shlex.quote(user_id)}"
    if not re.fullmatch("[0-9a-f]{4,31}", digits):
        raise InvalidValueError(f"{kind}_id is not a UUID: {given}", hint=help_)
    plural, column = SQL(table), Identifier(f"{kind}_id")
    query = SQL(
        "select {column}, left(content, 60) from memory.{table} where user_id = %s"
        " and ({column} between %s and %s or replace({column}::text, '-', '') like %s) order by {column} limit %s"
    ).format(column=column, table=plural)
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    values = [user_id, first, last, f"%{digits}", _MOST + 1]
    try:
        with memory.caller.borrowed(Notices(set())) as connection:
            found = connection.execute(query, values).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        raise InvalidValueError(
            f"{kind}_id: this role may not look for an id by a part of it ({given})", hint="Give the whole id."
        ) from None
    if not found:
        raise NotFoundError(f'user "{user_id}" has no {kind} whose id begins or ends with {given}', hint=help_)
    if len(found) > 1:
        candidates = [f"{id_} ({harmless(one_line(content))})" for id_, content in found[:_MOST]]
        more = ["and others"] if len(found) > _MOST else []
        raise InvalidValueError(
            f"the ids of several {table} begin or end with {given}",
            hint="\n  ".join(["Name one of:", *candidates, *more]),
        )
    return str(found[0][0])
