"""The examples of the README print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.servers import Server

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
RUN_JOBS = "call memory.run_jobs();\n"


def without_days(printed: str) -> str:
    """Output in which every day looks the same: a context says on which day something was said, which is today."""
    return re.sub(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d *", "DAY", printed.strip())


def examples(language: str) -> list[tuple[str, str]]:
    """Each code block of the language that is followed by its output, with that output."""
    return re.findall(rf"```{language}\n(.*?)```\n```\n(.*?)```", README, re.DOTALL)


def run_worker(dsn: str) -> None:
    subprocess.run([Path(sys.executable).with_name("agent-memory"), "worker", "--once", "--dsn", dsn], check=True)


@pytest.mark.feature("B13")
def test_sql_examples_print_what_the_readme_shows(server: Server, dsn: str) -> None:
    blocks = examples("sql")
    assert len(blocks) == 5
    for sql, shown in blocks:
        here = sql if server.has_plpython else sql.replace(RUN_JOBS, "")
        psql = [str(server.bin_dir / "psql"), "-X", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", "-"]
        printed = subprocess.run(psql, input=here, capture_output=True, text=True, check=True).stdout
        if here != sql:  # without PL/Python the worker beside the server does the work
            run_worker(dsn)
            printed += "CALL\n"
        assert without_days(printed) == without_days(shown)


@pytest.mark.feature("F18", "E17")
def test_the_first_lines_print_what_the_readme_shows(minilm: Path, tmp_path: Path) -> None:
    """They run twice: by an empty store, and by the store that the first run has left."""
    code, shown = examples("python")[0]
    environment = {name: value for name, value in os.environ.items() if name != "AGENT_MEMORY_DSN"}
    environment |= {"XDG_DATA_HOME": str(tmp_path), "AGENT_MEMORY_MODEL_DIR": str(minilm)}
    for _ in range(2):
        run = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False, timeout=120)
        assert (done.stdout, done.stderr) == (shown, "")


@pytest.mark.feature("B13", "E17")
def test_python_example_prints_what_the_readme_shows(
    server: Server, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (code, shown) = examples("python")
    code = code.replace("postgresql:///app", dsn)
    if not server.has_plpython:
        code = code.replace("memory.run_jobs()", f"run_worker({dsn!r})")
    exec(code, {"run_worker": run_worker})
    assert without_days(capsys.readouterr().out) == without_days(shown)
