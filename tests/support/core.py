"""Runs tests of the core's rooms in an installation without the add-ons: ``--core``.

A test that calls a function of an add-on, or reads a table of one, is skipped when it meets that. No file of the core
does so (tests/lint/lint_rooms.py). NEEDS has the tests that need an add-on otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import psycopg
import pytest

from tests.support import rooms

TESTS = rooms.SQL.parent / "tests"
FOLDERS = (
    "audit",
    "changes",
    "context",
    "documents",
    "embeddings",
    "erasure",
    "kinds",
    "memories",
    "messages",
    "models",
    "policy",
    "queue",
    "search",
    "summaries",
    "values",
)
"""The folders of the core's rooms."""
NEEDS: dict[str, str] = {}
"""Tests and modules of these folders that need an add-on, and which."""
MADE = re.compile(r"^create (?:or replace )?(?:function|procedure|view|table|type) memory\.(\w+)", re.MULTILINE)


def of(paths: Iterable[Path]) -> set[str]:
    """What these files make."""
    return {name for path in paths for name in MADE.findall(path.read_text(encoding="utf-8"))}


IN_CORE = {path for path in rooms.files("*.sql") if path.is_relative_to(rooms.SQL / "core")}
OF_ADDONS = of({*rooms.files("*.sql")} - IN_CORE) - of(IN_CORE)
"""Functions, tables and types that only add-ons make."""


def is_outside(path: Path) -> bool:
    """Whether a module of tests belongs to no room of the core."""
    return path.relative_to(TESTS).parts[0] not in FOLDERS


def skip_others(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that need an add-on."""
    for item in items:
        for name in (item.path.relative_to(TESTS).as_posix(), item.name.partition("[")[0]):
            if name in NEEDS:
                item.add_marker(pytest.mark.skip(reason=f"needs the add-on {NEEDS[name]}"))


def is_of_an_addon(error: BaseException) -> bool:
    """Whether a call failed because the core does not have this function, table or type."""
    missing = (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedObject)
    return isinstance(error, missing) and bool(set(re.findall(r"\bmemory\.(\w+)", str(error))) & OF_ADDONS)
