"""Where a store may be, and what is said where none can be."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_memory import AgentMemoryError, AsyncMemory, InvalidValueError, Memory
from agent_memory.embedded import folder as folders
from agent_memory.embedded import open_store

from tests.embedded.steps import Processes, contents

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@pytest.mark.parametrize(
    "name", ["with spaces", "größe 記憶", 'it\'s "$HOME" `x`; a, b', "a" * 200, "/".join(["long"] * 60)]
)
def test_any_name(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        with Memory(path=tmp_path / name) as memory:
            memory.add_message("ana", "t", "user", "Hi")
    with Memory(path=str(tmp_path / name)) as memory:
        assert contents(memory) == ["Hi", "Hi"]
        shortcuts = list(Path("/tmp").glob("agent-memory-*/data/postmaster.pid"))
        assert all(shortcut.parent.parent.stat().st_mode & 0o777 == 0o700 for shortcut in shortcuts)


@pytest.mark.parametrize("client", [Memory, AsyncMemory])
@pytest.mark.parametrize("path", ["", "a\0b", "a\nb", b"/tmp/x", 5])
def test_what_is_no_path(client: Callable[..., object], path: object) -> None:
    with pytest.raises(InvalidValueError, match="path: must"):
        client(path=path)


@pytest.mark.parametrize("client", [Memory, AsyncMemory])
def test_a_path_and_a_database(client: Callable[..., object], folder: Path) -> None:
    with pytest.raises(InvalidValueError, match="path: names an embedded store, but a database is named") as raised:
        client("host=/nonexistent", path=folder)
    assert raised.value.hint
    assert not folder.exists()


def test_the_environment_names_a_database(
    folder: Path, home: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(folder) as store:
        monkeypatch.setenv("AGENT_MEMORY_DSN", store.conninfo)
        with Memory() as memory:
            memory.add_message("ana", "t", "user", "Hi")
            # A path is an argument, which goes before the environment.
            with Memory(path=folder.with_name("other")) as other:
                assert contents(other) == []
            assert contents(memory) == ["Hi"]
        code = """
            memory = Memory()
            memory.version()
            import threading
            print(any(thread.name == "agent-memory worker" for thread in threading.enumerate()))
            print("agent_memory.embedded.store" in sys.modules, "platformdirs" in sys.modules)
        """
        assert processes.run(code) == "False\nFalse False\n"
    assert not (home / ".local").exists()


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "HOME"])
def test_the_users_own_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    inside = ".local/share/agent-memory" if variable == "HOME" else "agent-memory"
    assert folders.resolved(None) == tmp_path / "elsewhere" / inside


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(AgentMemoryError, match="is not a folder|Not a directory") as raised:
            Memory(path=path)
        assert "Memory(path=...)" in (raised.value.hint or "")


def test_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("")
    with pytest.raises(AgentMemoryError, match="is not a store: there is") as raised:
        Memory(path=tmp_path)
    assert "new, empty or a store" in (raised.value.hint or "")
    assert not (tmp_path / "data").exists()


def test_a_data_folder_of_postgresql_is_not_a_store(folder: Path) -> None:
    open_store(folder).close()
    with pytest.raises(AgentMemoryError, match="is not a store"):
        Memory(path=folder / "data")


@needs_root
def test_root_opens_no_folder_to_others(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    above = [tmp_path / "closed", *(tmp_path / "closed").parents]
    before = [path.stat().st_mode for path in above]
    with Memory(path=tmp_path / "closed" / "store") as memory:
        memory.add_message("ana", "t", "user", "Hi")
    assert [path.stat().st_mode for path in above] == before
    data = tmp_path / "closed" / "store" / "data"
    assert data.stat().st_uid != 0
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


AS_NOBODY = """
import sys
from agent_memory import AgentMemoryError, Memory
try:
    with Memory(path=sys.argv[1]) as memory:
        memory.add_message("ana", "t", "user", "Hi")
        print(len(memory.get_messages("ana", "t")))
except AgentMemoryError as error:
    print(error.message, error.hint, sep="|")
"""


@pytest.fixture
def as_nobody(tmp_path: Path) -> Callable[[Path], str]:
    """Open a store as another user than root, in a process, and return what it says."""
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == 0 and path != path.parent:
            path.chmod(path.stat().st_mode | 0o011)

    def run(path: Path, **environment: str) -> str:
        result = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, path],
            user="nobody",
            group="nogroup",
            extra_groups=[],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.stderr == ""
        return result.stdout.strip()

    return run


@needs_root
def test_an_unprivileged_user(tmp_path: Path, as_nobody: Callable[..., str]) -> None:
    (tmp_path / "own").mkdir()
    shutil.chown(tmp_path / "own", "nobody")
    path = tmp_path / "own" / "store"
    assert as_nobody(path) == "1"
    # Root's server runs as that user, who can go on with the store afterwards.
    with Memory(path=path) as memory:
        memory.add_message("ana", "t", "user", "Hi from root")
    assert as_nobody(path) == "3"


@needs_root
def test_folders_of_others(tmp_path: Path, as_nobody: Callable[..., str]) -> None:
    with Memory(path=tmp_path / "roots") as memory:
        memory.version()
    (tmp_path / "read-only").mkdir(mode=0o755)
    for path in (tmp_path / "roots", tmp_path / "read-only" / "store"):
        message, _, hint = as_nobody(path).partition("|")
        assert message.startswith(f"the store {path} cannot be used: Permission denied; ")
        assert message.endswith("belongs to root")
        assert "AGENT_MEMORY_DSN" in hint


@needs_root
def test_no_home_folder(tmp_path: Path, as_nobody: Callable[..., str]) -> None:
    assert "/nonexistent" in as_nobody(Path("~/store"), HOME="/nonexistent")


@needs_root
def test_a_full_disk(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", full], check=False).returncode:
        pytest.skip("this container may not mount")
    try:
        with pytest.raises(AgentMemoryError, match="no PostgreSQL data can be made in .*No space left") as raised:
            Memory(path=full / "store")
        assert "Memory(path=...)" in (raised.value.hint or "")
    finally:
        subprocess.run(["umount", full], check=True)
