"""Steps of the tests of commands."""

import json
import subprocess
from typing import Any

from tests.support.servers import Run


class Commands:
    """Runs commands against the test's database."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def run(self, *arguments: object, status: int = 0, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        result = self._run(*map(str, arguments), stdin=stdin)
        assert result.returncode == status, result.stdout + result.stderr
        return result

    def __call__(self, *arguments: object, status: int = 0, stdin: str = "") -> str:
        result = self.run(*arguments, status=status, stdin=stdin)
        return result.stderr if status else result.stdout

    def rows(self, *arguments: object) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self(*arguments, "--json").splitlines()]
