"""What is shipped: the wheel, and the container image as far as that can run without an engine."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import psycopg
import pytest
from embed import embed
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.install.steps import VERSION
from tests.support.servers import CORE_SQL, INSTALL_SQL, ROOT, Server, running_server


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", str(ROOT)]
    subprocess.run(command, cwd=folder, check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        yield wheel


def test_the_wheel_holds_both_packages_and_prints_the_built_sql(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    assert {"agent_memory/py.typed", "agent_memory_models/__init__.py"} <= set(wheel.namelist())
    wheel.extractall(tmp_path)
    for options, built in (((), INSTALL_SQL), (("--core",), CORE_SQL)):
        command = [sys.executable, "-c", "from agent_memory.cli import app; app()", "install", "--print", *options]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=True)
        assert done.stdout == built.read_bytes()


def test_every_file_that_names_the_version_names_this_one() -> None:
    found = {
        name: {*re.findall(pattern, (ROOT / name).read_text())}
        for name, pattern in {
            "CHANGELOG.md": r"\A# Changelog\n(?:.*\n)*?## (\S+)",
            "docker/kubernetes/install.yaml": r"agent-memory:(\d+[.]\d+[.]\d+)",
            "docker/kubernetes/kustomization.yaml": r'newTag: "(.*)"',
            "docs/deployment.md": r"agent-memory:(\d+[.]\d+[.]\d+)",
            "docs/what-runs-in-my-database.md": r"agent_memory-(\d+[.]\d+[.]\d+)",
            "typescript_client/package.json": r'"version": "(.*)"',
        }.items()
    }
    assert found == {name: {VERSION} for name in found}


def test_an_installation_takes_at_most_three_megabytes_of_its_own(wheel: zipfile.ZipFile) -> None:
    assert sum(file.file_size for file in wheel.infolist()) <= 3 * 2**20


def test_the_built_sql_carries_the_packages_to_the_letter(tmp_path: Path) -> None:
    hard = "a = '$b$ \\n \\\\ \t{{kinds}}'\nb = \"\"\"ä ’ 🙂\"\"\"\nc = ''''d'''\n\n"
    (tmp_path / "hard").mkdir()
    (tmp_path / "hard" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "hard" / "text.py").write_text(hard, encoding="utf-8")
    literal = embed(tmp_path / "hard")
    as_plpython_runs_it = literal.replace("\n", "\n\t")
    assert ast.literal_eval(as_plpython_runs_it) == {"hard": "", "hard.text": hard}
    assert literal.isascii()
    assert "$" not in literal
    packages = [ROOT / "plpython" / name for name in ("agent_memory_models", "agent_memory_server")]
    assert embed(*packages) in INSTALL_SQL.read_text(encoding="utf-8")


def test_the_package_is_imported_without_its_dependencies() -> None:
    code = "import sys; before = {*sys.modules}; import agent_memory; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.partition(".")[0] for name in done.stdout.split()}
    assert packages - sys.stdlib_module_names == {"agent_memory"}


def test_plpython_needs_nothing_that_the_package_does_not_depend_on() -> None:
    lines = (ROOT / "plpython" / "requirements.txt").read_text().splitlines()
    wanted = [Requirement(line) for line in requires("pg-agent-memory") or ()]
    named = {f"{each.name}{each.specifier}" for each in wanted}
    assert {line for line in lines if not line.startswith("#")} <= named


def test_the_command_line_needs_no_other_extra() -> None:
    """An import that finds no package of an extra stands in for an environment that has base and cli alone."""
    wanted = [Requirement(line) for line in requires("pg-agent-memory") or ()]
    base = {
        canonicalize_name(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": "cli"})
    }
    base |= {canonicalize_name(name) for name in ("psycopg-pool", "pg-agent-memory")}
    extras = {canonicalize_name(each.name) for each in wanted} - base
    modules = {
        module
        for module, owners in packages_distributions().items()
        if extras & {canonicalize_name(owner) for owner in owners}
    }
    assert {"fastapi", "mcp", "openai", "platformdirs", "psutil", "tiktoken", "uvicorn"} <= modules
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name.partition('.')[0] in {sorted(modules)!r}:\n"
        "            raise ModuleNotFoundError(f'{name} is of an extra')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from typer.main import get_command\n"
        "from agent_memory.cli import app\n"
        "commands = get_command(app).commands\n"
        "for name, command in commands.items():\n"
        "    command.main([*([next(iter(command.commands))] if hasattr(command, 'commands') else []), '--help'],"
        " standalone_mode=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") > 20


ABSENT = """
import sys
class Absent:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"{{name}} is of an extra", name=name)
import importlib.util as u
find = u.find_spec
u.find_spec = lambda name, *rest: None if name in {modules!r} else find(name, *rest)
sys.meta_path.insert(0, Absent())
"""
"""What makes a program run as if packages of extras were missing."""


@pytest.mark.feature("C1")
def test_the_client_needs_psycopg_alone(dsn: str) -> None:
    modules = {"fastapi", "openai", "pydantic", "rich", "semantic_text_splitter", "starlette", "tiktoken", "typer"}
    code = ABSENT.format(modules=modules) + (
        "from agent_memory import Memory\n"
        "memory = Memory(sys.argv[1])\n"
        "memory.add_message('ana', 't', 'user', 'I like tea.')\n"
        "memory.add_memory('ana', 'Likes tea')\n"
        "print([each.content for each in memory.search('ana', 'tea', sources=['memory'], mode='keyword')])\n"
        "print(memory.get_context('ana', 't')[-1].content)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, dsn], capture_output=True, text=True, check=False)
    assert done.stdout == "['Likes tea']\nI like tea.\n", done.stderr


@pytest.mark.parametrize(
    ("missing", "code", "extra"),
    [
        ("typer", "import agent_memory.cli", "cli"),
        ("openai", "from agent_memory.jobs.background import models; models()", "worker"),
    ],
)
def test_a_missing_extra_is_named(missing: str, code: str, extra: str) -> None:
    program = ABSENT.format(modules={missing}) + code
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"needs the package {missing}" in done.stderr
    assert f"'pg-agent-memory[{extra}]'" in done.stderr


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
