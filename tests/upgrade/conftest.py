"""Filled databases of what can be upgraded: this version, to an altered one, and each release, to this version."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.install.upgrades import Build, altered
from tests.support.installer import build_version, execute, install, open_as
from tests.support.releases import RELEASES, unpacked
from tests.support.servers import Run
from tests.support.sqlapi import Api
from tests.upgrade.fill import fill


@dataclass(frozen=True)
class Upgrade:
    """A database to upgrade, and another one for a new installation of the version to which it is upgraded."""

    old: str
    new: str
    file: str | None
    """The install file; None is that of this version, which ``new`` has already."""

    def run(self) -> None:
        install(self.old, self.file)

    def install_anew(self) -> None:
        if self.file:
            execute(self.new, "create extension vector")
            install(self.new, self.file)


@pytest.fixture(scope="session")
def later(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The install file of an altered version."""
    return build_version(tmp_path_factory.mktemp("later"), altered())


@pytest.fixture(params=["this version", *RELEASES])
def upgrade(request: pytest.FixtureRequest, run: Run, dsn: str, empty_dsn: str, later: str, tmp_path: Path) -> Upgrade:
    if request.param in RELEASES:
        run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--file", unpacked(request.param, tmp_path), empty_dsn)
        return Upgrade(old=empty_dsn, new=dsn, file=None)
    with open_as(dsn) as connection:
        fill(Api(connection))
    return Upgrade(old=dsn, new=empty_dsn, file=later)


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a later version from further files: ``build({path below sql/: text})``."""
    return lambda files: build_version(tmp_path, files)
