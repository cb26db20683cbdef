"""The calls of docs/http.md answer what it shows."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.http.steps import KEY, token, with_keys

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "http.md").read_text()
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def without_ids(text: str) -> str:
    """Answers in which every id and time looks the same."""
    return TIME.sub("TIME", ID.sub("ID", text))


@pytest.mark.feature("B14")
def test_the_calls_of_the_page_answer_what_it_shows(dsn: str) -> None:
    blocks = re.findall(r"```sh\n([^`]*)```\n```json\n([^`]*)```", PAGE)
    assert len(blocks) == 6
    with with_keys(dsn) as serving:
        environment = {**os.environ, "AGENT_MEMORY_API_KEY": KEY, "TOKEN": token("ana"), "LC_ALL": "C.UTF-8"}
        before = ""
        for commands, shown in blocks:
            # Each block knows the variable of the first.
            here = (before + commands).replace("http://localhost:3001", serving.url)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", here.replace("curl -sS", "curl -w '\\n' -sS")],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.stderr, done.returncode) == ("", 0)
            printed = "".join(f"{line}\n" for line in done.stdout.splitlines() if line)
            assert without_ids(printed) == without_ids(shown)
            before = before or commands.splitlines(keepends=True)[0]
