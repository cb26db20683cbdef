"""The command agent-memory demo."""

import json
from pathlib import Path

import pytest

from tests.support.servers import Run


@pytest.mark.feature("E17")
def test_demo(run: Run) -> None:
    result = run("demo")
    assert result.returncode == 0, result.stderr
    assert "Preferences extracted:" in result.stdout
    story = ["2026-03-15  and I prefer a window seat", "2026-07-04  I prefer an aisle seat"]
    assert [result.stdout.count(line) for line in story] == [1, 1]
    assert result.stdout.index(story[0]) < result.stdout.index(story[1])
    questions = Path(__file__).parents[2] / "python_client" / "agent_memory" / "demo" / "questions.json"
    for question in json.loads(questions.read_text()):
        _, _, answer = result.stdout.partition(question["question"])
        assert question["looks_for"] in answer
    assert result.stderr == ""
