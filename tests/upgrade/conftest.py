"""A database of a release as its dump restores it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.install.upgrades import Build
from tests.support.installer import build_version
from tests.support.releases import dump
from tests.support.servers import Run


@pytest.fixture
def restore(run: Run, empty_dsn: str) -> Callable[[str], str]:
    """Restore the dump of a version into an empty database, and return its connection string."""

    def restored(version: str) -> str:
        run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--file", dump(version), empty_dsn)
        return empty_dsn

    return restored


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a later version from further files: ``build({path below sql/: text})``."""
    return lambda files: build_version(tmp_path, files)
