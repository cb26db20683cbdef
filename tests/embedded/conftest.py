"""Fixtures of the tests of the embedded store, which has a server of its own in the folder of each test."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_memory.embedded import open_store

from tests.embedded.steps import Processes, server_runs
from tests.support.runners import wait_until


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user without settings, a database or an embedding model."""
    home = tmp_path / "home"
    no_model = home / ".cache" / "agent-memory" / "no-model"
    no_model.parent.mkdir(parents=True)
    no_model.touch()
    os.utime(no_model, (time.time() + 3600,) * 2)  # nothing looks for the weights of a model meanwhile
    for variable in [name for name in os.environ if name.startswith(("XDG_", "PG", "AGENT_MEMORY_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a store, which does not exist yet."""
    return tmp_path / "store"


@pytest.fixture
def made(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that is there and closed: a copy, because making one takes two seconds of a whole core."""
    copy = tmp_path_factory.getbasetemp() / "made"
    if not copy.exists():
        open_store(folder).close()
        wait_until(lambda: not server_runs(folder))
        subprocess.run(["cp", "-a", folder, copy], check=True)
    else:
        subprocess.run(["cp", "-a", copy, folder], check=True)
    return folder


@pytest.fixture
def processes(folder: Path) -> Iterator[Processes]:
    """Starts processes of Python; those that are left at the end are killed, and the store's server stopped."""
    processes = Processes(folder)
    yield processes
    processes.end()
