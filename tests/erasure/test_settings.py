"""Settings of a session that change how PostgreSQL reads and prints change nothing of an erasure, an import or a merge.

An administrator may set each of them for a database.
"""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg
import pytest

from tests.conftest import DATABASE_NAMES, Database
from tests.erasure.conftest import ANA, NEEDLE, rows
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F5")

SETTINGS = {
    "array_nulls": "off",
    "backslash_quote": "off",
    "bytea_output": "escape",
    "client_encoding": "LATIN1",
    "datestyle": "SQL, DMY",
    "default_text_search_config": "german",
    "escape_string_warning": "off",
    "extra_float_digits": "-15",
    "gin_fuzzy_search_limit": "1",
    "intervalstyle": "iso_8601",
    "plan_cache_mode": "force_generic_plan",
    "plpgsql.extra_errors": "all",
    "quote_all_identifiers": "on",
    "row_security": "off",
    "search_path": "memory",
    "standard_conforming_strings": "off",
    "timezone": "Asia/Kathmandu",
    "transform_null_equals": "on",
    "xmlbinary": "hex",
    "xmloption": "document",
}


def done(dsn: str, settings: dict[str, str]) -> dict[str, Any]:
    """What an export, the erasures, an import and a merge return in a session with these settings, and what is left."""
    with (
        contextlib.closing(psycopg.connect(dsn, autocommit=True)) as connection,
        contextlib.closing(psycopg.connect(dsn, autocommit=True)) as plain,
    ):
        api, beside = Api(connection), Api(plain)
        connection.execute("delete from memory.secrets")  # sealed with no key
        [memory] = beside.value(
            "select array_agg(memory_id) from memory.memories where content = %(c)s", c=f"Likes more {NEEDLE}"
        )
        set_those_known = "select set_config(name, %s, false) from pg_settings where name ilike %s"
        for name, value in settings.items():
            connection.execute(set_those_known, [value, name])
        found: dict[str, Any] = {"export": api.export_user(user_id="bo")}
        found["in parts"] = api.export_user(user_id="bo", kinds=["messages"], max_rows=10)
        found["forget_memory"] = api.forget_memory(user_id=ANA, memory_id=memory)["tables"]
        found["forget_user"] = api.forget_user(user_id="bo")["tables"], rows(beside, "bo")
        found["import"] = api.import_user(user_id="bo", export=found["export"], lift_tombstones=True)
        found["export of the import"] = api.export_user(user_id="bo")
        found["merge"] = api.merge_users(from_user_id=ANA, into_user_id="bo"), rows(beside, ANA), rows(beside, "bo")
        found["forget both"] = api.forget_user(user_id="bo", spaces="forget")["tables"], rows(beside, "bo")
        return found


@pytest.fixture(scope="module")
def usual(_database: Database, _filled_template: str) -> dict[str, Any]:
    """The same with the settings that a session has at first."""
    with _database(next(DATABASE_NAMES), _filled_template) as conninfo:
        return done(conninfo, {})


@pytest.mark.usefixtures("filled")
def test_settings_change_nothing(dsn: str, usual: dict[str, Any]) -> None:
    assert usual["forget both"][1] == {}
    assert done(dsn, SETTINGS) == usual
