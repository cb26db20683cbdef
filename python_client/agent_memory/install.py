"""Installs the SQL file that is shipped with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import psycopg


def install(connection: psycopg.Connection[Any]) -> None:
    """Install agent_memory, or upgrade what is there; doing it again changes nothing.

    Args:
        connection: in autocommit mode, since the file is a transaction of its own.

    Raises:
        psycopg.Error: it cannot be installed; the message says why and nothing was changed.
    """
    connection.execute(files(__package__).joinpath("agent_memory.sql").read_bytes())
