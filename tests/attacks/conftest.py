"""A database in which a call of every public function works, and what the catalog says of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import psycopg
import pytest

from tests.support.sqlapi import Api
from tests.values.valid_calls import make_calls_work

CONTRACT = {"22023", "P0002", "23505", "40001", "42501", "54000", "AM001", "AM002", "0A000"}
"""The SQLSTATEs that a refusal may have."""


@dataclass(frozen=True)
class Argument:
    """An argument of a public function, as the catalog has it."""

    function: str
    name: str
    type: str


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A database in which every call of VALID works."""
    make_calls_work(shared_api)
    return shared_api


@pytest.fixture(scope="module")
def arguments(shared_api: Api) -> list[Argument]:
    """Every argument of every public function."""
    rows = shared_api.query(
        """
        select p.proname::text, a.name, format_type(a.type, null)
        from pg_proc as p
        cross join unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) as a (name, type)
        where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f' and p.proname !~ '^_'
          and p.proname <> 'schedule_jobs' -- needs pg_cron
        order by 1, 2
        """
    )
    return [Argument(*row) for row in rows]


@pytest.fixture
def mallory(db: psycopg.Connection, connect: Callable[..., psycopg.Connection]) -> Api:
    """A session of a role that may call every function and create objects in a schema of its own, evil."""
    let_mallory_in(Api(db))
    return Api(connect(user="mallory"))


def let_mallory_in(owner: Api) -> None:
    make_calls_work(owner)
    create_role(owner.connection, "mallory")
    owner.connection.execute(
        "grant usage on schema memory to mallory; grant execute on all routines in schema memory to mallory;"
        "grant select on all tables in schema memory to mallory; create schema evil authorization mallory"
    )


def create_role(db: psycopg.Connection, name: str) -> None:
    """Roles belong to the whole server: another test may have created this one."""
    db.execute(
        f"do $$ begin create role {name} login; exception when duplicate_object or unique_violation then null; end $$"
    )
