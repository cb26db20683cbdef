"""A table or column that can hold a user's data is covered by forget_user, or listed with the reason why not."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.erasure.conftest import ANA
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("F5")

WITHOUT_USERS = {
    "agent_budgets": "locks by agent; those of agents that only the user had are removed",
    "cluster_map": "nodes; of users who were moved by themselves a hash, which cluster doctor --repair removes",
    "erasure_keys": "keys of hashes",
    "memory_types": "kinds of memories, which administrators make",
    "imports": "a keyed hash and a count, of transactions that are under way",
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
    ("model_calls", "reply_model"): "a model's name, without blanks",
    ("model_calls", "refusals"): "counts by reasons of ours",
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
    assert tables - {name.removeprefix("memory.") for name in with_users} == set(WITHOUT_USERS), (
        "a table without a column user_id stands in WITHOUT_USERS, with the reason"
    )


def test_each_column_that_can_hold_a_text_goes_or_is_listed(db: psycopg.Connection) -> None:
    staying = {column for column in text_columns(db) if column[0] in {"model_calls", "gone_jobs"}}
    assert staying == set(KEPT)


def test_the_test_data_have_every_table_with_users(filled: Api) -> None:
    """Otherwise the test of the dump would prove nothing of the missing one."""
    for [table] in filled.query(TABLES):
        if table not in WITHOUT_USERS:
            assert filled.value(f"select count(*) from memory.{table} where user_id = %(ana)s", ana=ANA), (
                f"{table}: say in tests/erasure/conftest.py how it gets a row"
            )


FORGOTTEN = "Keeps her savings under the floor of the zqxneedle"

NAMES = {
    "agent_id", "agent_ids", "artifact_key", "artifact_type", "idempotency_key", "key", "kind", "login_role",
    "memory_type", "model", "name", "role", "role_name", "scope", "source", "status", "thread_id", "user_id", "variant",
}  # fmt: skip
"""Columns by which applications find rows again, and names of our own: forget_memory leaves them as they are."""

NO_WORDING = {
    ("artifacts", "content"): "empty: the content lies in parts",
    ("audit", "details"): "names and settings, never content",
    ("audit", "function"): "a function of ours",
    ("bound_roles", "claims_setting"): "the name of a setting",
    ("changes", "*"): "names, ids and words of ours",
    ("checkpoint_blobs", "*"): "names of channels; values are in the format of the client",
    ("checkpoint_writes", "*"): "names of channels and tasks; values are in the format of the client",
    ("checkpoints", "*"): "the state of a graph, as its application has it: forget_memory() does not change it",
    ("document_chunks", "*"): "pieces of documents",
    ("documents", "*"): "documents of the application, which stay even if they say the same",
    ("idempotency_keys", "digest"): "a hash, emptied for the messages that go",
    ("jobs", "next_request"): "settings of a job that is asked for again",
    ("jobs", "worker"): "the name of a worker",
    ("memories", "changed_by"): "a role",
    ("memories", "content_hash"): "a hash of the content, which goes with it",
    ("memories", "operation"): "one of a few words",
    ("memories", "quarantined_with"): "the id of a source",
    ("memory_history", "changed_by"): "a role",
    ("memory_history", "operation"): "one of a few words",
    ("memory_uses", "outcome"): "one of three words",
    ("messages", "content_digest"): "a hash of the content, which goes with it",
    ("messages", "files"): "data in base64, which goes with its message",
    ("new_changes", "*"): "names, ids and words of ours",
    ("model_calls", "reply_model"): "a model's name, without blanks",
    ("model_calls", "refusals"): "counts by reasons of ours",
    ("moved_users", "contents"): "checksums",
    ("policies", "settings"): "settings",
    ("quarantined_messages", "content_digest"): "a hash of the content, which goes with it",
    ("query_embeddings", "query_hash"): "a hash; forget_memory removes all queries",
    ("secrets", "*"): "sealed",
    ("shown_rounds", "*"): "ids of messages, and a hash",
    ("space_grants", "*"): "the ids of users",
    ("space_writes", "*"): "ids",
    ("spaces", "*"): "what administrators call a space",
    ("embeddings", "id"): "an id",
    ("texts", "id"): "an id",
    ("gone_jobs", "*"): "numbers of calls that are running",
}
"""Columns that cannot hold what was forgotten, or that keep it, and why; * for a table's other columns."""


def columns_with_texts(api: Api) -> list[tuple[str, str, str]]:
    """Table, column and type of what can hold a text of a user."""
    return [
        tuple(row)
        for row in api.query(
            """
            select c.relname, a.attname, format_type(a.atttypid, null)
            from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
              and format_type(a.atttypid, null) in ('text', 'text[]', 'jsonb')
              and exists (select from pg_attribute as u where u.attrelid = c.oid and u.attname = 'user_id')
            order by 1, 2
            """
        )
    ]


def test_forget_memory_leaves_its_wording_in_no_column(filled: Api) -> None:
    """The wording is put into one column after the other, of a row that says something else."""
    api, user = filled, {"user_id": ANA}
    memory_id = api.add_memory(**user, content=FORGOTTEN).memory_id
    values: dict[str, Any] = {
        "text": f"So: {FORGOTTEN.upper()}!",
        "text[]": [FORGOTTEN, "tea"],
        "jsonb": Jsonb({"a": {FORGOTTEN: 1, "b": ["x", FORGOTTEN]}}),
    }
    left, tried = [], 0
    for table, column, kind in columns_with_texts(api):
        if column in NAMES or NO_WORDING.keys() & {(table, column), (table, "*")}:
            continue
        with api.connection.transaction(force_rollback=True):
            # Of several rows one that forget_memory must not remove for another reason.
            api.connection.execute("set local session_replication_role = replica")
            change = sql.SQL(
                "update memory.{table} set {column} = %(value)s{also}"
                " where ctid = (select ctid from memory.{table} as t where user_id = %(user)s"
                " and t::text not like '%%zqxneedle%%'"
                " and coalesce(to_jsonb(t) ->> 'status', 'completed') = 'completed'"
                " order by {column} is null, to_jsonb(t) ->> 'deleted_at' nulls first limit 1)"
            ).format(
                table=sql.Identifier(table),
                column=sql.Identifier(column),
                also=sql.SQL(
                    ", quarantined_at = now(), deleted_at = 'infinity'"
                    if (table, column) == ("memories", "quarantine_reason")
                    else ""
                ),
            )
            changed = api.connection.execute(change, {"value": values[kind], "user": ANA}).rowcount
            assert changed == 1, f"{table}.{column}: tests/erasure/conftest.py stores no row of another wording"
            api.connection.execute("set local session_replication_role = origin")
            api.forget_memory(**user, memory_id=memory_id)
            left += [
                f"{table}.{column} -> {other}: {row[:300]}"
                for [other] in api.query(TABLES)
                for [row] in api.query(
                    f"select t::text from memory.{other} as t where t::text ilike '%%zqxneedle%%' and %(x)s", x=True
                )
            ]
            tried += 1
    assert left == [], (
        "add the column to 75_erasure/forget_wording.sql, or to NO_WORDING with the reason why it may keep a wording"
    )
    assert tried >= 20
