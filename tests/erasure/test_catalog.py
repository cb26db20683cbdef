"""A table or column that can hold a user's data is covered by forget_user, or listed with the reason why not."""

from __future__ import annotations

import psycopg
import pytest

from tests.erasure.conftest import ANA
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("F5")

WITHOUT_USERS = {
    "agent_budgets": "locks by agent; those of agents that only the user had are removed",
    "erasure_keys": "keys of hashes",
    "memory_types": "kinds of memories, which administrators make",
    "migrations": "what was installed",
    "models": "settings of administrators",
    "prompt_versions": "settings of administrators",
    "receipts": "counts by table, a keyed hash, and a reason from which user_id and content are cut",
    "role_grants": "roles and names of our functions",
    "token_keys": "keys of tokens",
    "tombstones": "keyed hashes",
    "user_locks": "keyed hashes",
    "whole_user_changes": "transactions that are under way",
}
"""Tables without a column user_id, and why they hold nothing of a user."""

KEPT = {
    ("model_calls", "user_id"): "empty",
    ("model_calls", "kind"): "one of the kinds of jobs, or rerank and the like",
    ("model_calls", "agent_id"): "kept where others have the agent, or a policy names it",
    ("model_calls", "model"): "a model of administrators",
    ("model_calls", "error"): "the word forgotten",
    ("gone_jobs", "user_id"): "a keyed hash, for calls that are still running; swept after 7 days",
    ("gone_jobs", "kind"): "one of the kinds of jobs",
    ("gone_jobs", "agent_id"): "as in model_calls",
    ("gone_jobs", "model"): "a model of administrators",
}
"""Columns that could hold a text of the user in tables whose rows stay, and what is in them afterwards."""

NO_TEXT = {
    "bigint", "boolean", "date", "double precision", "integer", "interval", "numeric", "real", "uuid", "xid8",
    "timestamp with time zone",
}  # fmt: skip


def text_columns(db: psycopg.Connection) -> set[tuple[str, str]]:
    rows = db.execute(
        """
        select c.relname, a.attname, format_type(a.atttypid, null)
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'm', 'f')
        """
    )
    return {(table, column) for table, column, kind in rows if kind not in NO_TEXT}


def test_each_table_has_users_or_a_reason_why_not(db: psycopg.Connection) -> None:
    tables = {name for [name] in db.execute(TABLES)}
    with_users = {
        name
        for [name] in db.execute(
            "select attrelid::regclass::text from pg_attribute where attname = 'user_id' and attnum > 0"
            " and attrelid in (select oid from pg_class where relnamespace = 'memory'::regnamespace"
            " and relkind in ('r', 'p', 'm', 'f'))"
        )
    }
    assert tables - {name.removeprefix("memory.") for name in with_users} == set(WITHOUT_USERS)


def test_each_column_that_can_hold_a_text_goes_or_is_listed(db: psycopg.Connection) -> None:
    staying = {column for column in text_columns(db) if column[0] in {"model_calls", "gone_jobs"}}
    assert staying == set(KEPT)


def test_the_test_data_have_every_table_with_users(filled: Api) -> None:
    """Otherwise the test of the dump would prove nothing of the missing one."""
    for [table] in filled.query(TABLES):
        if table not in WITHOUT_USERS:
            assert filled.value(f"select count(*) from memory.{table} where user_id = %(ana)s", ana=ANA), table
