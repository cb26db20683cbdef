"""Row security: what roles see that were granted rights on tables."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.servers import Run
from tests.support.sqlapi import Api
from tests.tenants.steps import login_role, session_of, token_of

TABLES_WITH_USERS = """
    select c.relname::text from pg_class as c join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'user_id'
    order by 1"""
ALL_RIGHTS = """
    grant usage on schema memory to memory_tenant, app_of_tenants;
    grant all on all tables in schema memory to memory_tenant, app_of_tenants"""
OF_THE_OWNER = {
    "bound_roles", "erasure_keys", "imports", "role_grants", "token_keys", "tombstones", "user_locks",
    "whole_user_changes",
}  # fmt: skip


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """Tenants and an application may do everything with all tables."""
    shared_api.connection.execute(ALL_RIGHTS.encode())
    return shared_api


def seen(api: Api, table: str) -> list[Any]:
    query = sql.SQL("select distinct user_id from {} order by 1").format(sql.Identifier("memory", table))
    return [user_id for [user_id] in api.query(query)]


@pytest.mark.feature("F9")
def test_each_table_with_users_has_row_security(api: Api) -> None:
    """A new table gets it from the install file without a further line."""
    tables = {name for [name] in api.query(TABLES_WITH_USERS)}
    assert len(tables) > 15
    secured = "select relname::text from pg_class where relnamespace = 'memory'::regnamespace and relrowsecurity"
    assert tables | OF_THE_OWNER == {name for [name] in api.query(secured)}
    policies = dict(
        api.query(
            "select tablename::text, array_agg(policyname::text order by policyname) from pg_policies"
            " where schemaname = 'memory' group by tablename"
        )
    )
    assert policies == {name: ["any_user", "own_user", "tenants"] for name in tables - OF_THE_OWNER}


@pytest.mark.parametrize(
    ("role", "token"), [("tenant_ana", None), ("tenant_by_token", token_of("ana"))], ids=["bound", "token"]
)
def test_a_tenant_sees_and_changes_rows_of_its_user_only(api: Api, role: str, token: str | None) -> None:
    tables = [name for [name] in api.query(TABLES_WITH_USERS) if name not in OF_THE_OWNER]
    assert seen(api, "messages") == seen(api, "memories") == ["ana", "bob"]
    with session_of(api.connection, role, token):
        for table in tables:
            assert seen(api, table) in ([], ["ana"]), table
        assert seen(api, "messages") == seen(api, "memories") == ["ana"]
        assert api.query("update memory.memories set content = 'Seen by all' returning user_id") == [("ana",)]
        assert api.query("delete from memory.memories returning user_id") == [("ana",)]
    assert seen(api, "memories") == ["bob"]


OF_OTHERS = [
    "insert into memory.messages (user_id, thread_id, role, content) values ('bob', 't1', 'user', 'Hello')",
    "insert into memory.policies (user_id, agent_id, settings) values ('', '', '{}')",
    "insert into memory.bound_roles (role_name, user_id) values ('tenant_by_token', 'ana')",
    "update memory.threads set user_id = 'bob' where thread_id = 't1'",
    "set local memory.rows_are_copied = 'yes'; insert into memory.memories (user_id, content) values ('bob', 'x')",
]


@pytest.mark.parametrize("statement", OF_OTHERS)
def test_a_tenant_writes_no_row_of_another_user(api: Api, statement: str) -> None:
    tenant, refusal = session_of(api.connection, "tenant_ana"), pytest.raises(errors.InsufficientPrivilege)
    with tenant, refusal, api.connection.transaction():
        api.connection.execute(statement.encode())


def test_a_tenant_inserts_rows_of_its_own_user(api: Api) -> None:
    with session_of(api.connection, "tenant_ana"):
        api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content)"
            " select 'ana', 't2', 'user', n::text from generate_series(1, 3) as n"
        )
        assert api.value("select count(*) from memory.messages") == 4


def test_a_tenant_without_a_user_gets_an_error_and_no_empty_answer(api: Api) -> None:
    with session_of(api.connection, "tenant_by_token"), pytest.raises(errors.InsufficientPrivilege, match="not set"):
        seen(api, "messages")


def test_an_application_with_rights_on_tables_works_as_before(api: Api) -> None:
    with session_of(api.connection, "app_of_tenants"):
        assert seen(api, "messages") == ["ana", "bob"]
        api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('carl', 't1', 'user', 'Hello')"
        )
        assert seen(api, "messages") == ["ana", "bob", "carl"]


def test_a_tenants_session_in_another_role_sees_nothing(api: Api) -> None:
    """Its login role counts, and the other role has no policy that lets a tenant's session pass."""
    api.connection.execute("create role readers; grant usage on schema memory to readers")
    api.connection.execute("grant select on all tables in schema memory to readers; grant readers to tenant_ana")
    with session_of(api.connection, "tenant_ana"):
        api.connection.execute("set local role readers")
        assert seen(api, "messages") == []
        api.connection.execute("reset role")


def test_a_tenants_query_uses_the_index(api: Api) -> None:
    api.connection.execute("set local enable_seqscan = off")
    with session_of(api.connection, "tenant_ana"):
        plan = "\n".join(line for [line] in api.query("explain select * from memory.memories"))
    assert "Index Cond: (user_id = " in plan


def test_an_expression_of_a_tenant_sees_no_foreign_row(api: Api) -> None:
    """A function that is not leakproof is called for rows that the policies let pass only."""
    with session_of(api.connection, "tenant_ana"):
        api.connection.execute(
            "create function pg_temp.heard(text) returns boolean language plpgsql cost 0.0001"
            " as $$ begin raise notice 'heard: %', $1; return true; end $$"
        )
        api.query("select from memory.messages where pg_temp.heard(content)")
    assert api.notices == ["heard: I am ana"]


class TestBackups:
    def test_a_role_for_backups_needs_bypassrls(self, users: Api, dsn: str, run: Run) -> None:
        login_role(users.connection, "backup_of_tests", "pg_read_all_data")
        users.connection.execute("alter role backup_of_tests nobypassrls")
        options = ("--data-only", "--username", "backup_of_tests", "--dbname", dsn_without_user(dsn))
        refused = run("pg_dump", *options, check=False)
        assert "row-level security" in refused.stderr
        users.connection.execute("alter role backup_of_tests bypassrls")
        assert "I am bob" in run("pg_dump", *options).stdout


def dsn_without_user(dsn: str) -> str:
    parts: dict[str, Any] = {name: value for name, value in conninfo_to_dict(dsn).items() if name != "user"}
    return make_conninfo("", **parts)
