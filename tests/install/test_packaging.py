"""What is shipped: the wheel, and the container image as far as that can run without an engine."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import requires
from pathlib import Path

import psycopg
import pytest

from tests.support.servers import INSTALL_SQL, ROOT, Server, running_server


def test_the_wheel_holds_the_built_sql_and_both_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", str(ROOT)]
    subprocess.run(command, cwd=tmp_path, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert wheel.read("agent_memory/agent_memory.sql") == INSTALL_SQL.read_bytes()
        assert {"agent_memory/py.typed", "agent_memory_models/__init__.py"} <= set(wheel.namelist())


def test_plpython_needs_nothing_that_the_package_does_not_depend_on() -> None:
    lines = (ROOT / "plpython" / "requirements.txt").read_text().splitlines()
    assert {line for line in lines if not line.startswith("#")} <= set(requires("pg-agent-memory") or ())


def test_the_container_initialises_its_database(server: Server) -> None:
    if server.kind != "system":
        pytest.skip("the container has PL/Python and pg_cron")
    preload = {"shared_preload_libraries": "pg_cron", "cron.use_background_workers": "on"}
    with running_server("system", preload) as container:
        with psycopg.connect(container.conninfo(), autocommit=True) as connection:
            connection.execute("create database app")
        script = ROOT / "docker" / "initdb.d" / "10-agent-memory.sh"
        variables = {
            "PATH": f"{container.bin_dir}:{os.environ['PATH']}",
            "PGHOST": container.host,
            "PGPORT": str(container.port),
            "POSTGRES_USER": container.user,
            "POSTGRES_DB": "app",
            "AGENT_MEMORY_SQL": str(INSTALL_SQL),
        }
        subprocess.run([script], env=variables, check=True)
        with psycopg.connect(container.conninfo("app")) as connection:
            assert connection.execute("select memory.version()").fetchone() is not None
        with psycopg.connect(container.conninfo()) as connection:
            jobs = connection.execute("select database, command from cron.job").fetchall()
        assert jobs == [("app", "select memory.sweep()")]
