"""Stores of one client alone, which end with it."""

from pathlib import Path

import psycopg
import pytest
from agent_memory import AgentMemoryError, Memory
from agent_memory.embedded import IN_MEMORY, open_store

from tests.embedded.steps import Processes, contents, server_runs
from tests.support.runners import wait_until

pytestmark = pytest.mark.own_server


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.mark.feature("E18")
def test_each_client_has_its_own_and_nothing_is_left(tmp_path: Path, home: Path) -> None:
    with Memory(path=IN_MEMORY) as first, open_store(IN_MEMORY) as store:
        first.add_message("ana", "t", "user", "Hi")
        assert contents(first) == ["Hi"]
        assert store.ensure_running() == store.conninfo
        with psycopg.connect(store.conninfo) as second:
            assert second.execute("select count(*) from memory.messages").fetchone() == (0,)
        folders = list((tmp_path / "tmp").iterdir())
        assert len(folders) == 2
        assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in folders)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (home / ".local").exists()
    with pytest.raises(AgentMemoryError, match="was closed"):
        store.ensure_running()


@pytest.mark.feature("E18")
def test_it_ends_with_the_process(tmp_path: Path, processes: Processes) -> None:
    code = "memory = Memory(path=':memory:'); memory.add_message('ana', 't', 'user', 'Hi')"
    processes.run(code)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_killed_process_leaves_one_that_the_next_opening_removes(
    tmp_path: Path, folder: Path, processes: Processes
) -> None:
    killed = processes.started("memory = Memory(path=':memory:'); print('open', flush=True); time.sleep(60)")
    with Memory(path=IN_MEMORY) as alive:
        [left, other] = (tmp_path / "tmp").iterdir()
        killed.kill()
        killed.wait()
        assert server_runs(left)
        assert server_runs(other)
        with Memory(path=folder):
            assert len(list((tmp_path / "tmp").iterdir())) == 1
        alive.add_message("ana", "t", "user", "Hi")
    wait_until(lambda: list((tmp_path / "tmp").iterdir()) == [])


def test_a_forked_child_has_none(processes: Processes) -> None:
    code = """
        memory = Memory(path=":memory:")
        if not os.fork():
            try:
                memory.version()
            except Exception as error:
                print(type(error).__name__, error.message, flush=True)
            sys.exit()
        os.wait()
        memory.version()
    """
    assert processes.run(code) == (
        "AgentMemoryError a store in memory is its process's own, and this process was forked from it\n"
    )
