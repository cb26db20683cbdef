"""The process of a command, forked from one that has the packages of commands and nothing of the tests."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from agent_memory.cli import app


def be_the_command(arguments: list[str], environment: dict[str, str], files: list[Path], folder: Path) -> None:
    """Be ``python -m agent_memory.cli``, with three files for the streams."""
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
