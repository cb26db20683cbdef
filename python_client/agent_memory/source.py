"""Which database is meant: the one that is named, else that of the environment, else the user's embedded store."""

from __future__ import annotations

import os
from typing import TypeVar

from .errors import InvalidValueError
from .schema import SCHEMA, named_schema

Source = TypeVar("Source")


def named_database(
    source: Source | None, path: str | os.PathLike[str] | None = None, schema: str | None = None
) -> Source | str | None:
    """Return the source, else the environment's AGENT_MEMORY_DSN; None means the embedded store of the path."""
    if path is not None and source is not None:
        raise InvalidValueError(
            "path: names an embedded store, but a database is named as well",
            hint="Pass a connection string, a connection or a pool, or pass a path.",
        )
    named = source if source is not None or path is not None else os.environ.get("AGENT_MEMORY_DSN") or None
    if named is None and (SCHEMA if schema is None and path is not None else named_schema(schema)) != SCHEMA:
        raise InvalidValueError(
            "schema: an embedded store has the schema memory",
            hint="Name a database of a server, with AGENT_MEMORY_DSN or --dsn.",
        )
    return named
