"""agent-memory users: list, forget, export and import, and forgetting from the other commands."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from agent_memory import AgentMemoryError, ConflictError, InvalidValueError, Memory
from agent_memory._files import written

from tests.support.servers import Run

pytestmark = pytest.mark.feature("F5")


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    memory = Memory(db)
    for number in range(3):
        memory.add_message("ana", "t", "user", f"Hello {number}")
    memory.add_memory("ana", "Likes tea")
    memory.add_memory("ana", "Likes cake", thread_id="t")
    return memory


def test_export_forget_and_import(run: Run, memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "ana.json"
    result = run("users", "export", "ana", file)
    assert (result.returncode, result.stdout) == (0, "")
    assert "Exported 7 rows of ana." in result.stderr
    export = memory.export_user("ana")
    assert json.loads(file.read_text()) == export
    assert json.loads(run("users", "export", "ana").stdout) == export

    assert run("users", "forget", "ana").returncode == 1, "nobody has confirmed it"
    assert memory.export_user("ana") == export
    result = run("users", "forget", "ana", "--yes", "--reason", "ticket 7")
    assert "messages: 3" in result.stdout
    assert "Receipt " in result.stdout
    assert memory.admin.list_users() == []
    assert "Nothing was stored about ana" in run("users", "forget", "ana", "--yes").stdout

    result = run("users", "import", "ana", file)
    assert "7 rows were forgotten here before" in result.stdout
    assert "messages: 3" in run("users", "import", "ana", file, "--lift-tombstones").stdout
    assert memory.export_user("ana") == export
    assert "has rows in memory." in run("users", "import", "ana", file).stderr
    (tmp_path / "bad.json").write_text("{")
    assert "is not JSON" in run("users", "import", "bo", tmp_path / "bad.json").stderr


@pytest.mark.usefixtures("memory")
def test_an_export_is_ones_own_and_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    command = ("users", "export")
    file, other = tmp_path / "ana.json", tmp_path / "other"
    assert run(*command, "ana", file).returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    written = file.read_text()
    other.write_text("of another program")
    (tmp_path / "link").symlink_to(other)
    for place in (file, tmp_path / "link"):
        result = run(*command, "ana", place)
        assert (result.returncode, f"{place} is there already" in result.stderr) == (1, True)
        assert "--force" in result.stderr
    assert run(*command, "ana", tmp_path / "link", "--force").returncode == 0
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "link").read_text()) == (False, written)
    assert other.read_text() == "of another program"
    file.chmod(0o644)
    assert run(*command, "ana", file, "--force").returncode == 0
    assert (stat.S_IMODE(file.stat().st_mode), file.read_text()) == (0o600, written)
    # What fails leaves the file of before, and no part of a new one.
    assert run(*command, "a" * 300, file, "--force").returncode == 1
    assert file.read_text() == written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ana.json", "link", "other"]


def test_an_export_into_a_stream_replaces_nothing(process: Run, memory: Memory, tmp_path: Path) -> None:
    memory.export_user_to("ana", tmp_path / "file")
    written = (tmp_path / "file").read_text()
    assert process("users", "export", "ana", "/dev/stdout").stdout == written
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as threads:
        heard = threads.submit((tmp_path / "pipe").read_text)
        memory.export_user_to("ana", tmp_path / "pipe", overwrite=True)
        assert heard.result() == written
    assert (tmp_path / "pipe").is_fifo()
    assert memory.export_user_to("ana", "/dev/null", overwrite=True) == 7
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_an_export_into_the_pipe_or_link_of_somebody_else_is_refused(memory: Memory, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    shutil.chown(tmp_path / "pipe", "daemon")
    (tmp_path / "link").symlink_to("/dev/null")
    os.lchown(tmp_path / "link", 1, 1)
    for name in ("pipe", "link"):
        with pytest.raises(AgentMemoryError, match="belongs to daemon"):
            memory.export_user_to("ana", tmp_path / name, overwrite=True)


def test_an_export_has_its_name_when_it_is_complete(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ("記" * 84)
    with written(file) as stream:
        stream.write("{")
        assert not file.exists()
        [beside] = tmp_path.iterdir()
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
    assert [file] == list(tmp_path.iterdir())
    memory.export_user_to("ana", file, overwrite=True)
    with pytest.raises(ConflictError), written(tmp_path / "new") as stream:  # another process has the name meanwhile
        (tmp_path / "new").write_text("of another program")
    assert (tmp_path / "new").read_text() == "of another program"

    def fail(*_: object) -> None:
        raise PermissionError("as on FAT")

    monkeypatch.setattr(os, "link", fail)
    memory.export_user_to("ana", tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == file.read_text()
    with pytest.raises(ConflictError):
        memory.export_user_to("ana", tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "new", file.name]


def test_large_users_are_written_and_read_in_parts(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from agent_memory.client import user_files
    from agent_memory.client._sync import by_hand

    monkeypatch.setattr(by_hand, "ROWS", 2)
    monkeypatch.setattr(user_files, "ROWS", 2)
    for number in range(5):
        memory.add_message("ana", "t2", "user", f'Again {number}\n"]\u2028}}')
    export = memory.export_user("ana")
    file = tmp_path / "x"
    assert memory.export_user_to("ana", file) == 13
    assert json.loads(file.read_text()) == export
    assert [sum(map(len, list(part.values())[3:])) for part in user_files.parts_of(io.StringIO(file.read_text()))] == [
        2
    ] * 6 + [1, 0]
    memory.forget_user("ana")
    assert memory.admin.import_user_from("ana", file, lift_tombstones=True)["messages"] == 8
    assert memory.export_user("ana") == export
    with pytest.raises(ConflictError):
        memory.admin.import_user_from("ana", file)


@pytest.mark.parametrize("lines", [1, -1])
def test_a_file_without_its_end_stores_nothing(memory: Memory, tmp_path: Path, lines: int) -> None:
    file = tmp_path / "ana"
    memory.export_user_to("ana", file)
    memory.forget_user("ana")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))
    with pytest.raises(InvalidValueError):
        memory.admin.import_user_from("ana", file, lift_tombstones=True)
    assert memory.admin.list_users() == []


def test_a_memory_and_a_thread_are_forgotten(run: Run, memory: Memory) -> None:
    [_, tea] = memory.list_memories("ana")
    assert run("memories", "forget", "ana", str(tea.memory_id)).returncode == 1
    result = run("memories", "forget", "ana", str(tea.memory_id), "--yes")
    assert "memories: 1" in result.stdout
    assert [each.content for each in memory.list_memories("ana")] == ["Likes cake"]
    assert run("threads", "delete", "ana", "t", "--yes", "--memories", "forget").returncode == 0
    assert memory.list_memories("ana") == []


def test_an_import_brings_nothing_back(run: Run, memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    assert run("export", "ana", file).returncode == 0
    [_, tea] = memory.list_memories("ana")
    memory.forget_memory("ana", tea.memory_id)
    assert run("import", file, "--user", "ana").returncode == 0
    assert [each.content for each in memory.list_memories("ana")] == ["Likes cake"]
    memory.forget_user("ana")
    assert run("import", file, "--user", "ana").returncode == 0
    assert memory.list_memories("ana") == []
    assert memory.list_threads("ana") == []
    memory.add_message("ana", "new", "user", "Hello again")
    assert len(memory.get_messages("ana", "new")) == 1
