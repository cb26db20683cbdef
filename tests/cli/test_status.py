"""The command agent-memory status."""

import json
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.servers import Run

pytestmark = pytest.mark.feature("E17")


def test_it_says_what_runs_where_and_ends_with_0_while_nothing_is_broken(run: Run, dsn: str) -> None:
    result = run("status", "--dsn", make_conninfo(dsn, password="unspoken"))
    assert result.returncode == 0, result.stderr
    assert f"database {conninfo_to_dict(dsn)['dbname']} on " in result.stdout
    assert "local (built-in rules, no key), not called yet" in result.stdout
    assert "degraded embedding model: none is active" in result.stdout
    assert "Run: agent-memory models local" in result.stdout
    assert "unspoken" not in result.stdout + result.stderr


def test_what_is_broken_ends_with_1_and_the_command_that_helps(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_messages("ana", "t1", [{"role": "user", "content": "I like tea."}] * 3)
    memory.extract_memories("ana", "t1")
    db.execute("update memory.jobs set run_after = run_after - interval '1 hour'")
    result = run("status")
    assert result.returncode == 1
    assert "broken   worker: 1 due, the oldest for 36" in result.stdout
    assert "Run: agent-memory worker" in result.stdout

    assert run("worker", "--once").returncode == 0
    result = run("status", "--json")
    assert result.returncode == 0
    state = json.loads(result.stdout)
    [worker] = state["queue"]["workers"]
    assert f"jobs last done by  {worker['worker']} (" in run("status").stdout
    assert {problem["name"] for problem in state["problems"]} == {"embedding model"}


def test_a_model_without_its_key_is_named_with_the_variable_that_is_missing(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.admin.register_model("paid", "chat", "openai", "gpt", {"api_key_env": "AGENT_MEMORY_KEY_PAID"})
    memory.admin.activate_model("paid")
    memory.add_messages("ana", "t1", [{"role": "user", "content": "I like tea."}] * 3)
    memory.extract_memories("ana", "t1")
    worker = run("worker", "--once")
    assert worker.returncode == 1
    assert "no API key: the environment variable AGENT_MEMORY_KEY_PAID is not set" in worker.stdout
    result = run("status")
    assert result.returncode == 1
    assert "no API key: the environment variable AGENT_MEMORY_KEY_PAID is not set" in result.stdout
    assert "Mend what the error names, where the worker runs" in result.stdout


@pytest.mark.parametrize(("installed", "helps"), [("0.0.1", "agent-memory install"), ("999.0.0", "pip install")])
def test_another_version_is_named_with_what_helps(run: Run, db: psycopg.Connection, installed: str, helps: str) -> None:
    db.execute(f"create or replace function memory.version() returns text language sql as $$ select '{installed}' $$")
    result = run("status", "--json")
    assert result.returncode == 1
    problem = json.loads(result.stdout)["problems"][0]
    assert (problem["name"], problem["is_broken"]) == ("version", True)
    assert installed in problem["detail"]
    assert helps in problem["help"]


@pytest.mark.own_server
def test_an_embedded_store_names_what_its_model_lacks_and_the_command_that_helps(process: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    own = {"AGENT_MEMORY_DSN": "", "HOME": str(tmp_path), "AGENT_MEMORY_MODEL_DIR": str(missing)}

    def said() -> str:
        result = process("status", **own)
        assert result.returncode == 0, result.stdout
        return result.stdout

    assert "degraded embedding model: none is active" in said()
    assert "Run: agent-memory models local" in said()
    process("models", "register", "mini", "--kind", "embedding", "--provider", "local", "--model", "m",
        "--dimensions", "384", "--activate", **own)  # fmt: skip
    reason = f'"mini" cannot run here: the model folder {missing} has no file model.onnx'
    assert reason in said()
    doctor = process("doctor", **own)
    assert doctor.returncode == 0
    [line] = [line for line in doctor.stdout.splitlines() if " embedding model " in line]
    assert line.split()[0] == "degraded"
    assert reason in doctor.stdout
    assert "a worker runs inside the programs that use the store" in doctor.stdout
    assert "beside the server" not in doctor.stdout
