"""The real assistants: their packages of npm, and how each is asked once, without a terminal, of a model's server here.

Whatever an assistant asks of other servers goes to the same one as its proxy, which refuses it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.hooks.steps import Assistant
from tests.support.servers import ROOT

FOLDER = ROOT / ".assistants"
"""Where the packages stay between runs."""
_INSTALLING, _ANSWERING = 240, 120
"""Seconds."""


class CannotHaveError(Exception):
    """There is no npm here, or npm has no such package for this machine."""


@dataclass(frozen=True)
class Real:
    """A real assistant.

    Attributes:
        package: its package of npm.
        program: what the package calls the command.
        options: those before the prompt. They stand for what a user does in a terminal: choose a model, trust a folder
            and its hooks.
        variables: the environment, with {url} in place of the model's server.
        files: files in the user's home before we come, by name. {url} as above.
    """

    package: str
    program: str
    options: tuple[str, ...]
    variables: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)

    def installed(self) -> str:
        """Have npm install the newest version, or keep the one that is there, and return which that is.

        Raises:
            CannotHaveError: there is none.
        """
        if shutil.which("npm") is None or shutil.which("node") is None:
            raise CannotHaveError("there is no npm")
        command = ["npm", "install", "--prefix", str(self._folder), "--no-audit", "--no-fund", "--loglevel=error"]
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                [*command, f"{self.package}@latest"], capture_output=True, text=True, check=False, timeout=_INSTALLING
            )
            said = done.stderr.strip()
        except subprocess.TimeoutExpired:
            said = f"npm did not end in {_INSTALLING} s"
        if not self._command.exists():
            raise CannotHaveError(f"npm has no {self.package} for this machine: {said[-300:]}")
        described = json.loads((self._folder / "node_modules" / self.package / "package.json").read_bytes())
        return str(described["version"])

    def write_files(self, home: Path, url: str) -> None:
        """Write what the user's home has before we come."""
        for name, text in self.files.items():
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text(text.replace("{url}", url), encoding="utf-8")

    def ask(self, session: Assistant, prompt: str, url: str) -> str:
        """Ask it once in the folder of a session, and return what it prints."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        elsewhere = {"HTTPS_PROXY": url, "HTTP_PROXY": url, "NO_PROXY": "127.0.0.1"}
        own = {name: value.replace("{url}", url) for name, value in self.variables.items()}
        done = subprocess.run(
            [self._command, *self.options, prompt],
            cwd=session.cwd,
            env={**kept, **elsewhere, **own, "HOME": str(session.home), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_ANSWERING,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def _folder(self) -> Path:
        return FOLDER / self.program

    @property
    def _command(self) -> Path:
        return self._folder / "node_modules" / ".bin" / self.program


REAL = {
    "claude-code": Real(
        package="@anthropic-ai/claude-code",
        program="claude",
        options=("-p",),
        variables={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "key-of-nobody",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        files={".claude/settings.json": '{\n\t"permissions": {"allow": []},   "cleanupPeriodDays": 30\n}'},
    ),
    "codex": Real(
        package="@openai/codex",
        program="codex",
        options=("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        variables={"KEY_OF_FAKE": "key-of-nobody"},
        files={
            ".codex/config.toml": 'model = "gpt-5"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
            'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "KEY_OF_FAKE"\n',
            ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command",   "command": "true"}]}]}}',
        },
    ),
    "gemini-cli": Real(
        package="@google/gemini-cli",
        program="gemini",
        options=("--model", "gemini-2.5-flash", "--prompt"),
        variables={
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_API_KEY": "key-of-nobody",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        files={
            ".gemini/settings.json": '{\n    "security": {"auth": {"selectedType": "gemini-api-key"}},\n'
            '    "privacy": {"usageStatisticsEnabled": false}\n}\n'
        },
    ),
}
