"""An upgrade that changes functions and views: what depends on them stays or the upgrade is refused."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from psycopg import errors

from tests.install.upgrades import CODE, PART, PUBLIC, Build
from tests.support.installer import execute, install, open_as
from tests.support.sqlapi import Api

# Files with functions of ours, in the shape that all have: "language" begins a line.
BOUND = """
create or replace function memory._extra({arguments})
returns {result}
language sql immutable parallel safe
begin atomic
  select {value};
end;
"""
VIEW = """
create or replace view memory.extra_view as
select {columns} from memory.threads as t;
comment on view memory.extra_view is 'Extra.';
"""


@pytest.mark.feature("F13")
def test_a_new_argument_keeps_the_grants(dsn: str, build: Build, reader: str) -> None:
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
def test_a_changed_function_is_replaced_with_our_objects_that_use_it(
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
def test_a_changed_function_that_a_users_object_needs_is_refused(
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
def test_an_unchanged_function_stays_the_same_object(db: psycopg.Connection, dsn: str) -> None:
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
