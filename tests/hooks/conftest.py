"""A user's home folder, with spaces and letters of other languages, and assistants whose hooks use a database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from agent_memory import Memory

from tests.hooks.steps import Assistant


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of a user."""
    home = tmp_path / "die Häuser" / "ana's"
    home.mkdir(parents=True)
    return home


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    """Makes the folder of a project."""

    def make(name: str) -> Path:
        folder = tmp_path / "work" / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        return folder

    return make


@pytest.fixture
def assistant(home: Path, project: Callable[[str], Path], dsn: str) -> Callable[..., Assistant]:
    """Makes an assistant in a project whose hooks use the test's database, for ana."""

    def make(name: str = "claude-code", folder: str = "mein projekt", session: str = "session-1") -> Assistant:
        transcript = home / f"{session}.jsonl" if name == "claude-code" else None
        made = Assistant(name, home, project(folder), session, transcript)
        made.install("--user", "ana", "--dsn", dsn)
        return made

    return make


@pytest.fixture
def said_in(dsn: str) -> Callable[..., list[tuple[str, str]]]:
    """Reads a thread."""

    def read(thread: str = "session-1", user: str = "ana") -> list[tuple[str, str]]:
        with Memory(dsn) as memory:
            return [(message.role, message.content) for message in memory.get_messages(user, thread)]

    return read
