"""The examples of the README and of docs/artifacts.md print what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.servers import Server

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
ARTIFACTS = (ROOT / "docs" / "artifacts.md").read_text()


def without_days(printed: str) -> str:
    """Output in which every day looks the same: a context says on which day something was said, which is today."""
    return re.sub(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d *", "DAY", printed.strip())


def examples(language: str) -> list[tuple[str, str]]:
    """Each code block of the language that is followed by its output, with that output."""
    return re.findall(rf"```{language}\n(.*?)```\n```\n(.*?)```", README, re.DOTALL)


FIRST_CODE, FIRST_SHOWN = examples("python")[0]


def run_first_lines(**environment: Path) -> tuple[str, str]:
    """Run the first program of the README; return what it wrote to stdout and to stderr."""
    kept = {name: value for name, value in os.environ.items() if name != "AGENT_MEMORY_DSN"}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CODE],
        env=kept | {name: str(path) for name, path in environment.items()},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout, done.stderr


def run_worker(dsn: str) -> None:
    subprocess.run([Path(sys.executable).with_name("agent-memory"), "worker", "--once", "--dsn", dsn], check=True)


def test_the_first_commands_install_with_an_owner_who_is_no_superuser(server: Server) -> None:
    [commands] = re.findall(r"^## Five calls from SQL\n\n```sh\n(.*?)```", README, re.MULTILINE | re.DOTALL)
    names = {"memory_owner": "owner_of_readme", " app": " app_of_readme"}
    for name, other in names.items():
        commands = commands.replace(name, other)
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands], cwd=ROOT, check=True, capture_output=True, text=True,
            env={**os.environ, "PGHOST": server.host, "PGPORT": str(server.port), "PGUSER": server.user,
                 "PATH": f"{server.bin_dir}:{os.environ['PATH']}"},
        )  # fmt: skip
        assert 'Schema memory belongs to role "owner_of_readme". Extensions that agent_memory has made' in done.stderr
        with psycopg.connect(server.conninfo("app_of_readme")) as connection:
            owners = "select distinct proowner::regrole::text from pg_proc where pronamespace = 'memory'::regnamespace"
            assert connection.execute(owners).fetchall() == [("owner_of_readme",)]
            extensions = connection.execute("select extname from pg_extension").fetchall()
            assert ("plpython3u",) not in extensions
    finally:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("drop database if exists app_of_readme")
            connection.execute("drop owned by owner_of_readme; drop role if exists owner_of_readme")


@pytest.mark.feature("B13")
def test_sql_examples_print_what_the_readme_shows(server: Server, dsn: str) -> None:
    blocks = examples("sql")
    assert len(blocks) == 5
    for sql, shown in blocks:
        psql = [str(server.bin_dir / "psql"), "-X", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", "-"]
        done = subprocess.run(psql, input=sql, capture_output=True, text=True, check=True)
        if "extract_memories" in sql:
            run_worker(dsn)
        assert without_days(done.stdout) == without_days(shown)


@pytest.mark.feature("F18", "E17")
def test_the_first_lines_print_what_the_readme_shows(minilm: Path, tmp_path: Path) -> None:
    """They run twice: by an empty store, and by the store that the first run has left."""
    for _ in range(2):
        assert run_first_lines(XDG_DATA_HOME=tmp_path, AGENT_MEMORY_MODEL_DIR=minilm) == (FIRST_SHOWN, "")


@pytest.mark.feature("F18")
def test_without_the_weights_of_the_model_the_first_lines_print_the_same_and_warn(tmp_path: Path) -> None:
    (tmp_path / "no weights").mkdir()
    printed, warned = run_first_lines(XDG_DATA_HOME=tmp_path, AGENT_MEMORY_MODEL_DIR=tmp_path / "no weights")
    assert printed == FIRST_SHOWN
    assert warned.count("Warning: ") == 1  # once in a process, and not for each line that searches
    assert "DegradedWarning: searching by keyword only, not by meaning: the small embedding model" in warned
    assert "agent-memory models local" in warned
    assert "Traceback" not in warned


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


def test_the_statements_of_the_artifacts_page_return_what_it_shows(db: psycopg.Connection) -> None:
    shown = re.findall(r"^(select [^;]*;)\n((?:-- .*\n)+)", ARTIFACTS, re.MULTILINE)
    assert len(shown) == 5
    for statement, comments in shown:
        [row] = db.execute(statement).fetchall()
        lines = " | ".join(row).splitlines()
        assert lines == [line.removeprefix("--").strip() for line in comments.splitlines()], statement
