"""Installs the SQL file that is shipped with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import psycopg
from psycopg.sql import Identifier

from .errors import PermissionDeniedError


def sql_file() -> bytes:
    """Return the SQL file that ``install`` executes."""
    return files(__package__).joinpath("agent_memory.sql").read_bytes()


def install(connection: psycopg.Connection[Any]) -> None:
    """Install agent_memory, or upgrade what is there; doing it again changes nothing.

    Args:
        connection: in autocommit mode, since the file is a transaction of its own.

    Raises:
        PermissionDeniedError: the role may not create the schema.
        psycopg.Error: it cannot be installed for another reason, which the message says. Nothing was changed.
    """
    try:
        connection.execute(sql_file())
    except psycopg.errors.InsufficientPrivilege as error:
        if error.diag.message_hint is not None:
            raise
        database, role = (Identifier(name).as_string(None) for name in (connection.info.dbname, connection.info.user))
        raise PermissionDeniedError(
            error.diag.message_primary or str(error),
            hint=f"Connect as the owner of the database, who may also: grant create on database {database} to {role}",
        ) from error
