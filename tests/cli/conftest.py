"""Fixtures of the tests of the command agent-memory."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_memory.cli import app
from typer.testing import CliRunner

from tests.cli.steps import Commands
from tests.support.servers import Run


@pytest.fixture
def run(dsn: str) -> Run:
    """Run the command in this process against the test's database, which it finds through the environment."""

    def run_command(*arguments: str | Path, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        # What a command changes of the package's log would hide records from other tests of this process.
        logger = logging.getLogger("agent_memory")
        level, filters = logger.level, logger.filters[:]
        given = {"AGENT_MEMORY_DSN": dsn, **environment}
        try:
            strings = [str(each) for each in arguments]
            result = CliRunner().invoke(app, strings, input=stdin, env=given, prog_name="agent-memory")
        finally:
            logger.setLevel(level)
            logger.filters[:] = filters
        return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)

    return run_command


@pytest.fixture
def process(dsn: str) -> Run:
    """Run the command as a process of its own."""

    def run_process(*arguments: str | Path, **environment: str) -> Any:
        command = [sys.executable, "-m", "agent_memory.cli", *map(str, arguments)]
        given = {**os.environ, "AGENT_MEMORY_DSN": dsn, "COLUMNS": "200", **environment}
        return subprocess.run(command, env=given, capture_output=True, encoding="utf-8", timeout=300, check=False)

    return run_process


@pytest.fixture
def command(run: Run) -> Commands:
    """Run commands that are expected to end with a status."""
    return Commands(run)
