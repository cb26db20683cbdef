"""Running the install file, as it is or as a later version builds it."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
from agent_memory.install import execute as run_script
from psycopg.conninfo import make_conninfo

from tests.support.servers import INSTALL_SQL, ROOT


def open_as(dsn: str, **parameters: Any) -> psycopg.Connection:
    return psycopg.connect(make_conninfo(dsn, **parameters), autocommit=True)


def execute(dsn: str, statement: str | bytes) -> None:
    with open_as(dsn) as connection:
        connection.execute(statement)


def install(dsn: str, script: str | None = None, **parameters: Any) -> None:
    with open_as(dsn, **parameters) as connection:
        run_script(connection, INSTALL_SQL.read_bytes() if script is None else script.encode())


def build_version(folder: Path, files: dict[str, str]) -> str:
    """The install file as it is built with further files in sql/, by their paths there.

    With a migration among the files the current version counts as released, and the file is of the version at which the
    last migration ends.
    """
    sources = copied_sources(folder)
    if migrations := [path for path in files if "migrations/" in path]:
        the_build(sources).tables.freeze(sources / "sql")
        project = sources / "pyproject.toml"
        later = max(path.rpartition("/")[2] for path in migrations).removesuffix(".sql").rpartition("-")[2]
        project.write_text(re.sub(r"^version = .*", f'version = "{later}"', project.read_text(), flags=re.MULTILINE))
    for path, text in files.items():
        (sources / "sql" / path).parent.mkdir(parents=True, exist_ok=True)
        (sources / "sql" / path).write_text(text)
    return str(the_build(sources).build())


def copied_sources(folder: Path) -> Path:
    """A copy of all that the install file is built from."""
    sources = folder / "version"
    shutil.rmtree(sources, ignore_errors=True)
    for name in ("sql", "plpython", "lists"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", sources)
    return sources


def the_build(sources: Path) -> ModuleType:
    """sql/build.py of a working tree."""
    spec = importlib.util.spec_from_file_location("build", sources / "sql" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    return build
