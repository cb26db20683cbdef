"""An upgrade from every release keeps rows, grants, and all that others have built on our objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.install.upgrades import PART, Build
from tests.support.installer import install, open_as
from tests.support.sqlapi import Api

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
                when l.relkind = 'r' then format('array(select r from %%s as r)', e.typrelid::regclass)
                else 'null::' || format_type(t.oid, null) end, ', ' order by a.place)
            from unnest(p.proargtypes::oid[]) with ordinality as a (type, place)
            join pg_type as t on t.oid = a.type left join pg_type as e on e.oid = t.typelem
            left join pg_class as k on k.oid = t.typrelid left join pg_class as l on l.oid = e.typrelid), '')
          || ')' as call
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
def test_objects_of_users_on_every_view_and_every_bound_function_stay(
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
