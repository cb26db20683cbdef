"""The examples of docs/adapters.md print what it shows."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import pytest

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "adapters.md").read_text()
EXAMPLES = re.findall(r"^## (.*?)$(?:(?!^## ).)*?^```python\n(.*?)^```\n```\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)


@pytest.mark.usefixtures("environment")
@pytest.mark.filterwarnings(
    "ignore::agent_memory.DegradedWarning",
    "ignore:unclosed:ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.feature("F15")
@pytest.mark.parametrize(
    ("code", "shown"), [example[1:] for example in EXAMPLES], ids=[title for title, *_ in EXAMPLES]
)
def test_example_prints_what_the_docs_show(code: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len([line for line in code.splitlines() if line]) <= 14
    exec(code, {})
    assert capsys.readouterr().out == shown
    gc.collect()  # closes, within this test, what short examples leave open


def test_every_section_has_an_example() -> None:
    assert len(EXAMPLES) == DOCS.count("\n## ")
