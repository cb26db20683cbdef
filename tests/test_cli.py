"""The command agent-memory, as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(dsn: str) -> Run:
    """Run the command against the test's database, which it finds through the environment."""

    def run_command(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "agent_memory.cli", *arguments],
            env={**os.environ, "AGENT_MEMORY_DSN": dsn, "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run_command


def test_install(run: Run, empty_dsn: str) -> None:
    first = run("install", "--dsn", empty_dsn)
    assert first.returncode == 0, first.stderr
    assert "Installed agent_memory" in first.stdout
    assert "pgvector" in first.stdout
    second = run("install", "--dsn", empty_dsn)
    assert second.returncode == 0
    assert "is current already" in second.stdout


def test_doctor(run: Run) -> None:
    result = run("doctor")
    assert result.returncode == 0
    assert "dead jobs" in result.stdout


def test_libpq_environment(run: Run, dsn: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
    environment = {variable: str(parts[name]) for name, variable in names.items()}
    assert run("doctor", AGENT_MEMORY_DSN="", **environment).returncode == 0


def test_import_worker_search_context(run: Run, db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [
        {"role": "user", "content": f"My favourite number is {number} [bold]really[/bold]."} for number in range(10)
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    imported = run("import", path, "--user-id", "ana")
    assert imported.returncode == 0, imported.stderr
    assert "importing messages: 10 of 10" in imported.stdout
    assert imported.stdout.splitlines()[-3:] == [
        "Imported 10 messages into 1 thread of 1 user.",
        "Messages expire after the policy's time (7 days by default).",
        'Queued model work: run "agent-memory worker --once".',
    ]
    again = run("import", path, "--user-id", "ana")
    assert again.stdout.endswith("Imported 0 messages into 1 thread of 1 user; 10 stored already.\n")

    worked = run("worker", "--once")
    assert worked.returncode == 0, worked.stderr
    assert worked.stdout == "1 job completed, 0 failed, 0 released.\n"
    assert len(Memory(db).list_memories("ana")) == 10

    found = run("search", "ana", "number 7")
    assert found.returncode == 0, found.stderr
    assert "My favourite number is 7 [bold]really[/bold]." in found.stdout
    assert found.stderr.startswith("Note: degraded: ")
    assert "Nothing found." in run("search", "bo", "number").stdout
    fewer = run("search", "ana", "number", "--limit", "2", "--sources", "memory,message")
    assert fewer.stdout.count("My favourite number") == 2

    context = run("context", "ana", "chat", "--query", "number 7", "--max-tokens", "500")
    assert context.returncode == 0, context.stderr
    assert "system · memories" in context.stdout
    assert "My favourite number is 9" in context.stdout
    nothing = run("context", "nobody", "t")
    assert nothing.stdout == 'Nothing is stored for user "nobody", thread "t".\n'


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith("agent-memory 0.")
    assert run("-h").stdout == run("--help").stdout
    assert "The id of the user." in run("search", "-h").stdout


def test_worker_once_tells_of_failures(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.register_model("gone", "chat", "openai", "some-model", {"base_url": "http://127.0.0.1:1/v1"})
    memory.activate_model("gone")
    memory.add_message("ana", "t", "user", "I am Ana.")
    memory.extract_memories("ana", "t")
    result = run("worker", "--once", OPENAI_API_KEY="k")
    assert result.returncode == 1
    assert result.stdout == "0 jobs completed, 1 failed, 0 released.\n"


@pytest.mark.parametrize(
    ("arguments", "environment", "error", "hint"),
    [
        (["doctor"], {"AGENT_MEMORY_DSN": "", "PGHOST": "/nonexistent"}, "connection", "--dsn"),
        (["doctor"], {"AGENT_MEMORY_DSN": "no conninfo"}, "missing", None),
        (["worker", "--once"], {"AGENT_MEMORY_DSN": "host=/nonexistent"}, "connection", None),
        (["context", "", "t"], {}, "user_id: must not be empty", "Pass user_id"),
        (["import", "/nonexistent.jsonl"], {}, "Error: No such file or directory: /nonexistent.jsonl", None),
    ],
)
def test_an_error_is_one_line_and_a_hint(
    run: Run, arguments: list[str], environment: dict[str, str], error: str, hint: str | None
) -> None:
    result = run(*arguments, **environment)
    assert result.returncode == 1
    first, *rest = result.stderr.splitlines()
    assert first.startswith("Error: ")
    assert error in first
    if hint is None:
        assert rest == []
    else:
        assert len(rest) == 1
        assert rest[0].startswith("Hint: ")
        assert hint in rest[0]


def test_without_agent_memory(run: Run, empty_dsn: str) -> None:
    for command in (["doctor"], ["worker", "--once"], ["search", "ana", "x"]):
        result = run(*command, "--dsn", empty_dsn)
        assert result.returncode == 1
        assert result.stderr.splitlines() == [
            "Error: there is no agent_memory in this database",
            "Hint: Run: agent-memory install",
        ]


@pytest.mark.feature("E17")
def test_demo(run: Run) -> None:
    result = run("demo")
    assert result.returncode == 0, result.stderr
    assert "Preferences extracted:" in result.stdout
    story = ["2026-03-15  and I prefer a window seat", "2026-07-04  I prefer an aisle seat"]
    assert [result.stdout.count(line) for line in story] == [1, 1]
    assert result.stdout.index(story[0]) < result.stdout.index(story[1])
    questions = Path(__file__).parent.parent / "python_client" / "agent_memory" / "demo_questions.json"
    for question in json.loads(questions.read_text()):
        _, _, answer = result.stdout.partition(question["question"])
        assert question["looks_for"] in answer
    assert result.stderr == ""
