"""An upgrade that changes columns, and one that must wait for others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import errors

from tests.install.upgrades import CODE, LATER, LATEST, PART, PUBLIC, Build
from tests.support.installer import execute, install, open_as
from tests.support.sqlapi import Api


@pytest.mark.feature("F13", "F20")
def test_a_new_result_column_reaches_callers_and_leaves_views_as_they_were(dsn: str, build: Build) -> None:
    function = PUBLIC.replace("returns {result}", "returns setof memory.extra_row").replace(
        "return {value}", "return query select {value}"
    )
    files = {PART: "create type memory.extra_row as (a int);\n", CODE: function.format(arguments="", value="1")}
    install(dsn, build(files))
    execute(
        dsn,
        """
        create schema app;
        create view app.star as select * from memory.extra();
        create view app.whole as select e from memory.extra() as e;
        create table app.kept (e memory.extra_row);
        insert into app.kept select e from memory.extra() as e;
        create function app.whole() returns setof memory.extra_row begin atomic select e from memory.extra() as e; end;
        """,
    )
    with open_as(dsn) as session:  # one that goes on
        call = "select * from memory.extra()"
        assert session.execute(call).fetchall() == [(1,)]
        files[f"migrations/{LATER}-{LATEST}.sql"] = "alter type memory.extra_row add attribute b int;\n"
        install(dsn, build({**files, CODE: function.format(arguments="", value="1, 2")}))
        assert session.execute(call).fetchall() == [(1, 2)]
        assert session.execute("select * from app.star").fetchall() == [(1,)]
        assert session.execute("select e::text from app.whole").fetchall() == [("(1,2)",)]
        assert session.execute("select (e).a, (e).b from app.kept").fetchall() == [(1, None)]
        assert session.execute("select * from app.whole()").fetchall() == [(1, 2)]


DEPENDENTS = {
    "view app.v": "view app.v as select run_after from memory.jobs",
    "function app.f()": "function app.f() returns bigint begin atomic select count(run_after) from memory.jobs; end",
    "trigger mine on table memory.jobs": "trigger mine before update on memory.jobs for each row"
    " when (old.run_after is null) execute function app.nothing()",
    "policy mine on table memory.jobs": "policy mine on memory.jobs using (run_after is null)",
}


@pytest.mark.feature("F13", "F20")
def test_a_change_of_a_column_that_a_users_object_depends_on_is_refused(
    dsn: str, build: Build, dump: Callable[..., str]
) -> None:
    execute(
        dsn,
        "create schema app;create function app.nothing() returns trigger language plpgsql as 'begin return null; end'",
    )
    before = dump(dsn)
    upgrade = build({PART: "alter table memory.jobs alter column run_after type timestamptz(3);\n"})
    for name, dependent in DEPENDENTS.items():
        execute(dsn, f"create {dependent}")
        with pytest.raises((errors.DependentObjectsStillExist, errors.FeatureNotSupported)) as refusal:
            install(dsn, upgrade)
        assert name in str(refusal.value.diag.message_detail)
        assert str(refusal.value.diag.message_hint).startswith("Nothing was changed.")
        execute(dsn, f"drop {name.replace('on table', 'on')}")
    assert dump(dsn) == before


@pytest.mark.feature("F13")
def test_an_upgrade_that_must_wait_gives_up_and_changes_nothing(
    connect: Callable[..., psycopg.Connection], dsn: str, build: Build, dump: Callable[..., str]
) -> None:
    upgrade = build({PART: "alter table memory.jobs add column extra int;\n"})
    before = dump(dsn)
    session = connect()
    with session.transaction():
        Api(session).talk("ana", "t1", 10)
        with pytest.raises(errors.LockNotAvailable):
            install(dsn, upgrade.replace("lock_timeout = '10s'", "lock_timeout = '100ms'"))
        assert session.execute("select count(*) from memory.messages").fetchone() == (20,)
        session.execute(
            "truncate memory.messages, memory.jobs, memory.threads, memory.new_changes restart identity cascade"
        )
    assert dump(dsn) == before
    install(dsn, upgrade)


@pytest.mark.feature("F13")
def test_an_upgrade_lets_a_writer_finish_that_needs_what_it_has_locked(
    connect: Callable[..., psycopg.Connection], dsn: str, build: Build
) -> None:
    part = "alter table memory.artifacts add column a int; alter table memory.threads add column a int;\n"
    upgrade = build({PART: part})
    writer, bystander = connect(), Api(connect())
    waiting = """
        select count(*) from pg_locks as l join pg_database as d on d.oid = l.database
        where not l.granted and d.datname = current_database()"""
    with ThreadPoolExecutor() as pool:
        with writer.transaction():
            writer.execute("lock table memory.threads in row exclusive mode")
            installer = pool.submit(install, dsn, upgrade)
            while not bystander.value(waiting):
                assert not installer.done()
            writer.execute("select from memory.artifacts")
            writer.execute("select from memory.prompts")
        installer.result()
    assert bystander.query("select a from memory.artifacts") == []
