"""The command agent-memory demo."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from agent_memory.demo.demo import NEXT

from tests.support.servers import Run

pytestmark = [pytest.mark.feature("E17"), pytest.mark.own_server]


def test_demo(process: Run, tmp_path: Path) -> None:
    result = process("demo", AGENT_MEMORY_MODEL_DIR=str(tmp_path), PATH="/usr/bin:/bin")  # as "make demo" is run
    assert result.returncode == 0, result.stderr
    assert "It searches by keyword only" in result.stdout  # because the folder has no model
    assert "Preferences extracted:" in result.stdout
    assert re.search(r"The context for a model has \d+ tokens", result.stdout)
    questions = Path(__file__).parents[2] / "python_client" / "agent_memory" / "demo" / "questions.json"
    for question in json.loads(questions.read_text()):
        _, _, answer = result.stdout.partition(question["question"])
        assert question["looks_for"] in answer
    assert result.stderr == ""
    assert all(f"\n  {command}\n" in result.stdout for command in NEXT)
    assert f"\n  . {sys.prefix}/bin/activate\n" in result.stdout


def test_what_the_demo_says_to_do_next_works_in_an_empty_folder(tmp_path: Path) -> None:
    for name, program in (("agent-memory", "-m agent_memory.cli"), ("python3", "")):
        wrapper = tmp_path / "bin" / name
        wrapper.parent.mkdir(exist_ok=True)
        wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {program} "$@"\n')
        wrapper.chmod(0o755)
    work = tmp_path / "empty"
    work.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "AGENT_MEMORY_DSN"}
    environment |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "XDG_DATA_HOME": str(tmp_path / "data")}
    said = {}
    for command in NEXT:
        result = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert result.returncode == 0, (command, result.stderr)
        said[command.split()[1]] = result.stdout
    assert "I prefer trains over planes." in said["search"]
    assert f"embedded in {tmp_path / 'data'}" in said["status"]
    assert "absent: a worker runs inside the programs that use the store" in said["status"]
