"""The core alone is installed and used, and the file with all add-ons adds what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.support.installer import execute, install, open_as
from tests.support.servers import CORE_SQL, ROOT
from tests.support.sqlapi import TABLES, Api, refused

pytestmark = pytest.mark.feature("F13")

ANA = {"user_id": "ana", "thread_id": "t1"}
ADDONS = {path.name for path in (ROOT / "sql" / "addons").iterdir()}


@pytest.fixture
def core(empty_dsn: str) -> str:
    """A database with the core alone, in use."""
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, CORE_SQL.read_text())
    with open_as(empty_dsn) as connection:
        fill(Api(connection))
    return empty_dsn


def fill(api: Api) -> None:
    """What an application does with the core."""
    api.set_policy(settings={"context": {"max_memories": 7}, "models": {"translates": True}})
    api.set_policy(settings={"memories": {"max_per_agent": 50}}, user_id="ana")
    api.talk(**ANA, rounds=12)
    api.add_message(**ANA, role="tool", content="npm ERR! missing script: build\n" * 2000)
    api.summarize_thread(**ANA)
    while api.finish_jobs(summary="Ana greets.", memory="Likes tea"):
        pass
    api.add_memory(user_id="ana", content="Lives in Lisbon")
    api.add_document(user_id="ana", content="Tea is green. " * 500, title="Tea")
    api.search(user_id="ana", query="tea", mode="keyword")
    api.summarize_user(user_id="ana")


def rows(api: Api) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    return {
        table: sorted((row for [row] in api.query(f"select to_jsonb(t) from memory.{table} as t")), key=repr)
        for [table] in api.query(TABLES)
    }


def test_without_spaces_and_tenants_nobody_reaches_any(core: str) -> None:
    with open_as(core) as connection:
        api = Api(connection)
        with refused("user_id"):
            api.add_memory(user_id="space:x", content="Likes tea")
        with refused("spaces", "P0002"):
            api.search(user_id="ana", query="tea", spaces=["x"])
        connection.execute("create role core_tenant login; grant memory_tenant to core_tenant")
        try:
            with open_as(core, user="core_tenant") as tenant, pytest.raises(psycopg.errors.InsufficientPrivilege):
                Api(tenant).list_memories(user_id="ana")
        finally:
            connection.execute("drop role core_tenant")


def test_the_file_with_all_adds_what_is_missing_and_loses_nothing(
    core: str, dsn: str, dump: Callable[..., str]
) -> None:
    with open_as(core) as connection:
        before = rows(Api(connection))
    install(core)
    with open_as(core) as connection:
        api = Api(connection)
        after = rows(api)
        changed = {table for table, found in before.items() if found != after[table]}
        assert changed <= {"audit", "migrations", "role_grants"}
        assert {
            name.split()[0] for [name] in api.query("select name from memory.migrations where name ~ ' '")
        } == ADDONS
        assert [check.check_name for check in api.doctor() if not check.ok] == []
        key = api.store_artifact(user_id="ana", content="npm ERR! missing script\n" * 2000, key="log").key
        assert "missing script" in api.retrieve_artifact(user_id="ana", key=key)
        stored = api.add_message(**ANA, role="tool", content="npm ERR! missing script: build\n" * 2000)
        assert "MemoryRef: " in stored.content
        api.create_space(space="team")
        api.add_memory(user_id="space:team", content="The team likes tea")

    def schema_of(database: str) -> str:
        return dump(database, "--schema-only").replace(" (made by agent_memory)", "")

    assert schema_of(core) == schema_of(dsn)


def test_the_core_is_not_installed_over_add_ons(dsn: str) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="add-ons that this file lacks"):
        install(dsn, CORE_SQL.read_text())
