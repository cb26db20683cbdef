"""The command agent-memory, as a process."""

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(dsn: str) -> Run:
    """Run the command against the test's database, which it finds through the environment."""

    def run_command(*arguments: str | Path, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "agent_memory.cli", *arguments],
            env={**os.environ, "AGENT_MEMORY_DSN": dsn, "COLUMNS": "200", **environment},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
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


def test_doctor_fails_when_a_check_does(run: Run, db: psycopg.Connection) -> None:
    db.execute("update memory.models set is_active = false where kind = 'chat'")
    result = run("doctor")
    assert result.returncode == 1
    [check] = [line.split() for line in result.stdout.splitlines() if "chat model" in line]
    assert check[0] == "look"
    assert result.stderr == ""


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
    assert found.stderr == ""
    assert "Nothing found." in run("search", "bo", "number").stdout
    fewer = run("search", "ana", "number", "--limit", "2", "--sources", "memory,message")
    assert fewer.stdout.count("My favourite number") == 2

    context = run("context", "ana", "chat", "--query", "number 7", "--max-tokens", "500")
    assert context.returncode == 0, context.stderr
    assert "system · memories" in context.stdout
    assert "My favourite number is 9" in context.stdout
    assert context.stderr == ""
    nothing = run("context", "nobody", "t")
    assert nothing.stdout == 'Nothing is stored for user "nobody", thread "t".\n'


def test_search_notes(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_memory("ana", "Likes tea")
    assert run("search", "ana", "tea").stderr == ""
    asked = run("search", "ana", "tea", "--mode", "hybrid")
    assert asked.stderr == "Note: degraded: searching by keyword only, no embedding model is active\n"
    assert "Likes tea" in asked.stdout
    assert run("search", "ana", "tea", "--mode", "keyword").stderr == ""
    assert run("search", "ana", "tea", "--mode", "nonsense").returncode == 1
    # A model that should work and does not is worth a note.
    memory.register_model("gone", "embedding", "openai", "some-model", {"base_url": "http://127.0.0.1:1/v1"})
    memory.activate_model("gone")
    broken = run("search", "ana", "tea")
    assert broken.stderr.startswith("Note: degraded: searching by keyword only, ")
    assert "Likes tea" in broken.stdout


def test_documents(run: Run, tmp_path: Path) -> None:
    assert run("documents", "list", "ana").stdout == "No documents.\n"
    path = tmp_path / "tea [bold].md"
    path.write_text("# Tea\n\nGreen tea is åbest [bold]at 80 °C[/bold].\n", encoding="utf-8-sig")
    added = run("documents", "add", "ana", path)
    assert added.returncode == 0, added.stderr
    first = added.stdout.strip()
    piped = run(
        *("documents", "add", "ana", "-", "--title", "Coffee", "--namespace", "notes", "--doc-type", "guide"),
        stdin="Café",
    )
    assert piped.returncode == 0, piped.stderr
    second = piped.stdout.strip()
    found = run("search", "ana", "green", "--sources", "document").stdout
    assert " · document · tea [bold].md · " in found
    assert "# Tea\n\nGreen tea is åbest [bold]at 80 °C[/bold].\n" in found

    header, *rows = run("documents", "list", "ana").stdout.splitlines()
    assert header.split() == ["id", "created", "namespace", "type", "title"]
    assert [row.split()[0] for row in rows] == [second, first]
    assert rows[0].split()[2:] == ["notes", "guide", "Coffee"]
    assert rows[1].split()[2:] == ["default", "document", "tea", "[bold].md"]
    assert run("documents", "list", "ana", "--limit", "1").stdout.splitlines()[-1] == "... and 1 more"
    assert run("documents", "list", "ana", "--limit", "1", "--offset", "1").stdout.splitlines()[1:] == rows[1:]
    for choice in (["--namespace", "notes"], ["--doc-type", "guide"]):
        assert [row.split()[0] for row in run("documents", "list", "ana", *choice).stdout.splitlines()[1:]] == [second]

    deleted = run("documents", "delete", "ana", first)
    assert (deleted.returncode, deleted.stdout) == (0, f"Deleted {first}.\n")
    again = run("documents", "delete", "ana", first)
    assert again.returncode == 1
    assert again.stderr.splitlines() == [
        f'Error: user "ana" has no document {first}',
        "Hint: Run: agent-memory documents list ana",
    ]
    assert first not in run("documents", "list", "ana").stdout


def test_artifacts(run: Run, dsn: str, tmp_path: Path) -> None:
    assert run("artifacts", "list", "ana").stdout == "No artifacts.\n"
    path = tmp_path / "build.log"
    path.write_bytes("\n\x1b[31mBuild failed\x1b[0m at 80 °C\r\n[bold]line[/bold]\n".encode())
    stored = run("artifacts", "store", "ana", path, "--key", "log", "--artifact-type", "file")
    assert stored.stdout == "[MemoryRef: log - Build failed at 80 °C - 13 tokens]\n", stored.stderr
    assert run("artifacts", "store", "ana", "-", "--description", "Tea [green]", stdin="x").stdout.startswith(
        "[MemoryRef: tea-green-"
    )
    assert f"\n{stored.stdout}" in run("search", "ana", "failed", "--sources", "artifact").stdout

    whole = run("artifacts", "show", "ana", "log").stdout
    assert whole == path.read_text(encoding="utf-8")
    bounds = [("--from-token", str(start), "--max-tokens", "5") for start in range(0, 13, 5)]
    assert "".join(run("artifacts", "show", "ana", "log", *bound).stdout for bound in bounds) == whole
    unknown = run("artifacts", "show", "bob", "log")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert unknown.stderr.startswith('Error: key: this user has no artifact "log"\nHint: ')

    header, first, second = run("artifacts", "list", "ana").stdout.splitlines()
    assert header.split() == ["key", "created", "type", "tokens", "description"]
    assert first.split()[2:] == ["command_output", "1", "Tea", "(green)"]
    assert (second.split()[0], second.split()[2:5]) == ("log", ["file", "13", "Build"])
    assert run("artifacts", "list", "ana", "--limit", "1").stdout.splitlines()[-1] == "... and 1 more"
    of_type = run("artifacts", "list", "ana", "--artifact-type", "file").stdout.splitlines()
    assert [row.split()[0] for row in of_type] == ["key", "log"]
    assert run("artifacts", "list", "ana", "--thread-id", "t1").stdout == "No artifacts.\n"

    given = ("--thread-id", "t1", "--agent-id", "cook", "--expires-at")
    for key, expires_at in (("day", "2999-01-01"), ("time", "2999-01-01T02:03:04")):
        assert run(
            "artifacts", "store", "ana", "-", "--key", key, *given, expires_at, stdin="x", TZ="Asia/Tokyo"
        ).stdout
    with Memory(dsn) as memory:
        newest = memory.list_artifacts("ana", thread_id="t1")
    assert [(row.key, row.agent_id) for row in newest] == [("time", "cook"), ("day", "cook")]
    moments = [datetime(2999, 1, 1, 2, 3, 4, tzinfo=timezone.utc), datetime(2999, 1, 1, tzinfo=timezone.utc)]
    assert [row.expires_at for row in newest] == moments
    assert run("artifacts", "store", "ana", "-", "--expires-at", "soon", stdin="x").returncode == 2

    _, *rows = run("artifacts", "list", "ana", "--limit", "1", "--offset", "1").stdout.splitlines()
    assert (rows[0].split()[0], rows[1:]) == ("day", ["... and 2 more"])
    assert len(run("artifacts", "list", "ana", "--offset", "2").stdout.splitlines()) == 3

    deleted = run("artifacts", "delete", "ana", "log")
    assert (deleted.returncode, deleted.stdout) == (0, "Deleted log.\n")
    again = run("artifacts", "delete", "ana", "log")
    assert again.returncode == 1
    assert again.stderr.splitlines() == [
        'Error: user "ana" has no artifact log',
        "Hint: Run: agent-memory artifacts list ana",
    ]


def test_a_file_that_is_no_document_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff")
    refused = run("documents", "add", "ana", path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"Error: {path} is not UTF-8: invalid start byte at byte 0\n"
    assert run("documents", "add", "ana", tmp_path).stderr == f"Error: Is a directory: {tmp_path}\n"
    empty = run("documents", "add", "ana", "-")
    assert empty.returncode == 1
    assert empty.stderr.startswith("Error: content: ")
    assert run("documents", "list", "ana").stdout == "No documents.\n"


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith("agent-memory 0.")
    assert run("-h").stdout == run("--help").stdout
    assert "The id of the user." in run("search", "-h").stdout


@pytest.mark.feature("E9")
def test_prompts(run: Run, tmp_path: Path) -> None:
    shown = run("prompt", "show", "consolidate")
    assert shown.returncode == 0, shown.stderr
    assert "{{memories}}" in shown.stdout
    assert shown.stderr == "consolidate: built in; it needs memories\n"

    path = tmp_path / "prompt.txt"
    path.write_text(f"Be brief. [bold]\n{shown.stdout}", encoding="utf-8-sig")
    edited = run("prompt", "edit", "consolidate", "--file", path)
    assert (edited.returncode, edited.stdout) == (0, "consolidate is version 2 now.\n"), edited.stderr
    shown_again = run("prompt", "show", "consolidate")
    assert shown_again.stdout == f"Be brief. [bold]\n{shown.stdout}"
    assert shown_again.stderr.startswith("consolidate: version 2 of 20")

    path.write_text("Be brief.")
    refused = run("prompt", "edit", "consolidate", "--file", path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: template: lacks {{memories}}\nHint: ")
    assert run("prompt", "edit", "consolidate", "--file", "-", stdin="Be brief.").stderr == refused.stderr
    path.write_bytes(b"caf\xe9 {{memories}}")
    assert "is not UTF-8" in run("prompt", "edit", "consolidate", "--file", path).stderr

    reset = run("prompt", "reset", "consolidate")
    assert (reset.returncode, reset.stdout) == (0, "consolidate is the built-in one again, as version 3.\n")
    assert run("prompt", "show", "consolidate").stdout == shown.stdout
    unknown = run("prompt", "show", "nonsense")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith('Error: there is no prompt "nonsense"\nHint: There are compress_thread, ')


@pytest.mark.feature("F7")
def test_usage(run: Run, db: psycopg.Connection) -> None:
    nothing = run("usage")
    assert (nothing.returncode, nothing.stdout) == (0, "No model was called in the last 7 days.\n"), nothing.stderr
    memory = Memory(db)
    prices = {"price_per_million_input": 2, "price_per_million_output": 8}
    memory.register_model("mini", "chat", "openai", "some-model", prices)
    for user, tokens in (("ana", 1_500_000), ("bob", 500_000)):
        call = {"model": "mini", "kind": "extract_memories", "tokens_in": tokens, "tokens_out": 250, "duration_ms": 900}
        calls = Jsonb([call, {**call, "tokens_out": None, "error": "cut off"}])
        db.execute("select memory._enter_calls(%s, 1, null, null, null, %s)", [user, calls])
    shown = run("usage", COLUMNS="40")  # not a terminal: nothing is cut
    assert shown.returncode == 0, shown.stderr
    header, ana, bob, total = (line.split() for line in shown.stdout.splitlines())
    assert " ".join(header) == "day model user agent kind calls failed calls tokens in tokens out price avg ms"
    assert ana[1:] == ["mini", "ana", "extract_memories", "2", "1", "3,000,000", "250", "6.0020", "900"]
    assert bob[1:] == ["mini", "bob", "extract_memories", "2", "1", "1,000,000", "250", "2.0020", "900"]
    assert total == ["total", "4", "2", "4,000,000", "500", "8.0040"]
    only = run("usage", "--user", "bob", "--days", "1").stdout
    assert (only.count("bob"), only.count("ana")) == (1, 0)
    db.execute("update memory.model_calls set called_at = now() - interval '8 days'")
    assert run("usage", "--days", "2").stdout == "No model was called in the last 2 days.\n"


def test_health(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "health.json"
    missing = run("health", path)
    assert (missing.returncode, missing.stderr) == (1, f"Error: No such file or directory: {path}\n")
    assert run("worker", "--once", "--listen", "--health-file", path).returncode == 0
    alive = run("health", path)
    assert alive.returncode == 0, alive.stderr
    assert alive.stdout.endswith(" s ago, 0 in flight\n")
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "time": "2025-01-01T00:00:00+00:00", "last_error": "no route to the host"}))
    stale = run("health", path, "--max-age", "3600")
    assert stale.returncode == 1
    error, hint = stale.stderr.splitlines()
    assert error.startswith(f"Error: {state['worker']} was polling ")
    assert error.endswith(" s ago, 0 in flight; at most 3600 s are allowed")
    assert hint == "Hint: Its last error: no route to the host"


def test_worker_once_tells_of_failures(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.register_model("gone", "chat", "openai", "some-model", {"base_url": "http://127.0.0.1:1/v1"})
    memory.activate_model("gone")
    memory.add_message("ana", "t", "user", "I am Ana.")
    memory.extract_memories("ana", "t")
    result = run("worker", "--once", OPENAI_API_KEY="k")
    assert result.returncode == 1
    counts, waiting, error = result.stdout.splitlines()
    assert counts == "0 jobs completed, 1 failed, 0 released."
    assert waiting.startswith("1 job waits, the first until 20")
    assert error.startswith("Last error: job 1 (extract_memories) failed (now pending): ")
    db.execute("update memory.jobs set run_after = now() + interval '1 hour'")
    later = run("worker", "--once")
    assert (later.returncode, len(later.stdout.splitlines())) == (0, 2)
    assert "1 job waits, the first until 20" in later.stdout
    db.execute("update memory.jobs set run_after = now()")
    memory.activate_model("local")
    assert ", attempt 2) completed\n" in run("worker", "--once", "--verbose").stderr


def test_worker_on_a_terminal_shows_progress(dsn: str, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.set_policy({"cadence": {"reconcile_every_n": 0}})
    messages = "select memory.add_message('ana', n::text, 'user', 'Hello') from generate_series(1, 500) as n"
    db.execute(messages)
    db.execute("select memory.extract_memories('ana', n::text) from generate_series(1, 500) as n")
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "agent_memory.cli", "worker", "--once", "--dsn", dsn],
        env={**os.environ, "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # the end of what is shown
            while part := os.read(master, 65536):
                shown += part
    os.close(master)
    assert process.returncode == 0
    steps = [int(step) for step in re.findall(rb"(\d+)/500", shown)]
    assert steps == sorted(steps)
    assert (len(set(steps)) > 2, steps[-1]) == (True, 500)
    assert b"attempt" not in shown
    assert shown.endswith(b"500 jobs completed, 0 failed, 0 released.\r\n")


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
    parts = psycopg.conninfo.conninfo_to_dict(empty_dsn)
    where = f"host={parts['host']} port={parts['port']} dbname={parts['dbname']}"
    commands = (
        ["doctor"],
        ["worker", "--once"],
        ["search", "ana", "x"],
        ["usage"],
        ["prompt", "show", "consolidate"],
    )
    for command in commands:
        result = run(*command, "--dsn", empty_dsn)
        assert result.returncode == 1
        assert result.stderr.splitlines() == [
            f'Error: there is no agent_memory in database "{parts["dbname"]}" on {parts["host"]}:{parts["port"]}',
            f"Hint: Run, as the owner of the database: agent-memory install --dsn '{where}'",
        ]


def test_without_the_right_to(run: Run, dsn: str, db: psycopg.Connection) -> None:
    db.execute("create role guest login")
    try:
        results = [run(*command, "--dsn", make_conninfo(dsn, user="guest")) for command in (["doctor"], ["usage"])]
    finally:
        db.execute("drop role guest")
    for result in results:
        error, hint = result.stderr.splitlines()
        assert result.returncode == 1
        assert error.startswith('Error: role "guest" in database "test_')
        assert error.endswith("permission denied for schema memory")
        assert hint.startswith('Hint: As the owner of schema memory: grant usage on schema memory to "guest";')


def test_notes_are_shown_once(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.set_policy({"knowledge_base": {"enable_cross_session_context": True, "search_triggers": ["last time"]}})
    for number in range(3):
        thread = f"t{number}"
        memory.add_messages("ana", thread, [{"role": "user", "content": "Tea is green. " * 50}])
        memory.summarize_thread("ana", thread)
    assert run("worker", "--once").returncode == 0
    memory.add_message("ana", "now", "user", "What was tea last time?")
    shown = run("context", "ana", "now", "--max-tokens", "100")
    assert shown.returncode == 0, shown.stderr
    notes = shown.stderr.splitlines()
    assert "Note: degraded: an earlier conversation does not fit into max_tokens" in notes
    assert len(notes) == len(set(notes))
    assert all(note.startswith("Note: ") for note in notes)


@pytest.mark.feature("E17")
def test_demo(run: Run) -> None:
    result = run("demo")
    assert result.returncode == 0, result.stderr
    assert "Preferences extracted:" in result.stdout
    story = ["2026-03-15  and I prefer a window seat", "2026-07-04  I prefer an aisle seat"]
    assert [result.stdout.count(line) for line in story] == [1, 1]
    assert result.stdout.index(story[0]) < result.stdout.index(story[1])
    questions = Path(__file__).parent.parent / "python_client" / "agent_memory" / "demo" / "questions.json"
    for question in json.loads(questions.read_text()):
        _, _, answer = result.stdout.partition(question["question"])
        assert question["looks_for"] in answer
    assert result.stderr == ""
