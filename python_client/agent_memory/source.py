"""Which database is meant: the one that is named, else that of the environment, else the user's embedded store."""

from __future__ import annotations

import os
from typing import TypeVar

from .errors import InvalidValueError

Source = TypeVar("Source")


def named_database(source: Source | None, path: str | os.PathLike[str] | None = None) -> Source | str | None:
    """Return the source, else the environment's AGENT_MEMORY_DSN; None means the embedded store of the path.

    Raises:
        InvalidValueError: both a source and a path are named.
    """
    if path is not None:
        if source is not None:
            raise InvalidValueError(
                "path: names an embedded store, but a database is named as well",
                hint="Pass a connection string, a connection or a pool, or pass a path.",
            )
        return None
    if source is not None:
        return source
    return os.environ.get("AGENT_MEMORY_DSN") or None
