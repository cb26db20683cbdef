"""What an upgrade leaves alone: everything that others have built on objects of ours, or else the whole database."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from installer import build_version, execute, install, open_as
from psycopg import errors
from servers import ROOT, Server
from sqlapi import Api

RELEASES = sorted((ROOT / "tests" / "releases").glob("*.sql.xz"))
PART = "incremental/900_part.sql"
CODE = "functions/80_operate/extra.sql"

# Files with functions of ours, in the shape that all have: "language" begins a line.
BOUND = """
create or replace function memory._extra({arguments})
returns {result}
language sql immutable parallel safe
begin atomic
  select {value};
end;
"""
PUBLIC = """
create or replace function memory.extra({arguments})
returns {result}
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return {value};
end;
$$;
comment on function memory.extra is 'Extra.';
"""
VIEW = """
create or replace view memory.extra_view as
select {columns} from memory.threads as t;
comment on view memory.extra_view is 'Extra.';
"""

Build = Callable[..., str]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a later version from further files: ``build({path below sql/: text})``."""
    return lambda files: build_version(tmp_path, files)


@pytest.fixture
def reader(server: Server) -> str:
    """A role that may log in, and use the schema of a test's user."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        if not connection.execute("select from pg_roles where rolname = 'reader'").fetchall():
            connection.execute("create role reader login")
    return "reader"


IDENTITIES = """
select 'view' as kind, c.oid, c.relname::text as name, c.relowner, c.relacl::text as acl, c.reloptions,
  (select array_agg(d.objsubid || ' ' || d.description order by d.objsubid) from pg_description as d
   where d.objoid = c.oid and d.classoid = 'pg_class'::regclass) as comments,
  (select array_agg(a.attname || ' ' || a.attacl::text order by a.attnum) from pg_attribute as a
   where a.attrelid = c.oid) as columns
from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v'
union all
select 'function', p.oid, p.oid::regprocedure::text, p.proowner, p.proacl::text, p.proconfig,
  array[obj_description(p.oid, 'pg_proc')], null
from pg_proc as p where p.pronamespace = 'memory'::regnamespace
order by kind, oid
"""
"""What PostgreSQL keeps about our views and functions besides their definitions."""


def views(api: Api) -> list[str]:
    rows = api.query(
        "select relname::text from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'v' order by 1"
    )
    assert len(rows) > 10
    return [row.relname for row in rows]


def bound_functions(api: Api) -> list[Any]:
    """Those with a standard body: signature, and a call with a table's rows or null for each argument."""
    rows = api.query("""
        select p.oid::regprocedure::text as signature,
          p.oid::regproc::text || '(' || coalesce((
            select string_agg(case
                when k.relkind = 'r' then format('(select r from %%s as r limit 1)', t.typrelid::regclass)
                when e.typtype = 'c' then format('array(select r from %%s as r)', e.typrelid::regclass)
                else 'null::' || format_type(t.oid, null) end, ', ' order by a.place)
            from unnest(p.proargtypes::oid[]) with ordinality as a (type, place)
            join pg_type as t on t.oid = a.type left join pg_type as e on e.oid = t.typelem
            left join pg_class as k on k.oid = t.typrelid), '') || ')' as call
        from pg_proc as p where p.pronamespace = 'memory'::regnamespace and p.prosqlbody is not null
        order by 1""")
    assert len(rows) > 20
    return rows


def build_upon(api: Api, reader: str) -> list[str]:
    """Have a user build on every view and every bound function, and on tables; returns what can be selected then."""
    run = api.connection.execute
    run(f"""
        create schema app; grant usage on schema app, memory to {reader};
        create index mine on memory.memories (memory._estimate_tokens(content));
        create table app.seen (user_id text, thread_id text, note text,
          foreign key (user_id, thread_id) references memory.threads on delete cascade);
        create function app.note() returns trigger language plpgsql as $$
          begin insert into app.seen values (new.user_id, new.thread_id, 'new'); return null; end $$;
        create trigger zz_mine after insert on memory.messages for each row execute function app.note();
        alter table memory.documents enable row level security;
        create policy mine on memory.documents to {reader} using (user_id = current_user);
        grant select (user_id, title) on memory.documents to {reader};
        create function app.contents() returns setof text begin atomic select content from memory.memories; end;
        create function app.memories() returns setof memory.memories begin atomic
          select m from memory.memories as m; end;
        create materialized view app.threads as select * from memory.thread_stats;
    """)
    selectable = ["app.contents()", "app.memories()", "app.threads"]
    for number, view in enumerate(views(api)):
        first = api.value(
            f"select attname::text from pg_attribute where attrelid = 'memory.{view}'::regclass and attnum = 1"
        )
        run(f"""
            grant select on memory.{view} to {reader} with grant option;
            grant update ({first}) on memory.{view} to {reader};
            alter view memory.{view} set (security_barrier, security_invoker = {number % 2 == 0});
            comment on column memory.{view}.{first} is 'mine';
            create view app.{view} as select * from memory.{view};
            create function app.count_{view}() returns bigint begin atomic select count(*) from memory.{view}; end;
            create function app.rows_of(given memory.{view}) returns int begin atomic select 1; end;
        """)
        selectable += [f"app.{view}", f"app.count_{view}()"]
    for number, function in enumerate(bound_functions(api)):
        run(f"""
            grant execute on function {function.signature} to {reader} with grant option;
            comment on function {function.signature} is 'mine';
            create view app.view_{number} as select count(*) from {function.call} as f;
            create function app.function_{number}() returns bigint begin atomic
              select count(*) from {function.call} as f; end;
        """)
        selectable += [f"app.view_{number}", f"app.function_{number}()"]
    run(f"grant select on all tables in schema app to {reader}")
    return selectable


@pytest.mark.feature("F13", "F20")
def test_what_users_have_built_on_every_view_and_every_bound_function_stays(
    dsn: str, db: psycopg.Connection, dump: Callable[..., str], build: Build, reader: str
) -> None:
    api = Api(db)
    selectable = build_upon(api, reader)
    api.add_memory(user_id="ana", content="Likes tea", embedding_text="drinks")
    before = api.query(IDENTITIES), dump(dsn, "--schema", "app")
    indexes = api.query("select indexdef from pg_indexes where indexname = 'mine'")
    part = """
        alter table memory.memories add column extra int not null default 7;
        alter table memory.memories alter column embedding_text type varchar using embedding_text || ''; -- a new copy
        alter table memory.messages add column extra text, alter column idempotency_key type varchar;
        alter table memory.jobs alter column run_after type timestamptz(3);
        alter table memory.prompt_versions add column extra int default 7;
        alter type memory.memory_version add attribute extra text;
        alter type memory.memory_version drop attribute extra;
    """
    upgrade = build({PART: part})
    for _ in range(2):
        install(dsn, upgrade)
        assert (api.query(IDENTITIES), dump(dsn, "--schema", "app")) == before
    for source in selectable:
        db.execute(f"select * from {source}".encode())
    assert api.query("select indexdef from pg_indexes where indexname = 'mine'") == indexes
    with open_as(dsn, user=reader) as connection:
        assert connection.execute("select count(*) from app.queue_stats, memory.model_usage").fetchone() == (0,)
        assert connection.execute("select user_id, title from memory.documents").fetchall() == []
    api.add_message(user_id="ana", thread_id="t1", role="user", content="Hello")
    assert api.query("select thread_id, note from app.seen") == [("t1", "new")]
    api.delete_thread(user_id="ana", thread_id="t1")
    assert api.query("select from app.seen") == []


@pytest.mark.feature("F13", "F20")
@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_an_upgrade_from_each_release_keeps_rows_grants_and_views(empty_dsn: str, release: Path, reader: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, lzma.decompress(release.read_bytes()).decode())
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.talk("ana", "t1", 10)
        api.add_memory(user_id="ana", content="Likes tea")
        api.finish_jobs(memory="Likes coffee")
        public = [
            row.proname
            for row in api.query("""
            select distinct proname::text from pg_proc
            where pronamespace = 'memory'::regnamespace and proname not like '\\_%%'""")
        ]
        old_views = views(api)
        connection.execute(
            f"""
            create schema app;
            grant usage on schema memory, app to {reader};
            grant execute on all routines in schema memory to {reader};
            grant select on all tables in schema memory to {reader}""".encode()
        )
        for view in old_views:
            connection.execute(f"create view app.{view} as select * from memory.{view}".encode())
        tables = api.query(
            "select relname::text from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'r'"
        )
        count = " union all ".join(
            f"select '{row.relname}', count(*) from memory.{row.relname}"
            for row in tables
            if row.relname != "migrations"
        )
        rows = api.query(count)
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.query(count) == rows
        assert [check for check in api.doctor() if not check.ok] == []
        for view in old_views:
            api.query(f"select * from app.{view}")
        forbidden = f"""
            select proname::text from pg_proc where pronamespace = 'memory'::regnamespace
              and proname = any (%(public)s) and not has_function_privilege('{reader}', oid, 'execute')"""
        assert api.query(forbidden, public=public) == []
    with open_as(empty_dsn, user=reader) as connection:
        api = Api(connection)
        assert api.add_message(user_id="ana", thread_id="t1", role="user", content="Hello").seq == 20
        assert {memory.content for memory in api.list_memories(user_id="ana")} == {"Likes tea", "Likes coffee"}
        for view in old_views:
            api.query(f"select * from memory.{view}")


# Functions and views that are others --------------------------------------------------------------------------------


@pytest.mark.feature("F13")
def test_an_argument_more_keeps_the_grants(dsn: str, build: Build, reader: str) -> None:
    install(dsn, build({CODE: PUBLIC.format(arguments="a int", result="int", value="a")}))
    execute(
        dsn,
        f"grant usage on schema memory to {reader};"
        f"grant execute on function memory.extra to {reader} with grant option",
    )
    install(dsn, build({CODE: PUBLIC.format(arguments="a int, b int default 2", result="int", value="a + b")}))
    with open_as(dsn, user=reader) as connection:
        api = Api(connection)
        assert api.extra(a=1) == 3
        grantable = "has_function_privilege(oid, 'execute with grant option')"
        assert api.query(f"select {grantable}, oid::regprocedure::text from pg_proc where proname = 'extra'") == [
            (True, "memory.extra(integer,integer)")
        ]
        assert not api.value("select has_function_privilege('public', 'memory.extra(int, int)', 'execute')")


CHANGES = {
    "another result": {"arguments": "a int", "result": "bigint", "value": "1"},
    "another name of an argument": {"arguments": "b int", "result": "int", "value": "1"},
    "an argument more": {"arguments": "a int, b int default 1", "result": "int", "value": "1"},
    "another type of an argument": {"arguments": "a bigint", "result": "int", "value": "1"},
    "no default any more": {"arguments": "a int", "result": "int", "value": "1"},
    "another kind of result": {"arguments": "a int", "result": "table (a1 int)", "value": "1"},
}


@pytest.mark.feature("F13")
@pytest.mark.parametrize("change", CHANGES)
def test_a_function_that_changes_is_replaced_and_what_of_ours_uses_it_follows(
    dsn: str, build: Build, reader: str, change: str
) -> None:
    used = VIEW.format(columns="memory._extra(1) as extra")
    default = " default 0" if change == "no default any more" else ""
    install(dsn, build({CODE: BOUND.format(arguments=f"a int{default}", result="int", value="0") + used}))
    execute(dsn, f"grant execute on function memory._extra to {reader}; grant select on memory.extra_view to {reader}")
    install(dsn, build({CODE: BOUND.format(**CHANGES[change]) + used}))
    with open_as(dsn) as connection:
        api = Api(connection)
        assert api.query("select extra from memory._extra(1) as extra") == [(1,)]
        assert api.value("select count(*) from pg_proc where proname = '_extra'") == 1
        assert api.value(
            f"select has_function_privilege('{reader}', oid, 'execute') from pg_proc where proname = '_extra'"
        )
        assert api.value(f"select has_table_privilege('{reader}', 'memory.extra_view', 'select')")


@pytest.mark.feature("F13", "F20")
@pytest.mark.parametrize(
    ("change", "dependent"),
    [
        *((change, "view app.v as select memory._extra(1) as e") for change in [*CHANGES, "gone"]),
        ("gone", "function app.f() returns int begin atomic select memory._extra(1); end"),
    ],
)
def test_a_function_that_changes_is_not_taken_away_from_a_user(
    dsn: str, build: Build, dump: Callable[..., str], change: str, dependent: str
) -> None:
    default = " default 0" if change == "no default any more" else ""
    install(dsn, build({CODE: BOUND.format(arguments=f"a int{default}", result="int", value="0")}))
    execute(dsn, f"create schema app; create {dependent}")
    before = dump(dsn)
    upgrade = build({CODE: "" if change == "gone" else BOUND.format(**CHANGES[change])})
    with pytest.raises(errors.DependentObjectsStillExist) as refusal:
        install(dsn, upgrade)
    name = dependent.partition(" as ")[0].partition(" returns ")[0]
    assert (
        refusal.value.diag.message_primary
        == f"{name} depends on function memory._extra(integer), which this version replaces"
    )
    assert str(refusal.value.diag.message_hint).startswith("Nothing was changed.")
    assert dump(dsn) == before
    execute(dsn, "drop schema app cascade")
    install(dsn, upgrade)


@pytest.mark.feature("F13")
def test_a_function_that_stays_as_it_is_stays_the_same_object(db: psycopg.Connection, dsn: str) -> None:
    functions = "select oid, proname from pg_proc where pronamespace = 'memory'::regnamespace order by oid"
    before = Api(db).query(functions)
    install(dsn)
    assert Api(db).query(functions) == before


@pytest.mark.feature("F13", "F20")
@pytest.mark.parametrize(
    "columns",
    ["t.thread_id::varchar as thread_id, t.user_id", "t.user_id, t.thread_id", "t.thread_id as other, t.user_id"],
)
def test_a_view_whose_columns_change_keeps_what_belongs_to_it(
    dsn: str, build: Build, reader: str, columns: str
) -> None:
    install(dsn, build({CODE: VIEW.format(columns="t.thread_id, t.user_id")}))
    execute(
        dsn,
        f"grant select on memory.extra_view to {reader} with grant option;"
        f"grant update (user_id, thread_id) on memory.extra_view to {reader};"
        f"alter view memory.extra_view set (security_barrier); alter view memory.extra_view owner to {reader}",
    )
    described = """
        select o.relowner::regrole::text, o.relacl::text, o.reloptions,
          (select a.attacl::text from pg_attribute as a where a.attrelid = o.oid and a.attname = 'user_id')
        from pg_class as o where o.oid = 'memory.extra_view'::regclass"""
    with open_as(dsn) as connection:
        before = Api(connection).query(described)
    install(dsn, build({CODE: VIEW.format(columns=columns)}))
    with open_as(dsn) as connection:
        assert Api(connection).query(described) == before


@pytest.mark.feature("F13", "F20")
@pytest.mark.parametrize(
    ("dependent", "name"),
    [
        ("view app.v as select * from memory.extra_view", "view app.v"),
        ("function app.f() returns text begin atomic select thread_id from memory.extra_view; end", "function app.f()"),
        (
            "trigger mine instead of insert on memory.extra_view for each row execute function app.nothing()",
            "trigger mine on view memory.extra_view",
        ),
        ("rule mine as on insert to memory.extra_view do instead nothing", "rule mine on view memory.extra_view"),
    ],
)
def test_a_view_whose_columns_change_is_not_taken_away_from_a_user(
    dsn: str, build: Build, dump: Callable[..., str], dependent: str, name: str
) -> None:
    install(dsn, build({CODE: VIEW.format(columns="t.thread_id, t.user_id")}))
    execute(
        dsn,
        "create schema app; create function app.nothing() returns trigger language plpgsql as 'begin return null; end';"
        f"create {dependent}",
    )
    before = dump(dsn)
    with pytest.raises(errors.DependentObjectsStillExist) as refusal:
        install(dsn, build({CODE: VIEW.format(columns="t.user_id, t.thread_id")}))
    assert (
        refusal.value.diag.message_primary == f"{name} depends on view memory.extra_view, which this version replaces"
    )
    assert dump(dsn) == before
    install(
        dsn,
        build(
            {
                PART: "alter table memory.threads add column extra int default 7;\n",
                CODE: VIEW.format(columns="t.thread_id, t.user_id, t.extra"),
            }
        ),
    )


@pytest.mark.feature("F13")
def test_a_view_may_have_options_that_its_replacement_while_upgrading_could_not(dsn: str, build: Build) -> None:
    install(dsn, build({CODE: VIEW.format(columns="t.thread_id, t.user_id")}))
    execute(dsn, "alter view memory.extra_view set (check_option = local, security_invoker = false)")
    install(dsn, build({PART: "select 1;\n", CODE: VIEW.format(columns="t.thread_id, t.user_id")}))
    with open_as(dsn) as connection:
        options = Api(connection).value("select reloptions from pg_class where oid = 'memory.extra_view'::regclass")
        assert options == ["check_option=local", "security_invoker=false"]


# Columns and attributes -----------------------------------------------------------------------------------------------


@pytest.mark.feature("F13", "F20")
def test_a_result_column_more_reaches_callers_and_leaves_views_as_they_were(dsn: str, build: Build) -> None:
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
        files["incremental/901_more.sql"] = "alter type memory.extra_row add attribute b int;\n"
        install(dsn, build({**files, CODE: function.format(arguments="", value="1, 2")}))
        assert session.execute(call).fetchall() == [(1, 2)]
        assert session.execute("select * from app.star").fetchall() == [(1,)]
        assert session.execute("select e::text from app.whole").fetchall() == [("(1,2)",)]
        assert session.execute("select (e).a, (e).b from app.kept").fetchall() == [(1, None)]
        assert session.execute("select * from app.whole()").fetchall() == [(1, 2)]


@pytest.mark.feature("F13", "F20")
@pytest.mark.parametrize(
    ("dependent", "name"),
    [
        ("view app.v as select run_after from memory.jobs", "view app.v"),
        (
            "function app.f() returns bigint begin atomic select count(run_after) from memory.jobs; end",
            "function app.f()",
        ),
        (
            "trigger mine before update on memory.jobs for each row when (old.run_after is null)"
            " execute function app.nothing()",
            "trigger mine on table memory.jobs",
        ),
        ("policy mine on memory.jobs using (run_after is null)", "policy mine on table memory.jobs"),
    ],
)
@pytest.mark.parametrize("part", ["alter column run_after type timestamptz(3)", "drop column run_after"])
def test_a_column_that_a_user_depends_on_changes_only_when_he_has_made_way(
    dsn: str, build: Build, dump: Callable[..., str], dependent: str, name: str, part: str
) -> None:
    execute(
        dsn,
        "create schema app; create function app.nothing() returns trigger language plpgsql as 'begin return null; end';"
        f"create {dependent}",
    )
    before = dump(dsn)
    with pytest.raises((errors.DependentObjectsStillExist, errors.FeatureNotSupported)) as refusal:
        install(dsn, build({PART: f"alter table memory.jobs {part};\n"}))
    assert name in str(refusal.value.diag.message_detail)
    assert str(refusal.value.diag.message_hint).startswith("Nothing was changed.")
    assert dump(dsn) == before


@pytest.mark.feature("F13")
def test_an_upgrade_that_must_wait_gives_up_and_changes_nothing(
    connect: Callable[..., psycopg.Connection], dsn: str, build: Build, dump: Callable[..., str]
) -> None:
    upgrade = build({PART: "alter table memory.jobs add column extra int;\n"}).replace(
        "lock_timeout = '10s'", "lock_timeout = '100ms'"
    )
    before = dump(dsn)
    session = connect()
    with session.transaction():
        Api(session).talk("ana", "t1", 10)
        with pytest.raises(errors.LockNotAvailable):
            install(dsn, upgrade)
        assert session.execute("select count(*) from memory.messages").fetchone() == (20,)
        session.execute("truncate memory.messages, memory.jobs, memory.threads restart identity cascade")
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


@pytest.mark.feature("F13")
def test_nothing_that_upgrades_are_made_with_stays(db: psycopg.Connection) -> None:
    internal = "select proname::text from pg_proc where pronamespace = 'memory'::regnamespace and prokind = 'p'"
    assert Api(db).query(internal) == [("run_jobs",)]


@pytest.mark.feature("F13")
def test_a_users_own_bound_function_in_the_schema_stays(dsn: str, build: Build) -> None:
    execute(dsn, "create function memory.mine() returns bigint begin atomic select count(*) from memory.threads; end")
    install(dsn, build({PART: "alter table memory.threads add column extra int default 7;\n"}))
    with open_as(dsn) as connection:
        assert Api(connection).value("select memory.mine()") == 0


@pytest.mark.feature("F13", "F1")
def test_an_upgrade_brings_times_that_no_client_can_read_within_reach(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, lzma.decompress((ROOT / "tests/releases/0.1.0.sql.xz").read_bytes()).decode())
    with open_as(empty_dsn) as connection:
        for moment in ("12000-01-01", "0044-03-15 BC"):
            connection.execute("select memory.add_message('ana', %s, 'user', 'x', created_at => %s)", [moment, moment])
            connection.execute(
                "insert into memory.memories (user_id, content, created_at, valid_from) values ('ana', %s, %s, %s)",
                [moment, moment, moment],
            )
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert {row.created_at.year for row in api.list_memories(user_id="ana")} == {1, 9999}
        for thread in api.list_threads(user_id="ana"):
            assert thread.last_at.year in (1, 9999)
            assert api.get_messages(user_id="ana", thread_id=thread.thread_id)[0].created_at.year in (1, 9999)
        assert api.sweep()["checked"] == 2
        for row in api.list_memories(user_id="ana"):
            api.update_memory(user_id="ana", memory_id=row.memory_id, importance=1)
