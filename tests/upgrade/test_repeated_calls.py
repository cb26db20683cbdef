"""The client repeats a call that an upgrade has met half way, or whose prepared statement an upgrade has outdated."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from agent_memory import AgentMemoryError, AsyncMemory, Memory

pytestmark = pytest.mark.feature("F13")

ADD_A_COLUMN = """
    drop function memory.get_job;
    create function memory.get_job(user_id text, job_id bigint) returns table (
      job_id bigint, kind text, status text, attempts int, result jsonb, error text, created_at timestamptz,
      finished_at timestamptz, extra int) language sql
    as $$ select 1, 'embed', 'pending', 0, null::jsonb, null, now(), null::timestamptz, 7 $$;
"""
# A sequence is not rolled back, so the first call fails and the next one does not.
FAIL_ONCE = """
    create sequence public.calls;
    create or replace function memory.version() returns text language plpgsql as $$ begin
      if nextval('public.calls') = 1 then {failure}; end if;
      return '9.9.9';
    end $$;
"""


def test_a_prepared_statement_survives_a_new_column(dsn: str, db: psycopg.Connection) -> None:
    with Memory(dsn, pool_size=1) as memory:
        job = memory.summarize_user("ana")
        for _ in range(8):  # psycopg prepares a statement after five calls
            memory.get_job("ana", job)
        db.execute(ADD_A_COLUMN)
        for _ in range(8):
            assert memory.get_job("ana", 1).kind == "embed"


def test_a_call_that_misses_a_function_is_repeated_once(dsn: str, db: psycopg.Connection) -> None:
    async def version() -> str:
        async with AsyncMemory(dsn) as memory:
            return await memory.version()

    db.execute(FAIL_ONCE.format(failure="perform memory._gone(1)").encode())
    assert asyncio.run(version()) == "9.9.9"
    assert db.execute("select last_value from public.calls").fetchone() == (2,)


def test_refusals_are_not_repeated(dsn: str, db: psycopg.Connection) -> None:
    failure = "raise invalid_parameter_value using message = 'settings: no', hint = 'x'"
    db.execute(FAIL_ONCE.format(failure=failure).encode())
    with Memory(dsn) as memory, pytest.raises(AgentMemoryError):
        memory.version()
    assert db.execute("select last_value from public.calls").fetchone() == (1,)


def test_within_a_transaction_of_the_caller_nothing_is_repeated(dsn: str, db: psycopg.Connection) -> None:
    db.execute(FAIL_ONCE.format(failure="perform memory._gone(1)").encode())
    with (
        psycopg.connect(dsn) as connection,
        pytest.raises(psycopg.errors.UndefinedFunction),
    ):
        Memory(connection).version()
    assert db.execute("select last_value from public.calls").fetchone() == (1,)
