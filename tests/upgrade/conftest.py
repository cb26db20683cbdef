"""A database of a release as its dump restores it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.releases import dump
from tests.support.servers import Run


@pytest.fixture
def restore(run: Run, empty_dsn: str) -> Callable[[str], str]:
    """Restore the dump of a version into an empty database, and return its connection string."""

    def restored(version: str) -> str:
        run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--file", dump(version), empty_dsn)
        return empty_dsn

    return restored
