"""The recipes of docs/where.md, on a server with the roles and limits of each service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.install.steps import ANA, VERSION, use
from tests.install.upgrades import Build, altered
from tests.support.installer import execute, open_as
from tests.support.pgbouncer import bouncing, needs_pgbouncer
from tests.support.servers import ROOT, Run, Server
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F27")

PAGE = (ROOT / "docs" / "where.md").read_text()
EXAMPLE = ROOT / "examples" / "sqlalchemy_session.py"
OF_SUPABASE = """
    create role {owner} login createrole createdb bypassrls;
    create role anon nologin noinherit; create role authenticated nologin noinherit;
    create role service_role nologin noinherit bypassrls; create role authenticator login noinherit;
    grant anon, authenticated, service_role to authenticator;
    grant anon, authenticated, service_role to {owner} with admin option"""


def blocks(heading: str, language: str) -> list[str]:
    """The examples of a section of the page."""
    [section] = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def command(*arguments: str, **environment: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", *arguments],
        check=False, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def roles_once(connection: psycopg.Connection, name: str, statements: str) -> None:
    """Roles are the server's: an earlier test may have made them, and those of agent_memory, as another owner."""
    if not connection.execute("select from pg_roles where rolname = %s", [name]).fetchall():
        connection.execute(statements.encode())
        if connection.info.server_version >= 160000:
            for role in ("app", "tenant", "worker", "reader", "admin"):
                connection.execute(f"grant memory_{role} to {name} with admin option".encode())


# Supabase -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def supabase(dsn: str, empty_dsn: str) -> str:
    """A database as Supabase gives one to its role postgres, and where that role logs in."""
    name = str(conninfo_to_dict(empty_dsn)["dbname"])
    with open_as(empty_dsn) as connection:
        assert dsn  # which has made the roles of agent_memory
        roles_once(connection, "supabase_postgres", OF_SUPABASE.format(owner="supabase_postgres"))
        connection.execute(
            sql.SQL("alter database {} owner to supabase_postgres; alter schema public owner to supabase_postgres")
            .format(sql.Identifier(name))
            .as_string(connection)
            .encode()
        )
        connection.execute("create schema extensions authorization supabase_postgres")
        if connection.execute("select from pg_available_extensions where name = 'pgcrypto'").fetchall():
            connection.execute("create extension pgcrypto schema extensions")
        connection.execute(blocks("Supabase", "sql")[0].encode())
    return make_conninfo(empty_dsn, user="supabase_postgres")


def as_postgrest(dsn: str, role: str, user_id: str | None, statement: str, *values: Any) -> list[Any]:
    """What PostgREST sends for a request."""
    claims = {"role": role, **({} if user_id is None else {"sub": user_id, "exp": 4102444800})}
    with open_as(dsn, user="authenticator") as connection, connection.transaction():
        connection.execute(
            "select set_config('role', %s, true), set_config('request.jwt.claims', %s, true)",
            [role, json.dumps(claims)],
        )
        return connection.execute(statement.encode(), values).fetchall()


def test_people_who_have_signed_in_reach_their_own_memory_on_supabase(supabase: str) -> None:
    execute(supabase, command("sql"))
    for example in blocks("Supabase", "sql")[1:]:
        execute(supabase, example)
    remember, recall = "select public.remember(%s)", "select * from public.recall(%s)"
    for user_id in ("a1b2", "c3d4"):
        as_postgrest(supabase, "authenticated", user_id, remember, f"{user_id} likes tea")
    for user_id in ("a1b2", "c3d4"):
        found = as_postgrest(supabase, "authenticated", user_id, recall, "tea")
        assert found == [(f"{user_id} likes tea",)]
    for role, claimed in (("anon", None), ("service_role", "a1b2"), ("authenticated", None)):
        with pytest.raises(errors.InsufficientPrivilege):
            as_postgrest(supabase, role, claimed, recall, "tea")
    with open_as(supabase) as connection:
        api = Api(connection)
        assert api.tenant_user() is None
        assert {check.check_name for check in api.doctor() if not check.ok} == set()
        runner = "select lanname from pg_proc p join pg_language l on l.oid = prolang where proname = 'run_jobs'"
        assert api.value(runner) == "plpgsql"
        command("install", "--dsn", supabase)  # an upgrade keeps the trust
        assert as_postgrest(supabase, "authenticated", "a1b2", recall, "tea") == [("a1b2 likes tea",)]
        api.unbind_role(role_name="authenticated")
    with pytest.raises(errors.InsufficientPrivilege, match="bound to no user"):
        as_postgrest(supabase, "authenticated", "a1b2", recall, "tea")


# RDS, Cloud SQL, Neon -------------------------------------------------------------------------------------------------


@pytest.fixture
def managed(dsn: str, empty_dsn: str) -> str:
    """A database of a service with the owner that the page tells to create, and where that one logs in."""
    recipe = blocks("RDS, Aurora, Cloud SQL", "sql")[0]
    assert dsn
    with open_as(empty_dsn) as connection:
        roles_once(connection, "memory_owner", recipe.splitlines()[0])
        database = str(conninfo_to_dict(empty_dsn)["dbname"])
        connection.execute("\n".join(recipe.splitlines()[1:]).replace("database app", f"database {database}").encode())
    return make_conninfo(empty_dsn, user="memory_owner")


def test_an_owner_of_a_managed_database_installs_and_works(managed: str) -> None:
    assert f"Installed agent_memory {VERSION}" in command("install", "--dsn", managed)
    with open_as(managed) as connection:
        api = Api(connection)
        assert all(check.ok for check in api.doctor())
        api.talk(**ANA, rounds=10)
        api.add_memory(user_id="ana", content="Likes tea")
        assert len(api.search(user_id="ana", query="tea", sources=["memory"])) == 1
    assert "completed" in command("worker", "--once", "--dsn", managed)


@needs_pgbouncer
@pytest.mark.parametrize("how", ["install", "psql"])
def test_it_is_installed_and_upgraded_through_a_pooler(
    managed: str, server: Server, run: Run, build: Build, tmp_path: Path, how: str
) -> None:
    file = tmp_path / "later.sql"
    file.write_text(build(altered()))
    with bouncing(server, managed, "memory_owner") as there:
        for _ in range(2):
            if how == "install":
                command("install", "--dsn", there)
            else:
                run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", ROOT / "build" / "agent_memory.sql", there)
        with Memory(there) as memory:
            assert memory.version() == VERSION
            assert memory.add_message("ana", "t1", "user", "Hello").seq == 0
        if how == "psql":
            run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", file, there)
    with open_as(managed) as connection:
        use(Api(connection))


# Passwords that expire ------------------------------------------------------------------------------------------------


# SQLAlchemy -----------------------------------------------------------------------------------------------------------


def test_memory_and_rows_of_an_application_share_a_session_of_sqlalchemy(dsn: str, db: psycopg.Connection) -> None:
    parts = conninfo_to_dict(dsn)
    url = f"postgresql+psycopg://{parts['user']}@/{parts['dbname']}?host={parts['host']}&port={parts['port']}"

    def book(places: int) -> subprocess.CompletedProcess[str]:
        arguments = [sys.executable, str(EXAMPLE), url, "ana", "trains", str(places)]
        return subprocess.run(arguments, check=False, capture_output=True, text=True)

    booked = book(2)
    assert (booked.returncode, booked.stderr) == (0, "")
    assert booked.stdout == "message 0: Book 2 trains.\nHas booked trains\n"
    refused = book(0)
    assert (refused.returncode, refused.stderr) == (1, "Not booked, and nothing of it remembered.\n")
    counts = "select (select count(*) from bookings), (select count(*) from memory.messages)"
    assert db.execute(counts).fetchone() == (1, 1)
