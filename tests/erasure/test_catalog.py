"""The registry knows each table and column; forget_memory does with each text what its word says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.erasure.conftest import ANA
from tests.support.installer import copied_sources, the_build
from tests.support.servers import ROOT
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("F5")

BUILD = the_build(ROOT)
REGISTRY = BUILD.statements.tables(BUILD.WHOLE)
TEXTS = {"text", "text with keys", "wording", "wording with keys"}
NO_TEXT = {
    ("artifacts", "content"): "empty: the content lies in parts",
    ("messages", "files"): "data in base64, which go with the message",
}
FORGOTTEN = "Keeps her savings under the floor of the zqxneedle"


def test_the_registry_has_the_columns_of_the_catalog(db: psycopg.Connection) -> None:
    found = db.execute(
        """
        select c.relname::text, array_agg(a.attname::text order by a.attnum)
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'm', 'f')
          and c.relname <> 'migrations' -- which the installation makes
        group by c.relname
        """
    )
    assert dict(found.fetchall()) == {name: list(table.words) for name, table in REGISTRY.items()}


def test_the_test_data_have_every_table_with_users(filled: Api) -> None:
    """Otherwise the tests of the dump and of exports and moves would prove nothing of the missing one."""
    for name, table in REGISTRY.items():
        if "user_id" in table.words:
            assert filled.value(f"select count(*) from memory.{name} where user_id = %(ana)s", ana=ANA), (
                f"{name}: say in tests/erasure/conftest.py how it gets a row"
            )


AUDIT, MEMORIES = "core/05_audit/registry.toml", "core/43_memories/registry.toml"
TABLES_SQL = "core/43_memories/tables.sql"
BEFORE = "create table memory.memory_types ("


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            TABLES_SQL,
            "  subject text, -- wording",
            "  subject text, -- wording\n  mood text,",
            r'43_memories/tables\.sql: memories\.mood says "".* -- wording for a text',
        ),
        (
            TABLES_SQL,
            BEFORE,
            "create table memory.moods (\n  user_id text primary key -- user\n);\n" + BEFORE,
            r"43_memories/registry\.toml: \[moods\] needs exported = .* or not_exported",
        ),
        (MEMORIES, "[memory_types]", "[moods]\n\n[memory_types]", r"entry \[moods\], but tables\.sql makes no"),
        (AUDIT, 'user_id = "null"\n', "", r"\[audit\] needs without_user for user_id"),
    ],
)
def test_the_build_refuses_what_the_registry_does_not_know(
    tmp_path: Path, file: str, old: str, new: str, problem: str
) -> None:
    sources = copied_sources(tmp_path)
    path = sources / "sql" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SystemExit, match=problem):
        the_build(sources).build()


def test_deleted_threads_leave_no_rows_in_tables_that_go_with_them(filled: Api) -> None:
    gone = [name for name, table in REGISTRY.items() if table.entry.get("with_thread") is True]
    assert gone == ["due_deletions", "shown_rounds", "idempotency_keys", "quarantined_messages"]
    for name in gone:
        of_threads = f"from memory.{name} where user_id = %(ana)s and thread_id <> ''"
        for [thread_id] in filled.query(f"select distinct thread_id {of_threads}", ana=ANA):
            filled.add_message(user_id=ANA, thread_id=thread_id, role="user", content="so that there is such a thread")
            filled.delete_thread(user_id=ANA, thread_id=thread_id)
        assert filled.value(f"select count(*) {of_threads}", ana=ANA) == 0, name


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
    for table, column in ((t, c) for t in REGISTRY.values() if "user_id" in t.words for c in t.columns(TEXTS)):
        if (table.name, column) in NO_TEXT:
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
                table=sql.Identifier(table.name),
                column=sql.Identifier(column),
                also=sql.SQL(
                    ", quarantined_at = now(), deleted_at = 'infinity'"
                    if (table.name, column) == ("memories", "quarantine_reason")
                    else ""
                ),
            )
            changed = api.connection.execute(change, {"value": values[table.types[column]], "user": ANA}).rowcount
            assert changed == 1, f"{table.name}.{column}: tests/erasure/conftest.py stores no row of another wording"
            api.connection.execute("set local session_replication_role = origin")
            api.forget_memory(**user, memory_id=memory_id)
            left += [
                f"{table.name}.{column} -> {other}: {row[:300]}"
                for [other] in api.query(TABLES)
                for [row] in api.query(
                    f"select t::text from memory.{other} as t where t::text ilike '%%zqxneedle%%' and %(x)s", x=True
                )
            ]
            tried += 1
    assert left == [], "the word behind the column in tables.sql says another thing than what forget_memory does"
    assert tried >= 20
