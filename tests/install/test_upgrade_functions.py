"""An upgrade that changes functions and views: what depends on them stays or the upgrade is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest
from psycopg import errors

from tests.install.upgrades import CODE, PART, Build
from tests.support.installer import execute, install, open_as
from tests.support.sqlapi import Api

# Files with functions of ours, in the shape that all have: "language" begins a line.
BOUND = """
create or replace function memory.{name}({arguments})
returns {result}
language sql immutable parallel safe
begin atomic
  select {value};
end;
"""
VIEW = """
create or replace view memory.{name} as
select {columns} from memory.threads as t;
comment on view memory.{name} is 'Extra.';
"""
EXTRA_VIEW = VIEW.replace("{name}", "extra_view")


CHANGES = {
    "another result": {"arguments": "a int", "result": "bigint", "value": "1"},
    "another name of an argument": {"arguments": "b int", "result": "int", "value": "1"},
    "an argument more": {"arguments": "a int, b int default 1", "result": "int", "value": "1"},
    "another type of an argument": {"arguments": "a bigint", "result": "int", "value": "1"},
    "no default any more": {"arguments": "a int", "result": "int", "value": "1"},
    "another kind of result": {"arguments": "a int", "result": "table (a1 int)", "value": "1"},
}


NAMES = {change: f"_{change.replace(' ', '_')}" for change in CHANGES}


def bound(changed: Collection[str] = ()) -> str:
    """A function for each change: as it was, or changed."""
    return "".join(
        BOUND.format(name=name, **CHANGES[change])
        if change in changed
        else BOUND.format(
            name=name,
            arguments="a int default 0" if change == "no default any more" else "a int",
            result="int",
            value="0",
        )
        for change, name in NAMES.items()
    )


@pytest.mark.feature("F13")
def test_a_changed_function_is_replaced_with_our_objects_that_use_it(dsn: str, build: Build, reader: str) -> None:
    used = "".join(
        VIEW.format(name=f"extra_view{name}", columns=f"memory.{name}(1) as extra") for name in NAMES.values()
    )
    install(dsn, build({CODE: bound() + used}))
    for name in NAMES.values():
        execute(
            dsn,
            f"grant execute on function memory.{name} to {reader}; grant select on memory.extra_view{name} to {reader}",
        )
    install(dsn, build({CODE: bound(CHANGES) + used}))
    with open_as(dsn) as connection:
        api = Api(connection)
        for change, name in NAMES.items():
            assert api.query(f"select extra from memory.{name}(1) as extra") == [(1,)], change
            assert api.query(
                f"select has_function_privilege('{reader}', oid, 'execute') from pg_proc where proname = '{name}'"
            ) == [(True,)], change
            assert api.value(f"select has_table_privilege('{reader}', 'memory.extra_view{name}', 'select')"), change


@pytest.mark.feature("F13", "F20")
def test_a_changed_function_that_a_users_object_needs_is_refused(
    dsn: str, build: Build, dump: Callable[..., str]
) -> None:
    """The test above has every change: all functions that are replaced are dropped by one statement."""
    install(dsn, build({CODE: bound()}))
    execute(dsn, "create schema app")
    before = dump(dsn)
    gone = next(iter(NAMES.values()))
    without = bound().replace(BOUND.format(name=gone, arguments="a int", result="int", value="0"), "")
    view = ("view app.v", "as select memory.{}(1) as e")
    cases = [
        (NAMES["another result"], *view, bound(["another result"])),
        (gone, *view, without),
        (gone, "function app.f()", "returns int begin atomic select memory.{}(1); end", without),
    ]
    for name, dependent, uses, changed in cases:
        execute(dsn, f"create {dependent} {uses.format(name)}")
        with pytest.raises(errors.DependentObjectsStillExist) as refusal:
            install(dsn, build({CODE: changed}))
        assert (
            refusal.value.diag.message_primary
            == f"{dependent} depends on function memory.{name}(integer), which this version replaces"
        )
        assert str(refusal.value.diag.message_hint).startswith("Nothing was changed.")
        execute(dsn, f"drop {dependent}")
    assert dump(dsn) == before


@pytest.mark.feature("F13", "F20")
def test_a_view_whose_columns_change_keeps_what_belongs_to_it(dsn: str, build: Build, reader: str) -> None:
    changes = [
        "t.thread_id::varchar as thread_id, t.user_id",
        "t.user_id, t.thread_id",
        "t.thread_id as other, t.user_id",
    ]
    views = {f"extra_view_{number}": columns for number, columns in enumerate(changes)}
    install(dsn, build({CODE: "".join(VIEW.format(name=name, columns="t.thread_id, t.user_id") for name in views)}))
    for name in views:
        execute(
            dsn,
            f"grant select on memory.{name} to {reader} with grant option;"
            f"grant update (user_id, thread_id) on memory.{name} to {reader};"
            f"alter view memory.{name} set (security_barrier); alter view memory.{name} owner to {reader}",
        )
    described = """
        select o.relname::text, o.relowner::regrole::text, o.relacl::text, o.reloptions,
          (select a.attacl::text from pg_attribute as a where a.attrelid = o.oid and a.attname = 'user_id')
        from pg_class as o where o.relname ~ '^extra_view_' order by 1"""
    with open_as(dsn) as connection:
        before = Api(connection).query(described)
    assert [row[0] for row in before] == list(views)
    install(dsn, build({CODE: "".join(VIEW.format(name=name, columns=columns) for name, columns in views.items())}))
    with open_as(dsn) as connection:
        assert Api(connection).query(described) == before


DEPENDENTS = {
    "view app.v": "view app.v as select * from memory.extra_view",
    "function app.f()": "function app.f() returns text begin atomic select thread_id from memory.extra_view; end",
    "trigger mine on view memory.extra_view": "trigger mine instead of insert on memory.extra_view for each row"
    " execute function app.nothing()",
    "rule mine on view memory.extra_view": "rule mine as on insert to memory.extra_view do instead nothing",
}


@pytest.mark.feature("F13", "F20")
def test_a_view_whose_columns_change_is_not_taken_away_from_a_user(
    dsn: str, build: Build, dump: Callable[..., str]
) -> None:
    install(dsn, build({CODE: EXTRA_VIEW.format(columns="t.thread_id, t.user_id")}))
    execute(
        dsn,
        "create schema app;create function app.nothing() returns trigger language plpgsql as 'begin return null; end'",
    )
    before = dump(dsn)
    changed = build({CODE: EXTRA_VIEW.format(columns="t.user_id, t.thread_id")})
    for name, dependent in DEPENDENTS.items():
        execute(dsn, f"create {dependent}")
        with pytest.raises(errors.DependentObjectsStillExist) as refusal:
            install(dsn, changed)
        assert (
            refusal.value.diag.message_primary
            == f"{name} depends on view memory.extra_view, which this version replaces"
        )
        execute(dsn, f"drop {name.replace('on view', 'on')}")
    assert dump(dsn) == before
    execute(dsn, ";".join(f"create {dependent}" for dependent in DEPENDENTS.values()))
    install(
        dsn,
        build(
            {
                PART: "alter table memory.threads add column extra int default 7;\n",
                CODE: EXTRA_VIEW.format(columns="t.thread_id, t.user_id, t.extra"),
            }
        ),
    )
    with open_as(dsn) as connection:
        assert Api(connection).value("select count(*) from pg_rewrite where rulename = 'mine'") == 1
