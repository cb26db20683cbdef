"""The assistants that have hooks, and how they differ."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE, UNSEEN_PATIENCE = 10, 60
"""Seconds after which an assistant ends a hook that it waits for, and one that it does not wait for."""


@dataclass(frozen=True)
class Assistant:
    """A coding assistant.

    Attributes:
        name: what ``agent-memory hooks install`` calls it.
        title: what people call it.
        variable: the environment's name of another folder than the usual one.
        folder: the folder of its settings, in the user's home, or in the folder that the variable names.
        file: its file that has the hooks, in that folder.
        start: the event at which a session begins.
        events: the events that have hooks, with members of the handler besides the usual ones.
        second: what a second is in its timeouts.
        note: what the user still has to do.
    """

    name: str
    title: str
    variable: str
    folder: str
    file: str
    events: dict[str, dict[str, Any]]
    start: str = "SessionStart"
    second: int = 1
    handler: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def home(self) -> Path:
        """The folder of its settings."""
        named = os.environ.get(self.variable)
        if named and self.name == "gemini-cli":  # GEMINI_CLI_HOME stands for the user's home
            return Path(named).expanduser() / self.folder
        return Path(named).expanduser() if named else Path.home() / self.folder

    def patience(self, event: str) -> int:
        """Return the seconds after which the assistant ends a hook; a hook gives up by itself before."""
        return UNSEEN_PATIENCE if self.events[event].get("async") else PATIENCE

    def group(self, event: str, command: str) -> dict[str, Any]:
        """Return what stands in the list of an event: for every session, a command."""
        handler = {**self.handler, "type": "command", "command": command, "timeout": self.patience(event) * self.second}
        return {"hooks": [{**handler, **self.events[event]}]}


ASSISTANTS = {
    assistant.name: assistant
    for assistant in (
        Assistant(
            name="claude-code",
            title="Claude Code",
            variable="CLAUDE_CONFIG_DIR",
            folder=".claude",
            file="settings.json",
            # Nobody waits for a hook that is asynchronous. The end of a session reads what such a hook has missed.
            events={"SessionStart": {}, "UserPromptSubmit": {"async": True}, "Stop": {"async": True}, "SessionEnd": {}},
        ),
        Assistant(
            name="codex",
            title="Codex",
            variable="CODEX_HOME",
            folder=".codex",
            file="hooks.json",
            events={"SessionStart": {}, "UserPromptSubmit": {}, "Stop": {}},
            note="Codex runs a new hook when you have trusted it: type /hooks there.",
        ),
        Assistant(
            name="gemini-cli",
            title="Gemini CLI",
            variable="GEMINI_CLI_HOME",
            folder=".gemini",
            file="settings.json",
            events={"SessionStart": {}, "AfterAgent": {}},
            second=1000,
            handler={"name": "agent-memory"},
        ),
    )
}
