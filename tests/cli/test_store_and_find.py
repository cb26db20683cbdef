"""The commands that store and find: import, search, context, documents and artifacts."""

import json
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory

from tests.support.servers import Run


def test_import_worker_search_context(run: Run, db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [
        {"role": "user", "content": f"My favourite number is {number} [bold]really[/bold]."} for number in range(10)
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    imported = run("import", path, "--user-id", "ana")
    assert imported.returncode == 0, imported.stderr
    assert "importing: 10 of 10" in imported.stderr
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
    memories = Memory(db).list_memories("ana", include_superseded=True)
    assert sorted(memory.superseded_by is None for memory in memories) == [False] * 9 + [True]  # one is the newest

    found = run("search", "ana", "number 7")
    assert found.returncode == 0, found.stderr
    assert "My favourite number is 9 [bold]really[/bold]." in found.stdout
    assert found.stderr.count("\n") == found.stderr.count("Note: searching by keyword only") == 1
    assert "Nothing found." in run("search", "bo", "number").stdout
    fewer = run("search", "ana", "number", "--limit", "2", "--sources", "message")
    assert fewer.stdout.count("My favourite number") == 2

    context = run("context", "ana", "chat", "--query", "number 7", "--max-tokens", "600")
    assert context.returncode == 0, context.stderr
    assert "system · memories" in context.stdout
    assert "My favourite number is 9" in context.stdout
    assert context.stderr.count("\n") == context.stderr.count("Note: comparing words only") == 1
    nothing = run("context", "nobody", "t")
    assert nothing.stdout == 'Nothing is stored for user "nobody", thread "t".\n'


@pytest.mark.feature("F10")
def test_a_poisoned_source_is_taken_back_and_released(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_message("ana", "t", "tool", "Mallory sells [bold]tea[/bold]")
    memory.add_document("ana", "Likes tea")
    source = ("ana", "message", "t/0")
    put = run("quarantine", "add", *source, "--reason", "planted")
    assert (put.returncode, put.stdout) == (0, "messages: 1\nThe message t/0 is in quarantine.\n"), put.stderr
    listed = run("quarantine", "ana")
    assert listed.stdout.startswith("message · t/0 · 20")
    assert listed.stdout.endswith(" · trust 0.4 · planted\nMallory sells [bold]tea[/bold]\n\n")
    assert json.loads(run("quarantine", "list", "ana", "--json").stdout)["reason"] == "planted"
    assert run("quarantine", "list", "ana", "--source", "memory").stdout == "Nothing is in quarantine.\n"
    released = run("quarantine", "release", *source, "--json")
    assert json.loads(released.stdout)["messages"] == 1, released.stderr
    again = run("quarantine", "release", *source)
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        "Error: the message t/0 is not in quarantine\nHint: Run: agent-memory quarantine list ana\n"
    )


def test_search_notes(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_memory("ana", "Likes tea")
    asked = run("search", "ana", "tea")
    [note] = asked.stderr.splitlines()
    assert note.startswith("Note: searching by keyword only, no embedding model is active. ")
    assert "agent-memory models local" in note
    assert "Likes tea" in asked.stdout
    memory.add_message("ana", "t", "user", "Hello")
    [note] = run("context", "ana", "t", "--query", "tea").stderr.splitlines()
    assert note.startswith("Note: comparing words only, no embedding model is active. ")
    assert "agent-memory models local" in note
    assert run("search", "ana", "tea", "--mode", "keyword").stderr == ""
    # A model that should work and does not is worth a note.
    memory.admin.register_model("gone", "embedding", "openai", "some-model", {"base_url": "http://127.0.0.1:1/v1"})
    memory.admin.activate_model("gone")
    broken = run("search", "ana", "tea")
    assert "Note: searching by keyword only, " in broken.stderr
    assert "Likes tea" in broken.stdout


def test_documents(run: Run, tmp_path: Path) -> None:
    assert run("documents", "list", "ana").stdout == "No documents.\n"
    path = tmp_path / "tea [bold].md"
    path.write_text("# Tea\n\nGreen tea is åbest [bold]at 80 °C[/bold].\n", encoding="utf-8-sig")
    first = run("documents", "add", "ana", path).stdout.strip()
    options = ("--title", "Coffee", "--namespace", "notes", "--doc-type", "guide")
    second = run("documents", "add", "ana", "-", *options, stdin="Café").stdout.strip()
    found = run("search", "ana", "green", "--sources", "document").stdout
    assert " · document · tea [bold].md · " in found
    assert "# Tea\n\nGreen tea is åbest [bold]at 80 °C[/bold].\n" in found
    header, *rows = run("documents", "list", "ana").stdout.splitlines()
    assert header.split() == ["id", "created", "namespace", "type", "title"]
    assert [row.split()[0] for row in rows] == [second, first]
    assert rows[0].split()[2:] == ["notes", "guide", "Coffee"]
    assert run("documents", "list", "ana", "--limit", "1").stdout.splitlines()[-1] == "... and 1 more"
    assert run("documents", "list", "ana", "--limit", "1", "--offset", "1").stdout.splitlines()[1:] == rows[1:]
    assert run("quarantine", "add", "ana", "document", first).returncode == 0
    assert first in run("documents", "ana", "--quarantined").stdout
    assert first not in run("documents", "ana").stdout
    deleted = run("documents", "delete", "ana", first)
    assert (deleted.returncode, deleted.stdout) == (0, f"Deleted {first}.\n")
    again = run("documents", "delete", "ana", first)
    assert (again.returncode, again.stderr.splitlines()[0]) == (1, f'Error: user "ana" has no document {first}')


def test_artifacts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_bytes("\n\x1b[31mBuild failed\x1b[0m at 80 °C\r\n[bold]line[/bold]\n".encode())
    stored = run("artifacts", "store", "ana", path, "--key", "log")
    assert stored.stdout == "[MemoryRef: log - Build failed at 80 °C - 13 tokens]\n", stored.stderr
    piped = run("artifacts", "store", "ana", "-", "--description", "Tea [green]", stdin="x")
    assert piped.stdout.startswith("[MemoryRef: tea-green-")
    assert f"\n{stored.stdout}" in run("search", "ana", "failed", "--sources", "artifact").stdout
    assert run("artifacts", "show", "ana", "log").stdout == path.read_text(encoding="utf-8")
    assert run("artifacts", "show", "ana", "log", "--from-line", "3").stdout == "[bold]line[/bold]\n"
    assert "Build failed" in run("artifacts", "show", "ana", "log", "--grep", "failed").stdout
    unknown = run("artifacts", "show", "bob", "log")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    header, first, second = run("artifacts", "list", "ana").stdout.splitlines()
    assert header.split() == ["key", "created", "type", "tokens", "description"]
    assert first.split()[2:] == ["command_output", "1", "Tea", "(green)"]
    assert second.split()[0] == "log"
    assert run("artifacts", "delete", "ana", "log").stdout == "Deleted log.\n"
    again = run("artifacts", "delete", "ana", "log")
    assert (again.returncode, again.stderr.splitlines()[0]) == (1, 'Error: user "ana" has no artifact log')


def test_a_file_that_is_no_document_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff")
    refused = run("documents", "add", "ana", path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"Error: {path} is not UTF-8: invalid start byte at byte 0\n"
    assert run("documents", "add", "ana", tmp_path).stderr == f"Error: Is a directory: {tmp_path}\n"
