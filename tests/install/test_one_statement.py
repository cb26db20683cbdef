"""The installation as one statement, which runs in the transaction of a migration tool."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import agent_memory.install
import pytest
from agent_memory.install import one_statement
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from tests.install.steps import ANA, VERSION
from tests.install.upgrades import LATER, PART, Build
from tests.support.installer import execute, install, open_as
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F27")

Dump = Callable[..., str]
SETTINGS = "select name, setting from pg_settings order by name"
OF_THE_TOOL = "create table versions (version text); insert into versions values ('1')"


@pytest.fixture(scope="module")
def statement() -> str:
    """What "agent-memory sql" prints."""
    command = [sys.executable, "-m", "agent_memory.cli", "sql"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ}).stdout


@pytest.fixture
def file(statement: str, tmp_path: Path) -> Path:
    path = tmp_path / "agent_memory.sql"
    path.write_text(statement)
    return path


def has_memory(dsn: str) -> bool:
    with open_as(dsn) as connection:
        return connection.execute("select to_regnamespace('memory') is not null").fetchone() == (True,)


def test_the_statement_makes_what_the_file_makes(dsn: str, empty_dsn: str, statement: str, dump: Dump) -> None:
    execute(empty_dsn, "create extension vector")
    with open_as(dsn) as connection:
        if connection.execute("select from pg_extension where extname = 'plpython3u'").fetchall():
            execute(empty_dsn, "create extension plpython3u")
    execute(empty_dsn, statement)
    assert dump(empty_dsn, "--schema-only") == dump(dsn, "--schema-only")


def of_a_later_version(build: Build, monkeypatch: pytest.MonkeyPatch) -> str:
    """What "agent-memory sql" of a later version prints."""
    later = build({PART: "alter table memory.memories alter column embedding_text type varchar;\n"})
    with monkeypatch.context() as patch:
        patch.setattr(agent_memory.install, "sql_file", lambda *_, **__: later.encode())
        return one_statement()


@pytest.mark.parametrize(("existing", "version"), [(None, VERSION), (VERSION, LATER)])
def test_an_installation_or_upgrade_is_rolled_back_with_the_transaction(
    empty_dsn: str,
    statement: str,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
    dump: Dump,
    existing: str | None,
    version: str,
) -> None:
    execute(empty_dsn, "create extension vector")
    if existing is not None:
        install(empty_dsn)
        statement = of_a_later_version(build, monkeypatch)

    def stored() -> str:
        """Everything but the place of the sequence of memory.audit, which no rollback takes back."""
        return re.sub(r"audit_id_seq', \d+", "", dump(empty_dsn))

    before = stored()
    for is_kept in (False, True):
        with open_as(empty_dsn) as connection, connection.transaction(force_rollback=not is_kept):
            connection.execute(OF_THE_TOOL)
            connection.execute(statement)
            connection.execute("update versions set version = '2'")
            api = Api(connection)
            assert api.version() == version
            assert api.add_message(**ANA, role="user", content="Hello").seq == 0
        if not is_kept:
            assert stored() == before
    with open_as(empty_dsn) as connection:
        assert all(check.ok for check in Api(connection).doctor())
        assert connection.execute("select version from versions").fetchall() == [("2",)]


def test_every_setting_is_as_it_was(empty_dsn: str, statement: str) -> None:
    execute(empty_dsn, "create extension vector; create schema own; create function own.now() returns int return 1")
    with open_as(empty_dsn) as connection, connection.transaction():
        connection.execute(
            "set search_path = own, pg_catalog, public; set local lock_timeout = '3s'; set work_mem = '5MB';"
            "set local client_min_messages = error; set check_function_bodies = off"
        )
        before: dict[str, str] = dict(connection.execute(SETTINGS).fetchall())
        for _ in range(2):
            connection.execute(statement)
            after: dict[str, str] = dict(connection.execute(SETTINGS).fetchall())  # pgvector brings settings of its own
            assert {name: after[name] for name in before} == before
        connection.execute("create table created (a int)")
        assert connection.execute("select to_regclass('own.created') is not null").fetchone() == (True,)


def test_nothing_in_the_statement_is_taken_for_a_value_of_a_tool(statement: str) -> None:
    """SQLAlchemy's :name, a driver's %s, JDBC's ?, Flyway's ${name}."""
    assert re.findall(r"[:%?]|\$\{", statement) == []


def test_an_error_says_what_the_file_would_say_and_does_not_repeat_the_statements(
    empty_dsn: str, statement: str
) -> None:
    execute(empty_dsn, "create extension vector; create schema memory; create table memory.notes (note text)")
    with open_as(empty_dsn) as connection, pytest.raises(errors.DuplicateSchema) as raised:
        connection.execute(statement)
    assert raised.value.diag.message_hint == "Install under another name: agent-memory install --schema NAME"
    assert raised.value.diag.message_primary == 'schema "memory" exists and holds something that is not agent_memory'
    assert len(str(raised.value)) < 1000


ENV = """
from alembic import context
from sqlalchemy import create_engine

with create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection, transaction_per_migration=False)
    with context.begin_transaction():
        context.run_migrations()
"""
MIGRATION = """
from pathlib import Path
from alembic import op

revision, down_revision = "1", None

def upgrade():
    op.execute("create table versions (version text)")
    op.execute((Path(__file__).parent / "agent_memory.sql").read_text())
    op.execute("insert into versions values ('1')")
"""
BROKEN = """
from alembic import op

revision, down_revision = "2", "1"

def upgrade():
    op.execute("select 1/0")
"""


def url_of(dsn: str, scheme: str) -> str:
    """A connection string in the form of an address."""
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    return f"{scheme}://{parts.pop('user')}@/{parts.pop('dbname')}?{urlencode(parts)}"


def test_alembic_runs_it_in_the_transaction_of_its_migrations(empty_dsn: str, file: Path, tmp_path: Path) -> None:
    execute(empty_dsn, "create extension vector")
    versions = tmp_path / "migrations" / "versions"
    versions.mkdir(parents=True)
    (versions.parent / "env.py").write_text(ENV)
    (versions / "1.py").write_text(MIGRATION)
    (versions / "2.py").write_text(BROKEN)
    shutil.copy(file, versions)
    url = url_of(empty_dsn, "postgresql+psycopg").replace("%", "%%")
    (tmp_path / "alembic.ini").write_text(f"[alembic]\nscript_location = migrations\nsqlalchemy.url = {url}\n")

    def upgrade(to: str) -> int:
        command = [sys.executable, "-m", "alembic", "upgrade", to]
        ended = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert ended.returncode == 0 or "division by zero" in ended.stderr, ended.stderr[-2000:]
        return ended.returncode

    assert upgrade("2") != 0
    assert not has_memory(empty_dsn)
    assert upgrade("1") == 0
    with open_as(empty_dsn) as connection:
        assert Api(connection).version() == VERSION
        assert connection.execute("select version_num from alembic_version").fetchall() == [("1",)]
