"""An installation in a schema of another name: it serves like any other, also beside one in schema memory.

No database here but that of two installations has a schema memory, so what reaches for that schema fails. How the rooms
answer there, a part of their tests says (``make test-schema``).
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory, NotInstalledError
from agent_memory.cli import app
from agent_memory.install import install, one_statement, sql_file
from agent_memory.schema import SCHEMA, cursors_in, file_in_schema, in_schema, named_schema
from agent_memory.uninstall import uninstall
from agent_memory.worker import Worker
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool
from typer.testing import CliRunner

from tests.http.steps import with_keys
from tests.install.steps import use
from tests.install.test_uninstall import OBJECTS
from tests.install.upgrades import LATER, Build, altered
from tests.support.installer import execute
from tests.support.servers import ROOT
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F33")

NAME = "app_memory"
OWN_ROLES = "-c agent_memory.role_prefix="
"""Roles are named as on a server that says nothing about their names."""
Dump = Callable[..., str]


@pytest.fixture
def dsn(empty_dsn: str) -> Iterator[str]:
    """A database with agent_memory in schema app_memory alone."""
    dsn = make_conninfo(empty_dsn, options=OWN_ROLES)
    command(dsn, "install")
    yield dsn
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in (NAME, SCHEMA):
            if connection.execute("select to_regnamespace(%s)", [name]).fetchone() != (None,):
                uninstall(connection, schema=name)  # the roles belong to the server


def connect(dsn: str, name: str = NAME) -> psycopg.Connection:
    """A connection whose statements are renamed, as those of the commands are."""
    return psycopg.connect(dsn, autocommit=True, cursor_factory=cursors_in(name))


def command(dsn: str, *arguments: str, status: int = 0, name: str = NAME) -> str:
    done = CliRunner().invoke(app, [*arguments, "--dsn", dsn, "--schema", name])
    assert done.exit_code == status, done.output
    return done.output


def objects(dsn: str) -> set[str]:
    with connect(dsn) as connection:
        return {row[0] for row in connection.execute(OBJECTS).fetchall()}


def test_each_place_that_gets_the_name_names_an_object() -> None:
    built = sql_file().decode()
    made = r"create (?:or replace )?(?:table|type|sequence|view|function|procedure)(?: if not exists)? memory\.(\w+)"
    known = set(re.findall(made, built)) | {*re.findall(r"_replace_view\('(\w+)'", built)}
    made_otherwise = {"summaries_user_id_base_summary_id_fkey", "jobs_job_id_seq"}
    settings_and_locks = {"rows_are_copied", "is_forgetting", "change_name", "marks", "artifacts"}
    named = set(re.findall(r"(?<![\w.$-])memory\.([a-z_]\w*)", in_schema(built, "memory ")))
    assert not named
    named = set(re.findall(rf"(?<![\w.$-]){NAME}\.([a-z_]\w*)", in_schema(built, NAME)))
    turns = {name for name in named if name.startswith("turn_of_")}
    assert named - known - turns <= made_otherwise | settings_and_locks


@pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning")
def test_the_clients_and_the_worker_find_everything_there(dsn: str) -> None:
    with Memory(dsn, schema=NAME) as memory:
        memory.add_message("ana", "t", "user", "My name is Ana and I live in Porto.")
        memory.add_memory("ana", "Likes green tea")
        memory.extract_memories("ana", "t")
        counts = asyncio.run(Worker(dsn, schema=NAME).run(once=True))
        assert (counts.failed, counts.completed > 0) == (0, True)
        assert {each.content for each in memory.list_memories("ana")} >= {"Likes green tea"}
        assert "Likes green tea" in {each.content for each in memory.search("ana", "tea")}
        assert any("green tea" in part.content for part in memory.get_context("ana", "t", "What tea?"))
        with memory.buffer() as buffer:
            buffer.add_message("ana", "t", "user", "Later")
        assert [each.content for each in memory.get_messages("ana", "t")][-1] == "Later"
        exported = memory.export_user("ana")
        assert memory.forget_user("ana")["tables"]["messages"] == 2
        memory.admin.import_user("ana", exported, lift_tombstones=True)
        assert len(memory.get_messages("ana", "t")) == 2
        assert all(check.ok for check in memory.admin.doctor())

    async def asked() -> str:
        async with AsyncMemory(dsn, schema=NAME) as memory:
            return (await memory.list_threads("ana"))[0].thread_id

    assert asyncio.run(asked()) == "t"


def test_a_connection_and_a_pool_of_the_application_keep_their_own_statements(dsn: str) -> None:
    with psycopg.connect(dsn) as connection, ConnectionPool(dsn, min_size=1) as pool:
        for source in (connection, pool):
            memory = Memory(source, schema=NAME)
            memory.add_message("ana", "t", "user", "Hello")
            connection.commit()
        assert connection.execute("select count(*) from app_memory.messages").fetchone() == (2,)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select from memory.messages")


def test_the_environment_names_the_schema(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_SCHEMA", NAME)
    monkeypatch.setenv("AGENT_MEMORY_DSN", dsn)
    with Memory() as memory:
        memory.add_message("ana", "t", "user", "Hello")
    with with_keys(dsn, AGENT_MEMORY_SCHEMA=NAME) as serving, serving.client() as client:
        assert client.get("/healthz").status_code == 200
        assert "Hello" in client.post("/v1/get_messages", json={"user_id": "ana", "thread_id": "t"}).text
        assert "\nagent_memory_database_up 1.0\n" in client.get("/metrics").text


def test_upgrades_keep_the_data_and_the_name(dsn: str, dump: Dump, build: Build) -> None:
    with connect(dsn) as connection:
        api = Api(connection)
        use(api)
        before = dump(dsn)
        install(connection, NAME)
        assert dump(dsn) == before
        messages = api.value("select count(*) from memory.messages")
        connection.execute(file_in_schema(build(altered()), NAME).encode())
        assert api.value("select memory.version()") == LATER
        assert api.value("select count(*) from memory.messages where extra = 7") == messages
    assert f"schema {SCHEMA}" not in objects(dsn)


def test_two_installations_share_no_data_and_no_roles(dsn: str) -> None:
    command(dsn, "install", name=SCHEMA)
    with Memory(dsn) as one, Memory(dsn, schema=NAME) as other:
        one.add_message("ana", "t", "user", "of memory")
        other.add_message("ana", "t", "user", "of app_memory")
        other.add_memory("bob", "Only there")
        assert [each.content for each in one.get_messages("ana", "t")] == ["of memory"]
        assert [each.content for each in other.get_messages("ana", "t")] == ["of app_memory"]
        one.forget_user("ana")
        assert len(other.get_messages("ana", "t")) == 1
    with connect(dsn) as connection:
        granted = connection.execute(
            "select n.nspname, r.rolname from pg_namespace as n, pg_roles as r"
            " where n.nspname in ('memory', 'app_memory') and not r.rolsuper and r.rolname ~ '_(app|tenant|worker)'"
            " and has_schema_privilege(r.oid, n.oid, 'usage') order by 1, 2"
        ).fetchall()
    of = {name: {role for schema_, role in granted if schema_ == name} for name in (NAME, SCHEMA)}
    assert of[NAME] == {"app_memory_app", "app_memory_tenant", "app_memory_worker"}
    assert of[SCHEMA]
    assert not of[NAME] & of[SCHEMA]
    said = command(dsn, "uninstall", "--yes")
    assert "drop schema app_memory cascade" in said
    assert "stays: extension vector\n       another agent_memory in this database needs it" in said
    assert f"schema {NAME}" not in objects(dsn)
    with Memory(dsn) as memory:
        memory.add_message("ana", "t", "user", "Hello")


def test_a_renamed_schema_says_so_until_its_functions_are_made_anew(dsn: str, dump: Dump) -> None:
    made = dump(dsn, "--schema-only")
    with Memory(dsn, schema=NAME) as memory:
        memory.add_message("ana", "t", "user", "Before")
    execute(dsn, f"alter schema {NAME} rename to its_memory")
    with Memory(dsn, schema="its_memory") as memory:
        with pytest.raises(
            NotInstalledError, match=r'"its_memory" .* had been renamed.*"app_memory" does not'
        ) as error:
            memory.add_message("ana", "t", "user", "Meanwhile")
        assert "agent-memory install --schema its_memory" in str(error.value)
        with pytest.raises(NotInstalledError):
            memory.admin.doctor()
    assert "Rename it back" in command(dsn, "doctor", name="its_memory", status=1)
    assert 'schema "its_memory" was schema "app_memory"' in command(dsn, "install", status=1)
    command(dsn, "install", name="its_memory")
    assert dump(dsn, "--schema-only").replace("its_memory", NAME) == made
    with connect(dsn, "its_memory") as connection:
        memory = Memory(connection, schema="its_memory")
        memory.add_message("ana", "t", "user", "After")
        assert [each.content for each in memory.get_messages("ana", "t")] == ["Before", "After"]
        memory.forget_user("ana")
        assert all(check.ok for check in memory.admin.doctor())
        old = "select from pg_proc where pronamespace = 'its_memory'::regnamespace and prosrc ~ '\\mapp_memory\\.'"
        assert connection.execute(old).fetchall() == []
        uninstall(connection, schema="its_memory")


@pytest.mark.parametrize("name", ["App Memory", "1st", "", "pg_memory", "public", "é", "m" * 41])
def test_a_name_that_would_need_quotes_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"^schema: "):
        one_statement(name)


def test_a_word_of_sql_is_refused(api: Api) -> None:
    words = api.value("select array_agg(word) from pg_get_keywords() where catcode in ('R', 'T')")
    for word in words:
        with pytest.raises(InvalidValueError, match=r"^schema: "):
            named_schema(word)


def test_an_embedded_store_has_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidValueError, match="an embedded store has the schema memory"):
        Memory(path=tmp_path, schema=NAME)
    monkeypatch.setenv("AGENT_MEMORY_SCHEMA", NAME)
    monkeypatch.delenv("AGENT_MEMORY_DSN", raising=False)
    with pytest.raises(InvalidValueError, match="an embedded store has the schema memory"):
        Memory()


def test_values_in_a_statement_stay() -> None:
    statement = sql.SQL("select {} from {} where a = 'memory' and b ~ memory.f()").format(
        sql.Literal("memory.messages"), sql.Identifier("memory", "jobs")
    )
    assert in_schema(statement, NAME).as_string(None) == (
        "select 'memory.messages' from \"app_memory\".\"jobs\" where a = 'memory' and b ~ app_memory.f()"
    )


def test_the_checksum_is_that_of_the_file() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", "sql", "--checksum"], capture_output=True, text=True
    )
    built = subprocess.run(["sha256sum", ROOT / "build" / "agent_memory.sql"], capture_output=True, text=True)
    assert done.stdout.split() == built.stdout.split()[:1]
