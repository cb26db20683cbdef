"""An assistant as its hooks see it: it reads its settings, and starts the commands of an event with JSON on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_memory.cli import app
from typer.testing import CliRunner

FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini-cli": ".gemini/settings.json"}
STARTS = "SessionStart"
PATIENCE = 180


def command(*arguments: str | Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run agent-memory as a user of this home folder."""
    # A process of its own, with the name and the folder that the installed command has.
    program = Path(sys.executable).with_name("agent-memory")
    return subprocess.run(
        [program, *arguments],
        env=variables(home) | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def variables(home: Path) -> dict[str, str]:
    """The environment of a user without settings, a database or an embedding model."""
    dropped = ("XDG_", "PG", "AGENT_MEMORY_", "CLAUDE_", "CODEX_", "GEMINI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {"HOME": str(home), "COLUMNS": "200"}


@dataclass
class Assistant:
    """An assistant of a user.

    Attributes:
        name: its name.
        home: the user's home folder.
        cwd: the folder that the session is in.
        session: the session.
        transcript: its transcript, of Claude Code.
    """

    name: str
    home: Path
    cwd: Path
    session: str = "session-1"
    transcript: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The file of the hooks."""
        return self.home / FILES[self.name]

    def install(self, *options: str | Path, **environment: str) -> None:
        """Have the hooks installed."""
        given: dict[str, str | None] = {**dict.fromkeys(os.environ), **variables(self.home), **environment}
        done = CliRunner().invoke(app, ["hooks", "install", self.name, *map(str, options)], env=given)
        assert done.exit_code == 0, done.stderr

    def commands(self, event: str) -> list[str]:
        """The commands of an event, as the assistants read them: groups without a matcher are for all sessions."""
        groups = json.loads(self.file.read_text(encoding="utf-8"))["hooks"].get(event, [])
        assert all("matcher" not in group for group in groups)
        handlers = [handler for group in groups for handler in group["hooks"]]
        assert all(handler["type"] == "command" for handler in handlers)
        return [handler["command"] for handler in handlers]

    def start(self, command: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
        """Start a command as assistants do, by the shell in the folder of the session."""
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=given,
            cwd=self.cwd,
            env=variables(self.home) | self.environment,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )

    def sent(self, event: str, **fields: Any) -> bytes:
        """What an assistant writes to a hook."""
        path = None if self.transcript is None else str(self.transcript)
        usual = {"session_id": self.session, "transcript_path": path, "cwd": str(self.cwd), "hook_event_name": event}
        return json.dumps(usual | fields).encode()

    def fire(self, event: str, **fields: Any) -> str:
        """Let an event happen, and return what the hooks tell the model."""
        return self.fire_bytes(event, self.sent(event, **fields))

    def fire_bytes(self, event: str, given: bytes) -> str:
        """The same with any input; a hook ends well, and writes the documented JSON or nothing."""
        told = []
        for each in self.commands(event):
            done = self.start(each, given)
            assert (done.returncode, done.stderr) == (0, b"")
            if done.stdout:
                [(name, output)] = json.loads(done.stdout).items()
                assert name == "hookSpecificOutput"
                assert output.keys() == {"hookEventName", "additionalContext"}
                assert output["hookEventName"] == event == STARTS
                told.append(output["additionalContext"])
        return "\n".join(told)

    def begin(self, source: str = "startup") -> str:
        """Begin a session, and return what the model is told."""
        return self.fire(STARTS, source=source)

    def turn(self, prompt: str, answer: str, number: int = 1) -> None:
        """Take a turn: its prompt and its answer, as each assistant tells them to hooks."""
        if self.name == "claude-code":
            self.fire("UserPromptSubmit", prompt=prompt)
            self.write(said("user", prompt), said("assistant", [{"type": "text", "text": answer}]))
            self.fire("Stop", stop_hook_active=False, last_assistant_message=answer)
        elif self.name == "codex":
            turn = {"turn_id": f"turn-{number}", "model": "gpt-5", "permission_mode": "default"}
            self.fire("UserPromptSubmit", prompt=prompt, **turn)
            self.fire("Stop", stop_hook_active=False, last_assistant_message=answer, **turn)
        else:
            moment = f"2026-11-27T10:00:{number:02}.000Z"
            self.fire("AfterAgent", prompt=prompt, prompt_response=answer, stop_hook_active=False, timestamp=moment)

    def write(self, *lines: Any) -> None:
        """Add lines to the transcript."""
        assert self.transcript is not None
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    @property
    def log(self) -> str:
        """What hooks have said of errors."""
        log = self.file.parent / "agent-memory.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""


_numbers = iter(range(1_000_000))


def said(role: str, content: Any, **members: Any) -> dict[str, Any]:
    """A line of a transcript of Claude Code."""
    return {"type": role, "uuid": f"uuid-{next(_numbers)}", "message": {"role": role, "content": content}, **members}


def at_once(*calls: Any) -> list[Any]:
    """The results of calls that run together."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]
