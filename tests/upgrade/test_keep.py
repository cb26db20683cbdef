"""What "make release" keeps of a version is what the tests of later versions need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.install.upgrades import LATER
from tests.support import releases
from tests.support.installer import install, open_as
from tests.support.servers import INSTALL_SQL, ROOT, Run, Server
from tests.support.sqlapi import Api
from tests.upgrade.fill import ANA
from tests.upgrade.keep import keep_dump, keep_wheel


@pytest.mark.nightly
@pytest.mark.feature("F13")
def test_the_kept_database_of_a_version_is_upgraded(
    server: Server, run: Run, empty_dsn: str, later: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "FOLDER", tmp_path)
    version = keep_wheel(ROOT)
    keep_dump(server, version)
    assert releases.install_script(version) == INSTALL_SQL.read_text()
    run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--file", releases.unpacked(version, tmp_path), empty_dsn)
    install(empty_dsn, later)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.version() == LATER
        assert api.get_messages(**ANA)
