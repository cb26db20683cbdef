"""Scheduling with pg_cron: what is scheduled, and which hints lead there from a server without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.support.servers import Server, install_agent_memory, running_server
from tests.support.sqlapi import Api, refused, rolled_back


@pytest.fixture(scope="module")
def cron_server(server: Server) -> Iterator[Server]:
    """A server whose database "postgres" has pg_cron and agent_memory, and whose database "other" has agent_memory."""
    if server.kind != "system":
        pytest.skip("the embedded server has no pg_cron")
    settings = {"shared_preload_libraries": "pg_cron", "cron.use_background_workers": "on"}
    with running_server("system", settings) as cron_server:
        for dbname in ("postgres", "other"):
            with psycopg.connect(cron_server.conninfo(), autocommit=True) as connection:
                connection.execute("create extension pg_cron" if dbname == "postgres" else "create database other")
            install_agent_memory(cron_server, dbname)
        yield cron_server


@pytest.fixture
def cron(cron_server: Server) -> Iterator[Api]:
    with psycopg.connect(cron_server.conninfo(), autocommit=True) as connection, rolled_back(Api(connection)) as api:
        yield api


def scheduled(api: Api) -> list[Any]:
    return api.query("select jobname, schedule, command, database from cron.job order by jobname")


@pytest.mark.feature("E15")
def test_one_call_schedules_model_work_and_the_sweep_and_another_changes_that(cron: Api) -> None:
    cron.schedule_jobs()
    version = cron.value("select extversion from pg_extension where extname = 'pg_cron'")
    every = "* * * * *" if version.startswith(("1.3", "1.4")) else "10 seconds"
    jobs = [
        ("agent_memory jobs postgres", every, "call memory.run_jobs()", "postgres"),
        ("agent_memory sweep postgres", "17 3 * * *", "select memory.sweep()", "postgres"),
    ]
    assert scheduled(cron) == jobs
    assert cron.schedule_jobs(every="*/5 * * * *", sweep_at="0 4 * * *") == [
        ("agent_memory jobs: */5 * * * *, call memory.run_jobs()",),
        ("agent_memory sweep: 0 4 * * *, select memory.sweep()",),
    ]
    assert [job.schedule for job in scheduled(cron)] == ["*/5 * * * *", "0 4 * * *"]


@pytest.mark.feature("E15")
@pytest.mark.parametrize("argument", ["every", "sweep_at"])
def test_an_invalid_schedule_is_refused_and_nothing_is_scheduled(cron: Api, argument: str) -> None:
    for schedule in (None, "99 99 * * *"):
        with refused(argument):
            cron.schedule_jobs(**{"every": "* * * * *", argument: schedule})
    assert scheduled(cron) == []


def advice(api: Api, sqlstate: str = "0A000", **arguments: Any) -> tuple[str, str]:
    """What a refusal to schedule says, and its hint."""
    with pytest.raises(psycopg.Error) as refusal:
        api.schedule_jobs(**arguments)
    assert refusal.value.diag.sqlstate == sqlstate
    return str(refusal.value.diag.message_primary), str(refusal.value.diag.message_hint)


def follow(hint: str, connection: psycopg.Connection) -> list[str]:
    """Run the statements of a hint, word for word."""
    statements = re.findall(r"\b((?:alter|create|grant|select) [^;]+);", hint)
    for statement in statements:
        connection.execute(statement)
    return statements


@pytest.mark.feature("E15", "F20")
def test_in_another_database_the_hint_says_what_to_run_where_pg_cron_lives(cron_server: Server, cron: Api) -> None:
    with psycopg.connect(cron_server.conninfo("other"), autocommit=True) as connection:
        problem, hint = advice(Api(connection), sweep_at="0 4 * * *")
    assert problem == 'pg_cron lives in database "postgres"'
    assert len(follow(hint, cron.connection)) == 3
    every = "* * * * *" if "* * * * *" in hint else "10 seconds"
    assert scheduled(cron) == [
        ("agent_memory jobs other", every, "call memory.run_jobs()", "other"),
        ("agent_memory sweep other", "0 4 * * *", "select memory.sweep()", "other"),
    ]


@pytest.mark.feature("E15", "F20")
def test_an_owner_without_superuser_rights_is_told_the_grants_that_he_lacks(cron: Api) -> None:
    cron.connection.execute("""
        create role "an owner" login; grant usage on schema memory to "an owner";
        grant execute on all functions in schema memory to "an owner"; set local session authorization "an owner"
    """)
    assert advice(cron, "42501")[1] == 'As a superuser: grant usage on schema cron to "an owner";'
    cron.connection.execute("reset session authorization")
    cron.connection.execute("revoke execute on function cron.schedule(text, text, text) from public")
    cron.connection.execute('set local session authorization "an owner"')
    problem, hint = advice(cron, "42501")
    assert problem == 'role "an owner" may not schedule jobs with pg_cron'
    cron.connection.execute("reset session authorization")
    assert len(follow(hint, cron.connection)) == 2
    cron.connection.execute('set local session authorization "an owner"')
    assert len(cron.schedule_jobs()) == 2


@pytest.mark.feature("E15", "F20")
def test_hints_lead_from_a_server_that_has_not_loaded_pg_cron_to_jobs(server: Server) -> None:
    if server.kind != "system":
        pytest.skip("the embedded server has no pg_cron")
    settings = {"shared_preload_libraries": "plpgsql", "cron.database_name": "nowhere"}
    problems = []
    with running_server("system", settings) as bare:
        install_agent_memory(bare, "postgres")
        for _ in range(3):
            with psycopg.connect(bare.conninfo(), autocommit=True) as connection:
                problem, hint = advice(Api(connection))
                problems.append(problem)
                follow(hint, connection)
            if "restart the server" in hint:
                bare.restart()
        with psycopg.connect(bare.conninfo(), autocommit=True) as connection:
            assert len(Api(connection).schedule_jobs()) == 2
            assert connection.execute("show shared_preload_libraries").fetchone() == ("plpgsql, pg_cron",)
    assert problems == [
        "pg_cron is not loaded into this server",
        'pg_cron is set to live in database "nowhere", which does not exist',
        "pg_cron has no extension in this database yet",
    ]


@pytest.mark.feature("E15")
def test_without_pg_cron_the_hint_names_the_worker(server: Server, api: Api) -> None:
    problem, hint = advice(api)
    if server.kind == "system":
        assert problem == "pg_cron is not loaded into this server"
    else:
        assert problem == "this server has no pg_cron"
        assert f"postgresql-{server.version}-cron" in hint
    assert "agent-memory worker" in hint
