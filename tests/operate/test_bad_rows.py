"""Rows of one user that no call of agent_memory stores, as plain SQL without triggers may leave them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.erasure.conftest import ANA, dsn, filled, rows  # noqa: F401  (fixtures)
from tests.erasure.conftest import _filled_template as _filled_template
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F18")

BAD: dict[str, list[str]] = {
    "timestamp with time zone": ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'"],
    "date": ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'"],
    "integer": ["2147483647", "-2147483648", "-1", "2147483647"],
    "bigint": ["9223372036854775807", "-9223372036854775808", "-1", "9223372036854775807"],
    "bigint[]": ["'{9223372036854775807,-5,null}'", "'{}'", "'{-1}'", "null"],
    "real": ["'nan'", "'infinity'", "-1", "1e38"],
    "numeric": ["'nan'", "'infinity'", "1e300", "-5"],
    "jsonb": ["'[]'", "'5'", """'{"recent_k": "x", "n": [], "search": 5, "jobs": 7, "model": {}}'""", "'null'"],
}
COLUMNS = """
select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and c.relname not in ('audit', 'bound_roles')
  and exists (select from pg_attribute as u where u.attrelid = c.oid and u.attname = 'user_id')
order by 1, 2
"""
DUE = {
    "messages": "update memory.messages set expires_at = now() - interval '1 day' where user_id = %s",
    "memories": "update memory.memories set expires_at = now() - interval '1 day'"
    " where user_id = %s and superseded_by is null",
    "jobs": "update memory.jobs set finished_at = now() - interval '40 days', tokens_allowed = 100"
    " where user_id = %s and finished_at is not null",
}
"""Makes sweep() remove rows of the user, and so count and release others."""
FOR_ALL = ("sweep", "status", "doctor", "list_users", "backfill_status")


def _spoil(spoiler: psycopg.Connection, table: str, name: str, value: str) -> int:
    """Store a value in as many rows of the user as a unique index allows: in all, or in one."""
    column = sql.Identifier(name)
    for which in ("user_id = %s", "ctid = (select ctid from {} where user_id = %s limit 1)"):
        statement = sql.SQL("update {} set {} = {} where " + which).format(
            *[sql.Identifier("memory", table), column, sql.SQL(value)],
            *[sql.Identifier("memory", table)] * ("{}" in which),
        )
        try:
            with spoiler.transaction():
                return spoiler.execute(statement, [ANA]).rowcount
        except psycopg.Error:
            continue
    return 0


@pytest.fixture
def spoiler(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """A session in which no trigger fires: one that changed this for a moment would make all its plans anew."""
    return connect(options="-c session_replication_role=replica")


@contextlib.contextmanager
def _kept(spoiler: psycopg.Connection, tables: set[str]) -> Iterator[None]:
    """Put back the rows of the user at the end."""
    for table in tables:
        spoiler.execute(
            f"create temporary table kept_{table} as select * from memory.{table} where user_id = %s", [ANA]
        )
    yield
    for table in tables:
        spoiler.execute(f"delete from memory.{table} where user_id = %s", [ANA])
        spoiler.execute(f"insert into memory.{table} table kept_{table}")
        spoiler.execute(f"drop table kept_{table}")


@pytest.mark.parametrize(("place", "is_due"), [(0, True), (2, False)])
def test_bad_rows_of_one_user_stop_nothing_of_others(
    filled: Api,  # noqa: F811
    spoiler: psycopg.Connection,
    place: int,
    is_due: bool,
) -> None:
    api = filled
    constraints = "select conrelid::regclass as t, conname as n from pg_constraint where contype = 'c'"
    for row in api.query(constraints + " and connamespace = 'memory'::regnamespace"):
        api.connection.execute(f'alter table {row.t} drop constraint "{row.n}"')
    views = [name for [name] in api.query(
        "select relname from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'v'")]  # fmt: skip
    spoiled: dict[str, list[tuple[str, str]]] = {}
    for row in api.query(COLUMNS):
        if row.type in BAD:
            spoiled.setdefault(row.table, []).append((row.name, BAD[row.type][place]))
    failed: dict[str, Any] = {}
    for table, values in spoiled.items():
        with _kept(spoiler, {table, *(DUE if is_due else ())}):
            if is_due:
                for statement in DUE.values():
                    spoiler.execute(statement, [ANA])
            assert sum(_spoil(spoiler, table, name, value) for name, value in values) > 0, table
            with api.connection.transaction(force_rollback=True):
                failed |= {f"{table}: {call}": why for call, why in _calls(api, views).items() if why}
    assert failed == {}


def _calls(api: Api, views: list[str]) -> dict[str, str | None]:
    bo, thread = {"user_id": "bo"}, {"user_id": "bo", "thread_id": "thread other"}
    calls: dict[str, Any] = {name: getattr(api, name) for name in FOR_ALL}
    calls |= {f"view {view}": lambda v=view: api.value(f"select count(*) from (select * from memory.{v}) as v")
              for view in views}  # fmt: skip
    calls |= {
        "search of another": lambda: api.search(**bo, query="other"),
        "context of another": lambda: api.get_context(**thread, query="other"),
        "message of another": lambda: api.add_message(**thread, role="user", content="Hello"),
        "claim": lambda: api.claim_jobs(worker="w", max_jobs=100),
        "erasure": lambda: api.forget_user(user_id=ANA),
        "nothing is left": lambda: _nothing_is_left(api),
        "sweep afterwards": api.sweep,
    }
    return {name: _problem(api, call) for name, call in calls.items()}


def _nothing_is_left(api: Api) -> None:
    assert rows(api, ANA) == {}


def _problem(api: Api, call: Any) -> str | None:
    try:
        with api.connection.transaction():
            call()
    except (psycopg.Error, AssertionError) as error:
        return str(error)[:300]
    return None
