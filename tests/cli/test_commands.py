"""The commands that show and change what is stored, called within this process."""

import io
import json
import subprocess
import sys
from datetime import datetime, timezone
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory._text import harmless
from agent_memory.cli import printing
from rich.console import Console

from tests.cli.steps import Commands


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)


EVIL = "Likes [red]tea[/red] \x1b]0;owned\x07\x1b[2Jx\x9by\u202ez\rw"


def test_users(command: Commands, memory: Memory) -> None:
    assert command("users") == "No users.\n"
    memory.add_message("ana", "t1", "user", "Hi")
    memory.add_memory("bob", "Likes tea")
    memory.add_document("cleo", "Tea is green.")
    ana, bob, cleo = command.rows("users")
    assert (ana["user_id"], ana["thread_count"], ana["message_count"], ana["memory_count"]) == ("ana", 1, 1, 0)
    assert (bob["user_id"], bob["memory_count"], cleo["user_id"], cleo["total_count"]) == ("bob", 1, "cleo", 3)
    assert [row["user_id"] for row in command.rows("users", "--search", "B")] == ["bob"]
    lines = command("users", "--limit", 1).splitlines()
    assert [line.split()[0] for line in lines] == ["user", "ana", "..."]


def test_threads_and_messages(command: Commands, memory: Memory) -> None:
    assert command("threads", "ana") == "No threads.\n"
    for number in range(3):
        memory.add_message("ana", "t1", "user", f"Line {number}", metadata={"name": "Ana"})
    memory.add_message("ana", "t1", "assistant", EVIL)
    memory.add_message("ana", "t2", "user", "Hi")
    assert command("threads", "ana") == command("threads", "list", "ana")
    assert [row["thread_id"] for row in command.rows("threads", "ana")] == ["t2", "t1"]
    assert command("threads", "show", "ana", "t1") == "No summary yet.\n"
    assert command.rows("messages", "ana", "t1")[3]["content"] == EVIL
    shown = command("messages", "ana", "t1", "--limit", 2)
    assert "#2 · user · Ana · " in shown
    assert "Likes [red]tea[/red] ␛]0;owned␇␛[2Jx�y�z␍w\n" in shown
    assert "Line 1" not in shown
    assert [row["seq"] for row in command.rows("messages", "ana", "t1", "--before", 2)] == [0, 1]
    assert command("threads", "clear", "ana", "t1") == "Cleared 4 messages of t1.\n"
    assert command("messages", "ana", "t1") == "No messages.\n"
    assert "put away" in command("messages", "ana", "t1", "--all")
    assert "Aborted" in command("threads", "delete", "ana", "t1", status=1, stdin="n\n")
    assert command("threads", "delete", "ana", "t1", "--yes") == "Deleted t1 with 4 messages.\n"
    assert 'user "ana" has no thread "t1"' in command("threads", "delete", "ana", "t1", "-y", status=1)
    assert 'user "ana" has no thread "t1"' in command("threads", "show", "ana", "t1", status=1)


def test_memories(command: Commands, memory: Memory) -> None:
    assert command("memories", "ana").startswith("No memories.")
    tea = command("memories", "add", "ana", EVIL, "--type", "preference", "--tag", "drinks", "--tag", "x").strip()
    [record] = command.rows("memories", "ana", "--tag", "drinks")
    assert (record["memory_id"], record["content"], record["tags"]) == (tea, EVIL, ["drinks", "x"])
    assert command("memories", "update", "ana", tea, "Likes green tea") == f"{tea} is version 2 now.\n"
    shown = command("memories", "show", "ana", tea)
    assert shown.startswith(f"{tea} · preference · ")
    assert "importance  0.5" in shown
    assert "Likes [red]tea[/red] ␛]0;owned␇␛[2Jx�y�z w" in shown
    [both] = command.rows("memories", "show", "ana", tea)
    assert both["memory"]["content"] == "Likes green tea"
    assert [version["operation"] for version in both["history"]] == ["insert", "update"]
    assert command("memories", "delete", "ana", tea) == f"Deleted {tea}.\n"
    assert "Likes green tea" in command("memories", "show", "ana", tea)
    assert f'user "ana" has no memory {tea}' in command("memories", "delete", "ana", tea, status=1)
    assert command("memories", "restore", "ana", tea) == f"{tea} is restored, as version 4.\n"
    coffee = command("memories", "add", "ana", "Likes coffee").strip()
    superseded = command("memories", "supersede", "ana", tea, coffee, "--reason", "changed")
    assert superseded == f"{coffee} takes the place of {tea}.\n"
    assert memory.get_memory("ana", tea).supersede_reason == "changed"
    assert [row["memory_id"] for row in command.rows("memories", "ana")] == [coffee]
    assert len(command.rows("memories", "ana", "--superseded", "--limit", 5)) == 2
    assert "... and 1 more" in command("memories", "ana", "--superseded", "--limit", 1)
    assert "no memory" in command("memories", "show", "bob", tea, status=1)
    memory.admin.set_policy({"resources": []})
    assert 'has no resource "memory"' in command("memories", "add", "ana", "x", status=1)


def test_jobs(command: Commands, memory: Memory, db: psycopg.Connection) -> None:
    assert command("jobs") == "No jobs.\n"
    for user in ("ana", "bob"):
        memory.add_message(user, "t1", "user", "Hi")
        memory.extract_memories(user, "t1")
    db.execute(
        "update memory.jobs set status = 'dead', finished_at = now(), error = 'no\nroute [red]' where user_id = 'ana'"
    )
    ana, bob = command.rows("jobs")
    assert (ana["user_id"], ana["status"], ana["thread_id"], bob["status"]) == ("ana", "dead", "t1", "pending")
    assert [row["user_id"] for row in command.rows("jobs", "--failed")] == ["ana"]
    assert [row["user_id"] for row in command.rows("jobs", "--user", "bob", "--status", "pending")] == ["bob"]
    assert "no route [red]" in command("jobs")
    assert "no\nroute [red]" in command("jobs", "show", "ana", ana["job_id"])
    assert command.rows("jobs", "show", "ana", ana["job_id"])[0]["error"] == "no\nroute [red]"
    assert command("jobs", "retry", "ana", ana["job_id"]) == f"Job {ana['job_id']} is due.\n"
    db.execute("update memory.jobs set status = 'dead', finished_at = now()")
    assert command("jobs", "retry", "--failed", "ana") == "1 job queued again.\n"
    memory.extract_memories("bob", "t1")  # the failed one must not run beside this one
    retried = command("jobs", "retry", "--failed")
    assert "stays as it is: job_id: a newer job is doing the same work" in retried
    assert "0 jobs queued again." in retried
    assert "no job 99" in command("jobs", "show", "ana", 99, status=1)
    for wrong in ((), ("ana", 1, "--failed")):
        assert "takes one job, or --failed" in command("jobs", "retry", *wrong, status=1)


def test_models(command: Commands, db: psycopg.Connection) -> None:
    db.execute("update memory.models set is_active = false")
    db.execute("delete from memory.models")
    assert "No models" in command("models")
    options = ("--kind", "embedding", "--model", "e-1", "--dimensions", 8, "--base-url", "http://127.0.0.1:1/v1")
    assert "which is active now" in command("models", "register", "e", *options, "--activate")
    command("models", "register", "c", "--kind", "chat", "--model", "c-1", "--setting", "temperature=0.5")
    chat, embedding = command.rows("models")
    assert (chat["name"], chat["is_active"], chat["settings"]) == ("c", False, {"temperature": 0.5})
    assert (embedding["is_active"], embedding["total"]) == (True, 0)
    assert command("models", "activate", "c") == "c is active.\n"
    assert command("models", "deactivate", "c") == "c is off.\n"
    assert command("models", "drop", "c") == "c is gone.\n"
    assert len(command.rows("models")) == 1
    wrong = ("--kind", "chat", "--model", "m", "--setting")
    assert "setting: temperature has no =" in command("models", "register", "m", *wrong, "temperature", status=1)


@pytest.mark.compares_words
def test_policy(command: Commands) -> None:
    assert command("policy", "diff") == "All settings are the built-in ones.\n"
    assert command("policy", "set", "context.max_tokens", 8000, "--user", "ana") == "context.max_tokens is 8000.\n"
    changed = {"setting": "context.max_tokens", "built_in": 4000, "value": 8000}
    assert command.rows("policy", "diff", "--user", "ana") == [changed]
    assert command.rows("policy", "show", "--user", "ana")[0]["context"]["max_tokens"] == 8000
    assert command("policy", "reset", "context.max_tokens", "--user", "ana") == "context.max_tokens is 4000 again.\n"
    assert command("policy", "set", "messages.expires_after", "30 days") == "messages.expires_after is 30 days.\n"
    assert command("policy", "set", "--file", "-", stdin='{"search": {"rrf_k": 50}}') == "Changed.\n"
    assert len(command.rows("policy", "diff")) == 2
    assert "search.rrf_k" in command("policy", "diff", "--agent", "helper")
    assert "- is not a JSON object" in command("policy", "set", "--file", "-", status=1, stdin="5")
    assert "takes a key and a value" in command("policy", "set", "x", status=1)
    assert 'unknown section "nonsense"' in command("policy", "set", "nonsense.x", 1, status=1)


def test_context_says_what_each_source_takes(command: Commands, memory: Memory) -> None:
    memory.add_memory("ana", f"Likes tea {EVIL}")
    memory.add_message("ana", "t1", "user", "Which tea do I like?")
    rows = command.rows("context", "ana", "t1")
    shown = command("context", "ana", "t1")
    total = sum(row["token_count"] for row in rows)
    assert {row["source"] for row in rows} >= {"memories", "message"}
    assert f"total {total}" in " ".join(shown.split())
    assert "\x1b" not in shown
    assert command.rows("search", "ana", "tea", "--sources", "memory")[0]["source"] == "memory"


def test_import_and_export(command: Commands, memory: Memory, tmp_path: Any) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [{"role": "user", "content": f"{number} \x1b[31m"} for number in range(1005)]
    memory.add_messages("ana", "t1", [*said, {"role": "assistant", "content": "", "tool_calls": [call]}])
    memory.add_message("ana", "t2", "user", "Hi", metadata={"a": 1})
    since = datetime(2026, 3, 1, tzinfo=timezone.utc)
    values: dict[str, Any] = {"tags": ["drinks"], "confidence": 0.5, "importance": 0.9, "valid_from": since}
    memory.add_memory("ana", "Likes tea", "preference", thread_id="t1", metadata={"a": 1}, **values)
    path = tmp_path / "ana.jsonl"
    assert "Exported 1008 records of ana." in command.run("export", "ana", path).stderr
    assert path.stat().st_mode & 0o777 == 0o600
    assert f"{path} is there already" in command("export", "ana", path, status=1)
    dry = command("import", path, "--user", "bob", "--dry-run")
    assert dry == "Would import 1007 messages and 1 memory into 2 threads of 1 user.\n"
    [counts] = command.rows("import", path, "--user", "bob")
    assert counts == {
        "dry_run": False,
        "bad": 0,
        "messages": 1007,
        "memories": 1,
        "stored_before": 0,
        "threads": 2,
        "users": 1,
    }
    assert "; 1008 stored already" in command("import", path, "--user", "bob")
    for thread in ("t1", "t2"):
        copied, original = (memory.get_messages(user, thread) for user in ("bob", "ana"))
        assert [(each.role, each.content, each.metadata, each.created_at) for each in copied] == [
            (each.role, each.content, each.metadata, each.created_at) for each in original
        ]
    [tea] = memory.list_memories("bob")
    assert (tea.content, tea.memory_type, tea.thread_id) == ("Likes tea", "preference", "t1")
    assert {name: getattr(tea, name) for name in values} == values
    assert tea.metadata["a"] == 1  # beside the time at which it was stored first
    assert command("export", "nobody") == ""


@pytest.mark.feature("F32")
def test_an_export_has_whole_threads(command: Commands, memory: Memory, tmp_path: Any) -> None:
    memory.admin.set_policy(settings={"compression": {"threshold_tokens": 1000000, "recent_messages_to_keep": 2}})
    log = "\n".join(f"{number:04}  src/module_{number}.py: 3 warnings" for number in range(300))
    said = [{"role": "user", "content": f"question {number}"} for number in range(20)]
    memory.add_messages("ana", "t1", [*said, {"role": "tool", "content": log, "tool_call_id": "1"}])
    memory.compress_thread("ana", "t1")
    command("worker", "--once")
    assert len(memory.get_messages("ana", "t1")) == 2
    path = tmp_path / "ana.jsonl"
    command.run("export", "ana", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["content"] for line in lines if "role" in line] == [*(each["content"] for each in said), log]


def test_import_names_what_it_leaves_out(command: Commands, memory: Memory) -> None:
    lines = '{"role": "user", "content": "Hi"}\n{"role": "x\x1b[2J"}\n' + "{\n" * 30
    result = command.run("import", "-", "--user", "ana", status=1, stdin=lines)
    assert "Imported 1 message into 1 thread of 1 user." in result.stdout
    assert result.stderr.count("Left out: ") == 20
    assert "stdin, line 2: " in result.stderr
    assert "... and 11 more left out" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert "Error: " in command("import", "-", "--user", "bob", "--strict", status=1, stdin=lines)
    assert memory.list_threads("bob") == []


def test_tables_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    monkeypatch.setattr(printing, "console", narrow)
    printing.print_table(("user", "text", "n"), [("u" * 255, "word " * 50, 1), ("ana", "[red]", 22)], right=("n",))
    assert isinstance(narrow.file, io.StringIO)
    printed = narrow.file.getvalue()
    assert max(map(len, printed.splitlines())) <= 80
    assert (printed.count("u"), printed.count("word"), "[red]" in printed) == (256, 50, True)


def test_what_a_terminal_would_obey() -> None:
    assert harmless("a\tb\nc\r\nd") == "a\tb\nc\nd"
    assert harmless("é 中 🎉 \u200d") == "é 中 🎉 \u200d"
    assert harmless("\x00\x1b\x7f\x85\u2066") == "␀␛␡��"


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys, agent_memory.cli; print([name for name in ('openai', 'pydantic', 'tiktoken', 'onnxruntime',"
        " 'langgraph', 'agent_memory.importer', 'fastapi', 'uvicorn', 'jwt') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_an_artifact_on_a_terminal_and_in_a_file(
    command: Commands, memory: Memory, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    memory.store_artifact("ana", "a\x1b[2Jb", key="log")
    monkeypatch.setattr("agent_memory.cli.artifacts.console", Console(force_terminal=is_terminal))
    assert command("artifacts", "show", "ana", "log") == ("a␛[2Jb" if is_terminal else "a\x1b[2Jb")
