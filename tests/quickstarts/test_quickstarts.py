"""The programs in docs/quickstarts.md, run as they stand there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.support.servers import ROOT, Run, Server

DOCUMENT = (ROOT / "docs" / "quickstarts.md").read_text()


def program(language: str) -> str:
    """The block of a language in the document."""
    [block] = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    return str(block)


def variables(dsn: str) -> dict[str, str]:
    """The database as libpq's variables."""
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
    return {variable: str(parts[name]) for name, variable in names.items()}


def check(db: psycopg.Connection, output: str) -> None:
    assert "Which tea do I like?" in output
    assert "Likes green tea" in output
    assert db.execute("select count(*) from memory.messages").fetchone() == (1,)
    assert db.execute("select count(*) from memory.memories").fetchone() == (1,)


def test_psql(db: psycopg.Connection, dsn: str, run: Run, server: Server, tmp_path: Path) -> None:
    if not (server.bin_dir / "psql").exists():
        pytest.skip("this installation of PostgreSQL has no psql")
    path = tmp_path / "quickstart.sql"
    path.write_text(program("sql"))
    result = run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={path}", **variables(dsn))
    check(db, result.stdout)
    [shown] = re.findall(r"```\n(  role .*?)```", DOCUMENT, re.DOTALL)
    printed = result.stdout + result.stderr[result.stderr.index("NOTICE:") :]
    assert [line for line in shown.splitlines() if line not in printed.splitlines()] == []


def test_node(db: psycopg.Connection, dsn: str, tmp_path: Path) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("there is no Node.js with npm")
    install = ["npm", "install", "--prefix", str(tmp_path), "--no-audit", "--no-fund", "pg"]
    installed = subprocess.run(install, capture_output=True, text=True, timeout=300, check=False)
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install pg: {installed.stderr.splitlines()[:1]}")
    path = tmp_path / "quickstart.js"
    path.write_text(program("js"))
    result = subprocess.run(
        ["node", path],
        env={**os.environ, **variables(dsn)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    check(db, result.stdout)
