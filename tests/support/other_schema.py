"""Runs tests in another schema: ``--schema=app_memory``.

Tests are written for schema ``memory``, so the statements on the connections that they open are renamed. What the
product opens is left alone: it must find the schema by AGENT_MEMORY_SCHEMA, and there is no schema ``memory``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import psycopg
import pytest
from agent_memory.schema import async_cursors_in, cursors_in

DIFFERENT = {"test_a_job_whose_input_cannot_be_read_fails_by_itself": "compares a text that names the schema"}
"""Tests that are not true of another schema, and why."""


def skip_different(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that are not true of another schema."""
    for item in items:
        if item.name in DIFFERENT:
            item.add_marker(pytest.mark.skip(reason=DIFFERENT[item.name]))


def use(schema: str) -> None:
    """Have tests use a schema until this process ends."""
    os.environ["AGENT_MEMORY_SCHEMA"] = schema
    for kind, cursors in (
        (psycopg.Connection, cursors_in(schema)),
        (psycopg.AsyncConnection, async_cursors_in(schema)),
    ):
        _rename(kind, cursors)
    psycopg.connect = psycopg.Connection.connect


def _rename(kind: Any, cursors: type[Any]) -> None:
    opened = kind.connect.__func__

    def connect(cls: type[Any], *arguments: Any, **options: Any) -> Any:
        if sys._getframe(1).f_globals["__name__"].partition(".")[0] == "tests":
            options.setdefault("cursor_factory", cursors)
        return opened(cls, *arguments, **options)

    kind.connect = classmethod(connect)
