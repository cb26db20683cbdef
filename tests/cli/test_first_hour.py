"""What a person meets in the first hour with the commands: counts that agree, and advice."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from agent_memory._progress import progress
from psycopg.conninfo import make_conninfo
from rich.console import Console

from tests.support.servers import Run

pytestmark = pytest.mark.feature("E17")


def test_threads_count_what_was_said_and_what_is_active(run: Run, dsn: str, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_messages("ana", "t1", [{"role": "user", "content": "Hi"}] * 24)
    memory.clear_thread("ana", "t1")
    memory.add_message("ana", "t1", "user", "Hello")
    heading, row = run("threads", "ana").stdout.splitlines()
    counts = dict(zip(heading.split()[:4], row.split()[:4], strict=True))
    assert (counts["messages"], counts["active"]) == ("25", "1")
    of_json = json.loads(run("threads", "ana", "--json").stdout)
    assert (of_json["message_count"], of_json["active_count"]) == (25, 1)
    db.execute("create role caller login in role memory_app")
    try:  # a role that may call functions alone is shown what it may see
        assert run("threads", "ana", AGENT_MEMORY_DSN=make_conninfo(dsn, user="caller")).returncode == 0
    finally:
        db.execute("drop owned by caller; drop role caller")


def test_no_memories_yet_says_why_and_what_helps(run: Run, db: psycopg.Connection) -> None:
    assert run("memories", "ana").stdout == (
        "No memories. Nobody has said anything as ana; agent-memory users lists the users.\n"
    )
    memory = Memory(db)
    for thread in ("monday", "tuesday"):
        memory.add_message("ana", thread, "user", "I prefer trains over planes.")
    assert run("memories", "ana").stdout == (
        "No memories. 2 messages are not read yet: that happens every 10 messages of a thread; "
        "now: agent-memory memories extract ana\n"
    )
    said = run("memories", "extract", "ana").stdout
    assert ("reads thread monday" in said, "reads thread tuesday" in said) == (True, True)
    assert "agent-memory worker --once" in said
    assert run("worker", "--once").returncode == 0
    assert "trains over planes" in run("memories", "ana").stdout
    assert run("memories", "extract", "ana").stdout == "All messages are read already.\n"
    assert "reads thread monday" in run("memories", "extract", "ana", "monday").stdout


def test_the_command_of_the_advice_ends_the_state(
    run: Run, db: psycopg.Connection, minilm: Path, tmp_path: Path
) -> None:
    refused = run("models", "local", AGENT_MEMORY_MODEL_DIR=str(tmp_path))
    assert refused.returncode == 1
    assert "the small embedding model all-MiniLM-L6-v2 cannot be used" in refused.stderr
    assert "Correct or unset AGENT_MEMORY_MODEL_DIR" in refused.stderr
    assert db.execute("select from memory.models where kind = 'embedding'").fetchall() == []
    for _ in range(2):
        assert "all-MiniLM-L6-v2 is active" in run("models", "local", AGENT_MEMORY_MODEL_DIR=str(minilm)).stdout
    assert "degraded embedding model" not in run("status").stdout
    assert "degraded" not in run("doctor").stdout


def test_progress_ends_with_all_that_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    """Work that is done may queue more work, so that there is more to do after all was done."""
    with progress(Console(width=80), "worker") as report:
        for done, total in [*((number, 10) for number in range(1, 11)), (11, 12), (12, 12)]:
            report(done, total)
    assert capsys.readouterr().out.splitlines()[-2:] == ["worker: 10 of 10", "worker: 12 of 12"]
