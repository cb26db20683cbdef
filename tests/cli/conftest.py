"""Fixtures of the tests of the command agent-memory, which runs as a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.servers import Run


@pytest.fixture
def run(dsn: str) -> Run:
    """Run the command against the test's database, which it finds through the environment."""

    def run_command(*arguments: str | Path, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "agent_memory.cli", *arguments],
            env={**os.environ, "AGENT_MEMORY_DSN": dsn, "COLUMNS": "200", **environment},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run_command
