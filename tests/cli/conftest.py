"""Fixtures of the tests of the command agent-memory, which runs as a process."""

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.servers import Run

# Each process is forked from one that has the packages: importing them takes half a second, a command a tenth of that.
# Typer imports its other module, with all of pydantic, when a command runs.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["agent_memory.cli", "typer._adapters"])
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
        process = _PROCESSES.Process(target=_run, args=([str(each) for each in arguments], given, files, Path.cwd()))
        process.start()
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([*map(str, arguments)], _PATIENCE)
        stdout, stderr = (file.read_text(encoding="utf-8") for file in files[1:])
        return subprocess.CompletedProcess(arguments, process.exitcode, stdout, stderr)

    return run_command


def _run(arguments: list[str], environment: dict[str, str], files: list[Path], folder: Path) -> None:
    """Be the command: as ``python -m agent_memory.cli``, in the process that was forked for it."""
    from agent_memory.cli import app

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    for number, file in enumerate(files):
        opened = os.open(file, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    sys.argv = ["agent-memory", *arguments]
    try:
        app(prog_name="agent-memory")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
