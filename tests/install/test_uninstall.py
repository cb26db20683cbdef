"""agent-memory uninstall: what is agent_memory's goes, what others made stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest
from agent_memory.cli import app
from agent_memory.errors import ConflictError
from agent_memory.install import install as install_into
from agent_memory.uninstall import uninstall
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner, Result

from tests.install.steps import ANA
from tests.support.installer import execute, install, open_as
from tests.support.servers import ROOT, Server, install_agent_memory, running_server
from tests.support.sqlapi import Api
from tests.tenants.steps import login_role

pytestmark = pytest.mark.feature("F33")

OBJECTS = """
    select 'schema ' || nspname from pg_namespace where nspname !~ '^pg_(toast|temp)'
    union all select 'extension ' || extname from pg_extension
    union all select 'role ' || rolname from pg_roles
    union all select format('%s %s', relkind, oid::regclass) from pg_class
      where relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_')
    order by 1"""


@pytest.fixture
def objects(empty_dsn: str) -> Callable[[], list[str]]:
    """Tell what the database and its server have."""

    def list_all() -> list[str]:
        with open_as(empty_dsn) as connection:
            return [row[0] for row in connection.execute(OBJECTS).fetchall()]

    return list_all


@pytest.fixture
def installed(empty_dsn: str) -> str:
    """A database with roles and extensions of its own, and with what somebody has stored there."""
    install(empty_dsn, options="-c agent_memory.role_prefix=leaving")
    with open_as(empty_dsn) as connection:
        login_role(connection, "leaving_login", "leaving_app")
        Api(connection).add_message(**ANA, role="user", content="Hello")
    return empty_dsn


def run(dsn: str, *arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, ["uninstall", "--dsn", dsn, *arguments], input=answer)


def test_nothing_is_left(empty_dsn: str, objects: Callable[[], list[str]]) -> None:
    with open_as(empty_dsn) as connection:
        login_role(connection, "leaving_login")
    before = objects()
    install(empty_dsn, options="-c agent_memory.role_prefix=leaving")
    assert objects() != before
    execute(empty_dsn, "grant leaving_app to leaving_login; select memory.add_memory('ana', 'Likes tea')")
    done = run(empty_dsn, "--yes")
    assert done.exit_code == 0, done.output
    assert objects() == before


def test_the_statements_of_the_page_leave_nothing_either(empty_dsn: str, objects: Callable[[], list[str]]) -> None:
    before = objects()
    install(empty_dsn, options="-c agent_memory.role_prefix=leaving")
    page = (ROOT / "docs" / "operations.md").read_text()
    [statements] = re.findall(r"^### Remove it$.*?^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    _, drop_schema, drop_roles, drop_extension = re.sub(r" *--.*", "", statements).strip().rstrip(";").split(";\n")
    execute(empty_dsn, drop_schema)
    with open_as(empty_dsn) as connection, pytest.raises(errors.DependentObjectsStillExist):
        connection.execute(drop_roles.encode())  # of the other tests' databases
    execute(empty_dsn, drop_roles.replace("memory_", "leaving_"))
    with open_as(empty_dsn) as connection:
        for extension in set(objects()) - set(before):
            connection.execute(drop_extension.replace("extension pgcrypto", extension).encode())
    assert objects() == before


def test_a_dry_run_and_a_refusal_only_list_it(installed: str, objects: Callable[[], list[str]]) -> None:
    before = objects()
    for listed in (run(installed, "--dry-run"), run(installed, answer="n\n")):
        assert "drop schema memory cascade" in listed.output
        assert "drop role leaving_app" in listed.output
        assert "drop extension vector" in listed.output
        assert "for 1 user with conversations" in listed.output
    assert objects() == before
    assert run(installed, answer="y\n").exit_code == 0
    assert "schema memory" not in objects()


def test_what_others_made_or_use_stays(dsn: str, empty_dsn: str, objects: Callable[[], list[str]]) -> None:
    assert dsn != empty_dsn  # another database, which uses the roles memory_app, ...
    execute(empty_dsn, "create extension vector")
    install(empty_dsn)
    execute(empty_dsn, "create table public.hashes as select gen_random_uuid() as id")
    execute(empty_dsn, "create view public.encoded as select armor('tea')")
    said = run(empty_dsn, "--yes").output
    assert "stays: role memory_app\n       it has rights elsewhere" in said
    assert "stays: extension vector\n       agent_memory has not made it" in said
    assert "stays: extension pgcrypto\n       something else in this database needs it" in said
    assert {"extension vector", "extension pgcrypto", "role memory_app", "v encoded", "r hashes"} <= set(objects())
    assert "schema memory" not in objects()


OF_OTHERS = {
    "view public.recent": "create view public.recent as select content from memory.messages",
    "table constraint orders_u_a_fkey on public.orders": "create table public.orders (u text, a text,"
    " foreign key (u, a) references memory.memory_scopes)",
    "default value for public.ids.id": "create table public.ids (id text default memory.version())",
    "table memory.theirs": "create table memory.theirs (); alter table memory.theirs owner to leaving_login",
}


def test_what_others_built_on_the_schema_is_not_dropped(installed: str, objects: Callable[[], list[str]]) -> None:
    execute(installed, ";".join(OF_OTHERS.values()))
    before = objects()
    with open_as(installed) as connection, pytest.raises(ConflictError, match=r"^schema memory: ") as error:
        uninstall(connection)
    assert [named for named in OF_OTHERS if named not in str(error.value)] == []
    assert run(installed, "--yes").exit_code == 1
    assert objects() == before


def test_an_owner_without_superuser_uninstalls_what_is_his(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    with open_as(empty_dsn) as connection:
        login_role(connection, "leaving_owner")
        connection.execute("alter role leaving_owner createrole")
        connection.execute(f"alter database {connection.info.dbname} owner to leaving_owner".encode())
    install(empty_dsn, user="leaving_owner", options="-c agent_memory.role_prefix=leaving2")
    with open_as(empty_dsn, user="leaving_owner") as connection:
        stays = {part.what for part in uninstall(connection) if part.stays is not None}
        assert connection.execute("select to_regrole('leaving2_app'), to_regnamespace('memory')").fetchone() == (
            None,
            None,
        )
    assert stays == {"extension vector"}


@pytest.fixture
def with_cron(server: Server) -> Iterator[psycopg.Connection]:
    if server.kind == "embedded":
        pytest.skip("the embedded server has no pg_cron")
    settings = {"shared_preload_libraries": "pg_cron", "cron.use_background_workers": "on"}
    with running_server("system", settings) as cron_server:
        execute(cron_server.conninfo(), "create extension pg_cron")
        install_agent_memory(cron_server, "postgres")
        with open_as(cron_server.conninfo()) as connection:
            yield connection


def test_schedules_go_and_those_of_others_stay(with_cron: psycopg.Connection) -> None:
    Api(with_cron).schedule_jobs()
    with_cron.execute("select cron.schedule('theirs', '* * * * *', 'select 1')")
    install_into(with_cron, "app_memory")
    with_cron.execute("select app_memory.schedule_jobs()")
    jobs = "select jobname, command from cron.job order by jobname"
    uninstall(with_cron)
    assert with_cron.execute(jobs).fetchall() == [
        ("agent_app_memory jobs postgres", "call app_memory.run_jobs()"),
        ("agent_app_memory sweep postgres", "select app_memory.sweep()"),
        ("theirs", "select 1"),
    ]
    uninstall(with_cron, schema="app_memory")
    assert with_cron.execute(jobs).fetchall() == [("theirs", "select 1")]
    assert conninfo_to_dict(with_cron.info.dsn)["dbname"] == "postgres"
