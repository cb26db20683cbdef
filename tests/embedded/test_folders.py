"""Where a store may be, and what is said where none can be."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_memory import AgentMemoryError, AsyncMemory, InvalidValueError, Memory
from agent_memory.embedded import folder as folders
from agent_memory.embedded import open_store
from psycopg.conninfo import conninfo_to_dict

from tests.embedded.steps import Processes, contents

pytestmark = pytest.mark.own_server

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@pytest.mark.parametrize("name", ['größe 記憶 it\'s "$HOME" `x`; a, b', "/".join(["long"] * 60)])
def test_any_name(tmp_path: Path, name: str) -> None:
    with Memory(path=tmp_path / name) as memory:
        memory.add_message("ana", "t", "user", "Hi")
    with Memory(path=str(tmp_path / name)) as memory, open_store(tmp_path / name) as store:
        assert contents(memory) == ["Hi"]
        host = Path(str(conninfo_to_dict(store.conninfo)["host"]))
        if not host.is_relative_to(tmp_path):  # the path of a socket may have 107 bytes
            assert stat.S_IMODE(host.parent.stat().st_mode) == 0o700
    assert host.is_relative_to(tmp_path) or not host.parent.exists()


@pytest.mark.parametrize("client", [Memory, AsyncMemory])
def test_what_is_no_path(client: Callable[..., object], folder: Path) -> None:
    for path in ("", "a\nb", 5):
        with pytest.raises(InvalidValueError, match="path: must"):
            client(path=path)
    with pytest.raises(InvalidValueError, match="path: names an embedded store, but a database is named") as raised:
        client("host=/nonexistent", path=folder)
    assert raised.value.hint
    assert not folder.exists()


@pytest.mark.usefixtures("made")
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
def test_the_users_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    inside = ".local/share/agent-memory" if variable == "HOME" else "agent-memory"
    assert folders.resolved(None) == tmp_path / "elsewhere" / inside


def test_what_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(AgentMemoryError, match=r"is not a folder|Not a directory") as raised:
            Memory(path=path)
        assert "Memory(path=...)" in (raised.value.hint or "")
    with pytest.raises(AgentMemoryError, match="is not a store: there is") as raised:
        Memory(path=tmp_path)
    assert "new, empty or a store" in (raised.value.hint or "")
    assert not (tmp_path / "data").exists()


@needs_root
def test_root_opens_no_folder_to_others(tmp_path: Path) -> None:
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
    with Memory(path=sys.argv[1] or None) as memory:
        memory.add_message("ana", "t", "user", "Hi")
        print(len(memory.get_messages("ana", "t")))
except AgentMemoryError as error:
    print(error.message, error.hint, sep="|")
"""


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every user may enter; those of pytest are closed."""
    with tempfile.TemporaryDirectory(prefix="agent-memory-test-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def as_nobody(open_to_all: Path, home: Path) -> Callable[..., str]:
    """Open a store as another user than root, in a process, and return what it says."""
    # The interpreter of these tests may be in root's home folder.
    interpreter = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    own_home = shutil.copytree(home, open_to_all / "home")
    for path in (own_home, *own_home.rglob("*")):
        shutil.chown(path, "nobody")
    packages = [entry for entry in sys.path if entry and not entry.startswith(sys.base_prefix)]

    def run_python(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [interpreter, *arguments],
            user="nobody",
            group="nogroup",
            extra_groups=[],
            env={**os.environ, "HOME": str(own_home), "PYTHONPATH": os.pathsep.join(packages), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def run(path: Path | None, **environment: str) -> str:
        result = run_python("-c", AS_NOBODY, str(path or ""), **environment)
        assert result.stderr == ""
        return result.stdout.strip()

    if not Path(interpreter).exists() or run_python("-c", "import agent_memory").returncode:
        pytest.skip("no other user can import the package")
    return run


@needs_root
def test_each_user_has_stores_of_ones_own(open_to_all: Path, as_nobody: Callable[..., str]) -> None:
    (open_to_all / "own").mkdir()
    shutil.chown(open_to_all / "own", "nobody")
    assert as_nobody(open_to_all / "own" / "store") == "1"
    (open_to_all / "read-only").mkdir(mode=0o755)
    below = open_to_all / "read-only" / "store"
    message, _, hint = as_nobody(below).partition("|")
    assert message.startswith(f"the store {below} cannot be used: Permission denied; ")
    assert message.endswith("belongs to root")
    assert "AGENT_MEMORY_DSN" in hint
    message, _, hint = as_nobody(None, HOME="/nonexistent").partition("|")
    assert message.startswith("the store /nonexistent/.local/share/agent-memory cannot be used: Permission denied")
    assert "Memory(path=...)" in hint


@needs_root
def test_a_full_disk(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", full], check=False).returncode:
        pytest.skip("this container may not mount")
    try:
        with pytest.raises(AgentMemoryError, match=r"no PostgreSQL data can be made in .*No space left") as raised:
            Memory(path=full / "store")
        assert "Memory(path=...)" in (raised.value.hint or "")
    finally:
        subprocess.run(["umount", full], check=True)
