"""A filled database is upgraded, and every row stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.installer import open_as
from tests.support.sqlapi import TABLES, Api
from tests.upgrade.conftest import Upgrade
from tests.upgrade.fill import ANA, EMPTY

pytestmark = pytest.mark.feature("F13")

Rows = dict[str, dict[str, dict[str, Any]]]
"""For each table its rows by their key."""


def rows(api: Api) -> Rows:
    """All rows of all tables, each under its primary key, or under itself where there is none."""
    key = """
        select a.attname::text from pg_index as i
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indisprimary and i.indrelid = %(table)s::regclass order by 1"""
    found: Rows = {}
    for [table] in api.query(TABLES):
        columns = [row.attname for row in api.query(key, table=f"memory.{table}")]
        values = [row for [row] in api.query(f"select to_jsonb(t) from memory.{table} as t")]
        found[table] = {json.dumps([row[column] for column in columns or sorted(row)]): row for row in values}
    return found


def faults(api: Api) -> set[str]:
    """The checks of the doctor that fail."""
    return {check.check_name for check in api.doctor() if not check.ok}


def test_every_row_stays_and_the_database_works_as_before(upgrade: Upgrade) -> None:
    with open_as(upgrade.old) as connection:
        api = Api(connection)
        before, found_wrong = rows(api), faults(api)
        log = api.retrieve_artifact(user_id=ANA["user_id"], key="log")
    upgrade.run()
    with open_as(upgrade.old) as connection:
        api = Api(connection)
        after = rows(api)
        assert api.retrieve_artifact(user_id=ANA["user_id"], key="log") == log
    assert {table for table, found in before.items() if not found} <= EMPTY
    for table, old in before.items():
        assert old == {
            key: {column: value for column, value in after[table].get(key, {}).items() if column in row}
            for key, row in old.items()
        }
    # What happened is recorded; nothing else is added to tables that were there. A release may have the same tables,
    # and was kept without roles.
    added = {table for table, old in before.items() if len(after[table]) > len(old)}
    assert added == {"migrations", "audit"} if upgrade.file else added <= {"migrations", "audit", "role_grants"}

    with open_as(upgrade.old) as connection:
        api = Api(connection)
        next_seq = api.value("select next_seq from memory.threads where thread_id = %(id)s", id=ANA["thread_id"])
        assert api.add_message(**ANA, role="user", content="Back again").seq == next_seq
        assert api.add_message(**ANA, role="user", content="Grüße ☕ 我喜欢茶", idempotency_key="k1").seq < next_seq
        contents = [message.content for message in api.get_messages(**ANA)]
        assert {"question 0", "Grüße ☕ 我喜欢茶", "Be kind.", "Back again"} <= set(contents)
        api.query("update memory.jobs set lease_expires_at = now() where status = 'running' returning 1")
        while api.finish_jobs() or any(api.sweep()[count] for count in ("queued", "checked")):
            pass
        assert faults(api) <= found_wrong
        [found] = api.search(user_id=ANA["user_id"], query="Ghent", mode="keyword", top_k=1)
        assert found.content == "Works in\u00a0Ghent"
