"""Other accounts of a machine: what they put into a store's folder, and what they reach of its server."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from agent_memory import AgentMemoryError, Memory
from agent_memory._files import UnsafeFileError
from agent_memory.embedded import folder as folders
from agent_memory.embedded import open_store

from tests.embedded.steps import contents, kill_server, server_pid, server_runs
from tests.support.runners import wait_until

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.feature("F18"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user"),
]

CONNECT = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.sendall(bytes.fromhex("0000002900030000") + b"user\\0postgres\\0database\\0postgres\\0\\0")
print(connection.recv(5)[:1] + connection.recv(4096))
"""


def as_user(name: str, *command: str, folder: Path = Path("/")) -> "subprocess.CompletedProcess[str]":
    ids = ["--reuid", name, "--regid", "nogroup", "--clear-groups"]
    return subprocess.run(["setpriv", *ids, *command], cwd=folder, capture_output=True, text=True, check=False)


def make_as(name: str, folder: Path, mode: int = 0o700) -> Path:
    folder.mkdir()
    folder.chmod(mode)
    shutil.chown(folder, name)
    return folder


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter; those of pytest are closed."""
    path = Path("/tmp") / f"agent-memory-test-{os.urandom(8).hex()}"
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_root_opens_no_file_that_was_put_there(shared: Path, kind: str) -> None:
    secret = shared / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)
    store = make_as("root", shared / "store")
    make: Any = {"link": Path.symlink_to, "hard link": Path.hardlink_to, "pipe": lambda file, _: os.mkfifo(file)}[kind]
    make(store / "gate", secret)
    with pytest.raises(UnsafeFileError, match="gate"):
        Memory(path=store)
    found = secret.stat()
    assert (found.st_uid, found.st_mode & 0o777, secret.read_text()) == (0, 0o600, "of root")


def test_what_a_link_leads_to_is_left_alone(shared: Path) -> None:
    elsewhere = make_as("root", shared / "elsewhere", 0o755)
    (elsewhere / "PG_VERSION").write_text("18\n")
    (elsewhere / "postmaster.pid").write_text("1\n")
    store = make_as("root", shared / "store")
    (store / "data").symlink_to(elsewhere)
    with pytest.raises(UnsafeFileError, match="data is not a folder"):
        Memory(path=store)
    (shared / "swapped").symlink_to(elsewhere)
    with pytest.raises(UnsafeFileError, match="swapped is not a folder"):
        folders.make(shared / "swapped")
    assert (elsewhere / "postmaster.pid").exists()
    assert (elsewhere.stat().st_uid, stat.S_IMODE(elsewhere.stat().st_mode)) == (0, 0o755)


def test_a_folder_of_somebody_else_is_refused(shared: Path) -> None:
    store = make_as("daemon", shared / "store", 0o777)
    with pytest.raises(UnsafeFileError, match="belongs to daemon") as raised:
        folders.make(store)
    assert "a folder of your own" in (raised.value.hint or "")


def test_a_folder_of_ones_own_is_closed_to_others(shared: Path) -> None:
    store = shared / "store"
    store.mkdir()
    store.chmod(0o777)
    folders.make(store)
    assert stat.S_IMODE(store.stat().st_mode) == 0o700


def test_root_enters_no_folder_that_others_can_replace(shared: Path) -> None:
    open_to_all = make_as("root", shared / "open", 0o777)
    with pytest.raises(UnsafeFileError, match="everybody may write to") as raised:
        folders.make(open_to_all / "store")
    assert f"chmod o-w {open_to_all}" in (raised.value.hint or "")
    of_group = make_as("root", shared / "group", 0o2775)
    shutil.chown(of_group, group="nogroup")
    (of_group / "store").mkdir()  # of the same group
    with pytest.raises(UnsafeFileError, match="its group may write to") as raised:
        folders.make(of_group / "store")
    assert f"chmod g-w {of_group}" in (raised.value.hint or "")
    theirs = make_as("daemon", shared / "theirs", 0o755)
    (theirs / "store").mkdir()
    with pytest.raises(UnsafeFileError, match="belongs to daemon, who could put another folder"):
        folders.make(theirs / "store")


def test_root_enters_folders_that_only_trusted_groups_can_change(shared: Path) -> None:
    for group, mode in (("root", 0o775), ("nogroup", 0o1775)):
        parent = make_as("root", shared / group, mode)
        shutil.chown(parent, group=group)
        parent.chmod(mode)
        folders.make(parent / "store")


def test_no_hint_tells_anybody_to_remove_data(shared: Path) -> None:
    store = shared / "store"
    with Memory(path=store):
        pass
    wait_until(lambda: not server_runs(store))
    data = store / "data"
    shutil.chown(data, "nobody", "nogroup")
    (data / "pg_wal").rename(shared / "pg_wal")
    (data / "pg_wal").symlink_to(shared / "pg_wal")
    with pytest.raises(UnsafeFileError, match="pg_wal") as raised:
        Memory(path=store)
    assert "put the file or folder that it leads to in its place" in (raised.value.hint or "")
    (data / "pg_wal").unlink()
    (shared / "pg_wal").rename(data / "pg_wal")
    (shared / "backup").hardlink_to(store / "installed")
    with pytest.raises(UnsafeFileError, match="second name") as raised:
        Memory(path=store)
    assert "a copy of its own" in (raised.value.hint or "")
    (shared / "backup").unlink()
    (data / "PG_VERSION").unlink()
    with pytest.raises(AgentMemoryError, match="not a data folder") as raised_too:
        Memory(path=store)
    assert "Restore it from a backup" in (raised_too.value.hint or "")


def test_a_server_of_root_is_no_others(tmp_path: Path) -> None:
    with Memory(path=tmp_path / "store") as memory:
        memory.add_message("ana", "t", "user", "Hi")
        pid = server_pid(tmp_path / "store")
        assert pid is not None
        uid = psutil.Process(pid).uids().real
        assert not [process for process in psutil.process_iter() if process.uids().real == uid and uid < 60000]
        interpreter = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
        python = interpreter if Path(interpreter).exists() else "/usr/bin/python3"
        for name in ("nobody", "daemon"):
            for path in (f"/proc/{pid}/cwd/.s.PGSQL.5432", str(tmp_path / "store/data/.s.PGSQL.5432")):
                assert "PermissionError" in as_user(name, python, "-c", CONNECT, path).stderr
            assert as_user(name, "cat", f"/proc/{pid}/cwd/pg_hba.conf").returncode != 0
            assert as_user(name, "kill", "-0", str(pid)).returncode != 0
        # Nor is it the socket alone that keeps others out: the server knows them.
        rules = (tmp_path / "store/data/pg_hba.conf").read_text()
        assert "local all all peer map=owner" in rules
        assert "trust" not in rules
        assert (tmp_path / "store/data/pg_ident.conf").read_text() == 'owner "root" all\n'
        (tmp_path / "store/data").chmod(0o711)
        (tmp_path / "store/data/.s.PGSQL.5432").chmod(0o777)
        said = as_user("nobody", python, "-c", CONNECT, ".s.PGSQL.5432", folder=tmp_path / "store/data").stdout
        (tmp_path / "store/data").chmod(0o700)
        assert "Peer authentication failed" in said
    with Memory(path=tmp_path / "store") as memory:
        assert contents(memory) == ["Hi"]


def test_data_that_belong_to_nobody_get_the_account_of_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with Memory(path=folder) as memory:
        memory.add_message("ana", "t", "user", "Hi")
        kill_server(folder)  # which leaves its socket in the data
    wait_until(lambda: not server_runs(folder))
    data = folder / "data"
    assert (data / ".s.PGSQL.5432").is_socket()
    for path in (data, *data.rglob("*")):
        shutil.chown(path, "nobody", "nogroup")
    (data / "pg_hba.conf").write_text("local all all trust\n")
    with open_store(folder), Memory(path=folder) as memory:
        assert contents(memory) == ["Hi"]
        assert {path.stat().st_uid for path in (data, *data.rglob("*"))} == {data.stat().st_uid}
        assert data.stat().st_uid in range(60706, 61184)
        assert "trust" not in (data / "pg_hba.conf").read_text()
    wait_until(lambda: not server_runs(folder))
    # What somebody has linked into the data while it was nobody's is given to no account.
    (tmp_path / "secret").write_text("of root")
    (data / "base" / "secret").hardlink_to(tmp_path / "secret")
    shutil.chown(data, "nobody", "nogroup")
    with pytest.raises(UnsafeFileError, match="secret is no regular file with one name"):
        Memory(path=folder)
    assert (tmp_path / "secret").stat().st_uid == 0
