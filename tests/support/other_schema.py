"""Runs tests in another schema: ``--schema=app_memory``.

Tests are written for schema ``memory``, so the statements on the connections that they open are renamed. What the
product opens is left alone: it must find the schema by AGENT_MEMORY_SCHEMA, and there is no schema ``memory``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import psycopg
from agent_memory.schema import async_cursors_in, cursors_in


def use(schema: str) -> None:
    """Have tests use a schema until this process ends."""
    os.environ["AGENT_MEMORY_SCHEMA"] = schema
    for kind, cursors in (
        (psycopg.Connection, cursors_in(schema)),
        (psycopg.AsyncConnection, async_cursors_in(schema)),
    ):
        _rename(kind, cursors)
    psycopg.connect = psycopg.Connection.connect  # type: ignore[method-assign]


def _rename(kind: Any, cursors: type[Any]) -> None:
    opened = kind.connect.__func__

    def connect(cls: type[Any], *arguments: Any, **options: Any) -> Any:
        if sys._getframe(1).f_globals["__name__"].partition(".")[0] == "tests":
            options.setdefault("cursor_factory", cursors)
        return opened(cls, *arguments, **options)

    kind.connect = classmethod(connect)
