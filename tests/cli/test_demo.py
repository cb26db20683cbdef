"""The command agent-memory demo."""

import json
import re
from pathlib import Path

import pytest

from tests.support.servers import Run


@pytest.mark.feature("E17")
def test_demo(run: Run) -> None:
    result = run("demo")
    assert result.returncode == 0, result.stderr
    assert "Preferences extracted:" in result.stdout
    assert re.search(r"^  2026-07-04  user: .*I prefer an aisle seat", result.stdout, re.MULTILINE)
    assert re.search(r"^  from a context of \d+ memories, \d+ messages, \d+ tokens", result.stdout, re.MULTILINE)
    questions = Path(__file__).parents[2] / "python_client" / "agent_memory" / "demo" / "questions.json"
    for question in json.loads(questions.read_text()):
        _, _, answer = result.stdout.partition(question["question"])
        assert question["looks_for"] in answer
    assert result.stderr == ""
