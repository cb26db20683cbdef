"""A hook never disturbs: broken input, a database that is away or hangs, and files that are not what they should be."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.hooks.steps import Assistant, said, variables

pytestmark = pytest.mark.feature("F28")

Make = Callable[..., Assistant]
Read = Callable[..., list[tuple[str, str]]]


def test_hostile_input_is_answered_by_nothing_and_a_line_in_the_log(assistant: Make, said_in: Read) -> None:
    session = assistant("codex")
    good = session.sent("Stop", last_assistant_message="Hello", turn_id="1")
    hostile = [
        b"", b"null", b"{", good[:-1], b"\xff\xfe" + good, b"[" * 200_000,
        json.dumps({"hook_event_name": "Stop"}).encode(),
        json.dumps({"hook_event_name": ["Stop"], "session_id": "s"}).encode(),
        json.dumps({"hook_event_name": "Unknown", "session_id": "s"}).encode(),
    ]  # fmt: skip
    for given in hostile:
        assert session.fire_bytes("Stop", given) == ""
    assert 7 <= len(session.log.splitlines()) <= len(hostile)
    assert said_in() == []
    session.fire_bytes("Stop", good)
    assert said_in() == [("assistant", "Hello")]


def test_any_text_is_stored(assistant: Make, said_in: Read) -> None:
    session = assistant("codex")
    texts = ["мир 世界 שלום 🏙 'x' \"y\" %s \\", "a\0b", "\ud800half", "x" * 3_000_000, "   "]
    for number, text in enumerate(texts):
        session.fire("UserPromptSubmit", prompt=text, turn_id=str(number))
    session.fire_bytes("UserPromptSubmit", session.sent("UserPromptSubmit").replace(b"null", b'"caf\xe9"', 1)[:-1]
                       + b', "prompt": "caf\xe9", "turn_id": "latin"}')  # fmt: skip
    assert session.log == ""
    stored = [text for _, text in said_in()]
    assert stored[:3] == [texts[0], "a\N{REPLACEMENT CHARACTER}b", "\N{REPLACEMENT CHARACTER}half"]
    assert len(stored[3]) == 1_000_006
    assert stored[4:] == ["caf\N{REPLACEMENT CHARACTER}"]


def test_a_transcript_that_is_none_costs_nothing(assistant: Make, tmp_path: Path) -> None:
    session = assistant()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(random.Random(7).randbytes(1 << 20))
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("/dev/zero"), tmp_path / "binary"):
        session.transcript = path
        session.fire("Stop")
    assert session.log == ""


def test_a_long_transcript_is_read_at_its_end(assistant: Make, said_in: Read) -> None:
    session = assistant()
    session.write(said("user", "Too long ago"))
    output = [{"type": "tool_result", "content": "x" * (1 << 20)}]
    for _ in range(33):
        session.write(said("user", output))
    session.write(said("user", "Now"), said("assistant", "Yes."))
    session.fire("Stop")
    assert said_in() == [("user", "Now"), ("assistant", "Yes.")]
    session.write(*[said("user", f"{number}") for number in range(450)])
    session.fire("Stop")
    assert [text for _, text in said_in()][2:] == [str(number) for number in range(450)]


def test_a_database_that_is_away_or_hangs_holds_nobody_up(assistant: Make, home: Path) -> None:
    session = assistant("codex")
    kept = home / ".codex" / "agent-memory.json"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for address, wait in (("127.0.0.1:1", 5), (f"127.0.0.1:{silent.getsockname()[1]}", 20)):
            kept.write_text(json.dumps({"user": "ana", "dsn": f"postgresql://ana:hunter2@{address}/x"}))
            began = time.monotonic()
            assert session.begin() == ""
            assert time.monotonic() - began < wait
    lines = session.log.splitlines()
    assert len(lines) == 2
    assert "codex SessionStart: " in lines[0]
    assert "hunter2" not in session.log


def test_a_call_that_waits_for_a_lock_is_given_up(assistant: Make, said_in: Read, dsn: str) -> None:
    session = assistant("codex")
    session.turn("Hello", "Hello!")
    with psycopg.connect(dsn) as other:
        other.execute("lock table memory.messages in access exclusive mode")
        session.fire("Stop", last_assistant_message="Late", turn_id="2")
        assert "gave up after 6 s" in session.log
    session.fire("Stop", last_assistant_message="Late", turn_id="2")
    assert said_in()[2:] == [("assistant", "Late")]


def test_the_log_holds_no_text_stays_small_and_is_no_link(assistant: Make, home: Path, tmp_path: Path) -> None:
    session = assistant("codex")
    log = home / ".codex" / "agent-memory.log"
    log.write_text("x" * (2 << 20))
    session.fire_bytes("Stop", b'{"prompt": "my secret" oops')
    assert len(log.read_text()) < 1000
    assert "my secret" not in log.read_text()
    log.unlink()
    log.symlink_to(tmp_path / "other")
    session.fire_bytes("Stop", b"{")
    assert not (tmp_path / "other").exists()


def test_modules_in_the_folder_of_a_session_are_not_loaded(assistant: Make, said_in: Read) -> None:
    session = assistant("codex")
    for name in ("json", "psycopg", "agent_memory", "sitecustomize", "threading"):
        (session.cwd / f"{name}.py").write_text("import os; os.abort()")
    session.turn("Hello", "Hello!")
    assert len(said_in()) == 2


def test_a_hook_loads_little(home: Path) -> None:
    code = (
        "import sys; sys.argv = ['agent-memory', 'hooks', 'run', 'codex', '/nowhere'];"
        "from agent_memory.cli import app; import agent_memory.hooks.place, agent_memory.hooks.turns,"
        " agent_memory.hooks.recall, agent_memory.embedded.share;"
        "print(sorted({'typer', 'rich', 'pydantic', 'openai', 'fastembed', 'onnxruntime', 'agent_memory.client._sync'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=variables(home), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
