"""Fixtures of the tests of upgrades: later versions of the file, and a role that reads."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.install.upgrades import Build
from tests.support.installer import build_version
from tests.support.servers import Server


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a later version from further files: ``build({path below sql/: text})``."""
    return lambda files: build_version(tmp_path, files)


@pytest.fixture
def reader(server: Server) -> str:
    """A role that may log in, and use the schema of a test's user."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        if not connection.execute("select from pg_roles where rolname = 'reader'").fetchall():
            connection.execute("create role reader login")
    return "reader"
