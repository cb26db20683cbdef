"""Installs the SQL file that is shipped with the package."""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import Any

import psycopg
from psycopg.sql import Identifier

from .errors import PermissionDeniedError


def sql_file() -> bytes:
    """Return the SQL file that ``install`` executes."""
    return files(__package__).joinpath("agent_memory.sql").read_bytes()


def roles_file() -> str:
    """Return the SQL file that ``create_roles`` executes."""
    return files(__package__).joinpath("agent_memory_roles.sql").read_text()


def create_roles(connection: psycopg.Connection[Any]) -> None:
    """Create the roles of agent_memory that are missing, for an owner of schema memory who may not create roles.

    Args:
        connection: in autocommit mode, of a role with CREATEROLE.

    Raises:
        psycopg.errors.InsufficientPrivilege: the role may not create roles.
    """
    connection.execute(roles_file().encode())


def install(connection: psycopg.Connection[Any]) -> None:
    """Install agent_memory, or upgrade what is there; doing it again changes nothing.

    Args:
        connection: in autocommit mode, since the file is a transaction of its own.

    Raises:
        PermissionDeniedError: the role may not create the schema.
        psycopg.Error: it cannot be installed for another reason, which the message says. Nothing was changed.
    """
    try:
        execute(connection, sql_file())
    except psycopg.errors.InsufficientPrivilege as error:
        if error.diag.message_hint is not None:
            raise
        database, role = (Identifier(name).as_string(None) for name in (connection.info.dbname, connection.info.user))
        raise PermissionDeniedError(
            error.diag.message_primary or str(error),
            hint=f"Connect as the owner of the database, who may also: grant create on database {database} to {role}",
        ) from error


def execute(connection: psycopg.Connection[Any], script: bytes) -> None:
    """Run an install file. If it fails, take away the doors that its first transaction has put before the functions."""
    try:
        connection.execute(script)
    except psycopg.Error:
        with suppress(psycopg.Error):  # without a connection the doors stay, which harms nobody
            connection.rollback()
            if connection.execute("select to_regprocedure('memory._door()')").fetchone() != (None,):
                connection.execute("call memory._door()")
        raise
