"""Hooks on an embedded store: who starts it, who keeps it running, many at once, and hooks that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from agent_memory import Memory
from agent_memory.embedded import open_store

from tests.hooks.steps import Assistant, at_once, said, variables
from tests.support.runners import wait_until

pytestmark = [pytest.mark.feature("F28"), pytest.mark.own_server]


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a store in which no model is looked for; its processes end with the test."""
    no_model = home / ".cache" / "agent-memory" / "no-model"
    no_model.parent.mkdir(parents=True)
    no_model.touch()
    os.utime(no_model, (time.time() + 3600,) * 2)
    monkeypatch.setenv("HOME", str(home))
    for variable in [name for name in os.environ if name.startswith(("XDG_", "PG", "AGENT_MEMORY_"))]:
        monkeypatch.delenv(variable)
    folder = home / "der Speicher auf der zweiten Platte des Rechners"  # too long for the path of a socket
    yield folder
    for keeper in keepers(folder):
        keeper.kill()
        keeper.wait()
    if folder.exists():
        open_store(folder).close()  # the last user stops the server


def keepers(folder: Path) -> list[psutil.Process]:
    """The processes that keep a store running."""
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if line[-3:-1] == ["agent_memory.hooks.keep", str(folder)]:
            found.append(process)
    return found


def messages(folder: Path, session: str) -> list[tuple[str, str]]:
    """What is stored of a session."""
    with Memory(path=folder) as memory:
        return [(message.role, message.content) for message in memory.get_messages("ana", session)]


@pytest.fixture
def sessions(home: Path, project: Callable[[str], Path], store: Path) -> Callable[[int], list[Assistant]]:
    """Makes sessions of one assistant each, whose hooks use the store."""

    def make(count: int) -> list[Assistant]:
        names = ["claude-code", "codex", "gemini-cli"]
        made: list[Any] = []
        for number in range(count):
            name = names[number % 3]
            transcript = home / f"{number}.jsonl" if name == "claude-code" else None
            made.append(Assistant(name, home, project("app"), f"session-{number}", transcript))
        for first in made[:3]:
            # What is named is nearer than the environment.
            first.install("--user", "ana", "--store", store, AGENT_MEMORY_DSN="postgresql://127.0.0.1:1/nothing")
        return made

    return make


def test_the_first_hook_starts_the_store_and_one_process_keeps_it(
    sessions: Callable[[int], list[Assistant]], store: Path, home: Path
) -> None:
    [session] = sessions(1)
    kept = json.loads((home / ".claude" / "agent-memory.json").read_text(encoding="utf-8"))
    assert kept == {"user": "ana", "store": str(store), "made_file": True}
    assert keepers(store) == []
    session.turn("Hello", "Hello!")
    assert len(keepers(store)) == 1
    for number in range(2):
        session.turn(f"Question {number}", f"Answer {number}")
    assert len(keepers(store)) == 1
    assert len(messages(store, "session-0")) == 6
    assert session.log == ""
    # Each process reaches the server by a link with a shorter path; only the keeper's may be left.
    links = Path("/tmp").glob("agent-memory-socket-*/data")
    assert len([link for link in links if link.resolve() == store / "data"]) <= 1
    # Others of the user share the store, such as the MCP server of the assistant.
    with Memory(path=store) as memory:
        memory.add_memory("ana", "Likes short answers")
    assert "Likes short answers" in session.begin()


def test_a_hook_during_the_start_of_the_keeper_starts_no_other(
    sessions: Callable[[int], list[Assistant]], store: Path
) -> None:
    [session] = sessions(1)
    session.begin()
    [keeper] = keepers(store)
    keeper.suspend()
    session.turn("Hello", "Hello!")
    assert keepers(store) == [keeper]
    keeper.resume()
    assert session.log == ""


def test_many_assistants_at_once_lose_nothing(sessions: Callable[[int], list[Assistant]], store: Path) -> None:
    made = sessions(3)

    def work(session: Assistant) -> None:
        session.begin()
        session.turn(f"{session.session} asks", f"{session.session} answers")

    at_once(*[lambda session=session: work(session) for session in made])
    for session in made:
        assert session.log == ""
        expected = [("user", f"{session.session} asks"), ("assistant", f"{session.session} answers")]
        assert messages(store, session.session) == expected


def test_hooks_that_are_killed_leave_the_next_one_all_to_store(
    sessions: Callable[[int], list[Assistant]], store: Path
) -> None:
    [session] = sessions(1)
    session.begin()
    expected = []
    for number in range(5):
        session.write(said("user", f"Question {number}"), said("assistant", f"Answer {number}"))
        expected += [("user", f"Question {number}"), ("assistant", f"Answer {number}")]
        [command] = session.commands("Stop")
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"], stdin=subprocess.PIPE, env=variables(session.home), cwd=session.cwd
        )
        assert process.stdin is not None
        process.stdin.write(session.sent("Stop"))
        process.stdin.close()
        time.sleep(number * 0.13)
        process.send_signal(signal.SIGKILL)
        process.wait()
    session.fire("SessionEnd", reason="exit")
    assert messages(store, "session-0") == expected


def test_a_killed_server_and_keeper_come_back_with_the_next_hook(
    sessions: Callable[[int], list[Assistant]], store: Path
) -> None:
    [session] = sessions(1)
    session.turn("One", "1")
    [keeper] = keepers(store)
    keeper.kill()
    keeper.wait()
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if any(word.startswith("cluster_name=agent-memory-") for word in line) and process.cwd() == str(store / "data"):
            process.kill()
            process.wait()
    session.turn("Two", "2")
    wait_until(lambda: len(keepers(store)) == 1)
    assert [text for _, text in messages(store, "session-0")] == ["One", "1", "Two", "2"]
