"""Fixtures of the tests of the command agent-memory, which runs as a process."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import be_the_command
from tests.support.servers import Run

# Each process is forked from one that has the packages: importing them takes half a second, a command a tenth of that.
# Typer imports its other module, with all of pydantic, when a command runs.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([be_the_command.__module__, "typer._adapters"])
_PATIENCE = 300.0


@pytest.fixture
def run(dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the command against the test's database, which it finds through the environment."""

    def run_command(*arguments: str | Path, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        folder = tmp_path_factory.mktemp("command")
        files = [folder / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(stdin, encoding="utf-8")
        given = {**os.environ, "AGENT_MEMORY_DSN": dsn, "COLUMNS": "200", **environment}
        if "PYTHONPATH" in environment:  # for a Python that starts anew
            return subprocess.run(
                [sys.executable, "-m", "agent_memory.cli", *arguments],
                env=given,
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                timeout=_PATIENCE,
                check=False,
            )
        process = _PROCESSES.Process(
            target=be_the_command, args=([str(each) for each in arguments], given, files, Path.cwd())
        )
        process.start()
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([*map(str, arguments)], _PATIENCE)
        stdout, stderr = (file.read_text(encoding="utf-8") for file in files[1:])
        return subprocess.CompletedProcess(arguments, process.exitcode, stdout, stderr)

    return run_command
