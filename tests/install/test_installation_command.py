"""What "agent-memory install" sends and says, and what commands say of the core alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from agent_memory import Memory
from agent_memory.cli import app
from agent_memory.errors import NotInstalledError
from psycopg import errors
from typer.testing import CliRunner

from tests.install.steps import VERSION, of_tables
from tests.install.upgrades import PART, Build
from tests.support.installer import execute, install, open_as
from tests.support.servers import CORE_SQL, Server
from tests.support.sqlapi import Api
from tests.tenants.steps import login_role

pytestmark = pytest.mark.feature("F13")


def run(dsn: str, *arguments: str) -> str:
    """The output of a command, without its line breaks."""
    return " ".join(CliRunner().invoke(app, [*arguments, "--dsn", dsn]).output.split())


@pytest.fixture
def core(empty_dsn: str) -> str:
    """A database with the core alone."""
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, CORE_SQL.read_text())
    return empty_dsn


def test_commands_say_whether_the_core_stands_alone(core: str) -> None:
    assert f"agent_memory {VERSION} is current already. It is the core alone." in run(core, "install", "--core")
    assert 'the core alone: "agent-memory install" adds the add-ons' in run(core, "doctor")
    assert 'add-ons none, this is the core: "agent-memory install" adds them' in run(core, "status")
    everything = "artifacts, checkpoints, cluster, guard, secrets, sharing"
    assert f"Added to agent_memory {VERSION}: {everything}. " in run(core, "install")
    assert f"with the add-ons {everything}" in run(core, "doctor")
    assert f"add-ons {everything}" in run(core, "status")
    again = run(core, "install")
    assert f"agent_memory {VERSION} is current already. Schema memory belongs to" in again
    assert f"this file lacks ({everything})" in run(core, "install", "--core")


def test_a_call_of_a_missing_add_on_names_the_reason(core: str) -> None:
    with Memory(core) as memory, pytest.raises(NotInstalledError, match="belongs to an add-on: function ") as raised:
        memory.list_secrets("ana")
    assert str(raised.value.hint).startswith("To add the add-ons, run, as the owner of the database: agent-memory inst")


def test_what_is_refused_is_not_written_into_the_log_as_a_whole(dsn: str, server: Server) -> None:
    execute(dsn, f"update memory.migrations set sha256 = '' where name = '{of_tables()}'")
    before = server.log_file.stat().st_size
    assert "was never released" in run(dsn, "install")
    written = server.log_file.stat().st_size - before
    assert 500 < written < 20_000  # the file has 2.8 MB


def test_objects_of_another_role_are_refused_and_left_alone(dsn: str, build: Build, dump: Callable[..., str]) -> None:
    with open_as(dsn) as connection:
        login_role(connection, "half_owner")
        connection.execute("grant all on schema public to half_owner; alter schema memory owner to half_owner")
    before = dump(dsn)
    with pytest.raises(errors.InsufficientPrivilege, match='memory in it belong to role "postgres"') as raised:
        install(dsn, build({PART: "select 1;"}), user="half_owner")
    assert 'runs in this database "reassign owned by postgres to half_owner"' in str(raised.value.diag.message_hint)
    assert dump(dsn) == before
    execute(dsn, "alter schema memory owner to postgres")
    install(dsn)


def test_an_owner_who_is_a_superuser_for_a_moment_gets_jobs_inside_the_server(empty_dsn: str, server: Server) -> None:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    with open_as(empty_dsn) as connection:
        login_role(connection, "momentary")
        connection.execute("create extension vector; create schema memory authorization momentary")
        install(empty_dsn, user="momentary")
        with open_as(empty_dsn, user="momentary") as owner:
            with pytest.raises(errors.FeatureNotSupported) as raised:
                owner.execute("call memory.run_jobs()")
            assert "to be a superuser while the install file runs" in str(raised.value.diag.message_hint)
            connection.execute("create extension plpython3u; alter role momentary superuser")
            install(empty_dsn, user="momentary")
            connection.execute("alter role momentary nosuperuser")
            install(empty_dsn, user="momentary")  # as an upgrade does later
            job = Api(owner).summarize_user(user_id="ana")
            owner.execute("call memory.run_jobs()")
            assert Api(owner).get_job(user_id="ana", job_id=job).status == "completed"


def test_a_login_becomes_a_member_of_the_role_of_this_database(empty_dsn: str) -> None:
    install(empty_dsn, options="-c agent_memory.role_prefix=granting")
    with open_as(empty_dsn) as connection:
        login_role(connection, "granted")
    assert "granted is a member of granting_app of database " in run(empty_dsn, "grant", "app", "granted")
    with open_as(empty_dsn, user="granted") as connection:
        assert Api(connection).add_memory(user_id="ana", content="Likes tea").inserted
    assert 'role "nobody_here" does not exist' in run(empty_dsn, "grant", "app", "nobody_here")
    CliRunner().invoke(app, ["uninstall", "--yes", "--dsn", empty_dsn])
