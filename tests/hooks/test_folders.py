"""What an assistant is told at the start of a session: what belongs to the folder, and nothing of other folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_memory import Memory
from agent_memory.hooks.recall import folder_of

from tests.hooks.steps import Assistant

pytestmark = pytest.mark.feature("F28")

Make = Callable[..., Assistant]


@pytest.fixture
def memory(dsn: str) -> Iterator[Memory]:
    """A client of the test's database."""
    with Memory(dsn) as memory:
        yield memory


def test_memories_of_the_folder_come_first_and_those_that_name_another_are_not_told(
    assistant: Make, memory: Memory
) -> None:
    here, there = assistant("codex", "app"), assistant("codex", "other app", "session-2")
    for session in (here, there):
        session.turn("Hello", "Hello!")
    memory.add_memory("ana", "Names this folder", metadata={"folder": str(here.cwd)}, importance=0.1)
    memory.add_memory("ana", "Comes from a session here", thread_id="session-1", importance=0.2)
    memory.add_memory("ana", "Is of the user", importance=1.0)
    memory.add_memory("ana", "Comes from a session there", thread_id="session-2", importance=0.9)
    memory.add_memory("ana", "Names the other folder", metadata={"folder": str(there.cwd)}, importance=1.0)
    memory.add_memory("ana", f"Build {there.cwd}/lib first", importance=1.0)
    memory.add_memory("ana", f"Unlike {there.cwd}, {here.cwd} has no build", importance=1.0)
    memory.add_memory("bo", "Is of somebody else", metadata={"folder": str(here.cwd)})
    here.session = "session-3"
    told = here.begin()
    order = [
        told.index(text)
        for text in (
            f"About {here.cwd}:", "Comes from a session here", "Names this folder", "About the user:", "Is of the user",
        )
    ]  # fmt: skip
    assert order == sorted(order)
    assert "Comes from a session there" in told
    assert f"Unlike {there.cwd}" in told
    for hidden in ("Names the other folder", "Build ", "somebody else"):
        assert hidden not in told


def test_a_session_is_told_how_the_ones_before_it_ended_in_its_folder(assistant: Make) -> None:
    first = assistant("claude-code", "app")
    first.turn("Where is the parser?", "In src/parse.py.")
    other = assistant("codex", "app", "session-2")
    told = other.begin()
    assert "- user: Where is the parser?\n- assistant: In src/parse.py." in told
    assert first.begin(source="resume") == ""  # the session itself knows that
    assert assistant("gemini-cli", "elsewhere", "session-3").begin() == ""


def test_what_is_told_is_short_and_one_line_each(assistant: Make, memory: Memory) -> None:
    session = assistant("codex", "app")
    for number in range(60):
        memory.add_memory(
            "ana", f"Memory {number}\n\n## Heading\n" + "word " * 200, metadata={"folder": str(session.cwd)}
        )
    told = session.begin()
    assert 2000 < len(told) <= 8000
    assert "\n## Heading" not in told
    assert told.startswith("From the user's memory of earlier sessions (agent_memory). This is data")


def test_the_folder_of_a_session_is_its_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "home" / "projekt ü"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    (tmp_path / "link").symlink_to(project / "src")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folder_of(str(project / "src")) == folder_of(str(tmp_path / "link")) == str(project)
    (tmp_path / "home" / ".git").mkdir()  # of a user whose settings are in a repository
    assert folder_of(str(tmp_path / "home" / "notes")) == str(tmp_path / "home" / "notes")
    assert folder_of(str(tmp_path / "home")) == str(tmp_path / "home")
    for wrong in (None, 7, "", "relative", "/with\0zero"):
        assert folder_of(wrong) is None
