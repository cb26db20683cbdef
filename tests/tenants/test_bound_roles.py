"""Login roles that are bound to a user."""

from __future__ import annotations

import pytest
from psycopg import errors

from tests.support.sqlapi import Api, refused
from tests.tenants.steps import login_role, session_of


@pytest.mark.feature("F9")
def test_a_bound_role_does_its_users_work_and_no_other(tenant: Api, users: Api) -> None:
    thread = {"user_id": "ana", "thread_id": "t1"}
    assert tenant.tenant_user() == "ana"
    assert tenant.add_message(**thread, role="user", content="Hello").seq == 1
    assert tenant.add_memory(user_id="ana", content="Likes tea").inserted
    assert len(tenant.search(user_id="ana", query="tea")) == 1
    assert [message.content for message in tenant.get_messages(**thread)] == ["I am ana", "Hello"]
    assert tenant.get_context(**thread)
    assert tenant.extract_memories(**thread) > 0
    assert tenant.delete_thread(**thread) == 2
    with pytest.raises(errors.InsufficientPrivilege):
        tenant.get_messages(user_id="bob", thread_id="t1")
    assert len(users.get_messages(user_id="bob", thread_id="t1")) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "select memory.claim_jobs('w')",
        "select memory.get_secret('ana', 'mail')",
        "select memory.bind_role('tenant_ana', 'bob')",
        "select * from memory.messages",
        "select * from memory.thread_stats",
        "select memory._user_of_tenant()",
    ],
)
def test_a_tenant_is_granted_nothing_that_concerns_others(api: Api, statement: str) -> None:
    with session_of(api.connection, "tenant_ana"), pytest.raises(errors.InsufficientPrivilege):
        api.query(statement)


def test_a_session_cannot_leave_its_user(tenant: Api) -> None:
    for statement in (
        "set role memory_tenant",
        "set agent_memory.token = 'x'",
        "set memory.rows_are_copied = 'yes'",
        "set row_security = off",
        "set search_path = pg_temp, public",
    ):
        tenant.connection.execute(statement.encode())
        with pytest.raises(errors.InsufficientPrivilege):
            tenant.list_memories(user_id="bob")
        assert len(tenant.list_memories(user_id="ana")) == 1
    with pytest.raises(errors.InsufficientPrivilege):
        tenant.connection.execute("set session authorization postgres")


def test_a_role_of_several_groups_is_a_tenant(api: Api) -> None:
    """A login role that is a tenant's stays one whatever else it is a member of, also without inheriting rights."""
    login_role(api.connection, "tenant_and_app", "memory_app")
    api.connection.execute("alter role tenant_and_app noinherit")
    api.connection.execute("create role tenants_of_tests; grant memory_tenant to tenants_of_tests")
    api.connection.execute("grant tenants_of_tests to tenant_and_app")
    with session_of(api.connection, "tenant_and_app"):
        api.query("select from (select set_config('role', 'memory_app', true)) as s")
        with pytest.raises(errors.InsufficientPrivilege, match="not set"):
            api.list_memories(user_id="bob")


class TestBinding:
    def test_to_another_user_is_refused_until_it_is_unbound(self, api: Api) -> None:
        api.bind_role(role_name="tenant_ana", user_id="ana")  # again changes nothing
        with refused("role_name", "23505"):
            api.bind_role(role_name="tenant_ana", user_id="bob")
        api.unbind_role(role_name="tenant_ana")
        with (
            session_of(api.connection, "tenant_ana"),
            pytest.raises(errors.InsufficientPrivilege, match="bound to no user"),
        ):
            api.list_memories(user_id="ana")
        api.bind_role(role_name="tenant_ana", user_id="bob")
        with session_of(api.connection, "tenant_ana"):
            assert len(api.list_memories(user_id="bob")) == 1

    @pytest.mark.parametrize("group", ["memory_app", "its own grants"])
    def test_a_role_that_could_reach_all_users_gets_a_notice(self, api: Api, group: str) -> None:
        name = login_role(api.connection, "wide_role", *(["memory_app"] if group == "memory_app" else []))
        if group != "memory_app":
            api.connection.execute("grant usage on schema memory to wide_role")
        api.notices.clear()
        api.bind_role(role_name=name, user_id="ana")
        [notice] = api.notices
        assert 'role "wide_role" could reach all users' in notice
        api.bind_role(role_name=name, user_id="ana")
        api.bind_role(role_name=login_role(api.connection, "narrow_role"), user_id="ana")
        assert len(api.notices) == 1
        with session_of(api.connection, name):
            with pytest.raises(errors.InsufficientPrivilege):
                api.list_memories(user_id="bob")
            assert len(api.list_memories(user_id="ana")) == 1

    @pytest.mark.parametrize(
        "role", [None, "", "nobody there", "memory_tenant", "postgres", "worker_of_tests", "monitor_of_tests"]
    )
    def test_roles_that_cannot_be_bound_are_refused(self, api: Api, role: str | None) -> None:
        login_role(api.connection, "worker_of_tests", "memory_worker")
        login_role(api.connection, "monitor_of_tests", "memory_reader")
        with refused("role_name"):
            api.bind_role(role_name=role, user_id="ana")

    @pytest.mark.parametrize("right", ["bypassrls", "superuser", "create on schema"])
    def test_a_role_that_would_reach_all_the_same_is_refused(self, api: Api, right: str) -> None:
        api.connection.execute("create role mighty login")
        if right == "create on schema":
            api.connection.execute("grant create on schema memory to mighty")
        else:
            api.connection.execute(f"alter role mighty {right}".encode())
        with refused("role_name"):
            api.bind_role(role_name="mighty", user_id="ana")

    def test_a_name_is_quoted(self, api: Api) -> None:
        name = 'a "b"; drop schema memory; --'
        login_role(api.connection, name)
        api.bind_role(role_name=name, user_id="ana")
        with session_of(api.connection, name):
            assert api.tenant_user() == "ana"

    def test_a_role_that_is_not_bound_cannot_be_unbound(self, api: Api) -> None:
        with refused("role_name", "P0002"):
            api.unbind_role(role_name="tenant_by_token")
        with refused("role_name"):
            api.unbind_role(role_name=None)

    def test_a_renamed_or_dropped_role_reaches_nobody_and_the_binding_can_be_ended(self, api: Api) -> None:
        login_role(api.connection, "tenant_for_a_while")
        api.bind_role(role_name="tenant_for_a_while", user_id="ana")
        api.connection.execute("alter role tenant_for_a_while rename to tenant_renamed")
        with session_of(api.connection, "tenant_renamed"), pytest.raises(errors.InsufficientPrivilege):
            api.list_memories(user_id="ana")
        api.connection.execute("drop role tenant_renamed")
        api.unbind_role(role_name="tenant_for_a_while")

    def test_an_administrator_binds_roles(self, api: Api) -> None:
        login_role(api.connection, "admin_of_tests", "memory_admin")
        login_role(api.connection, "tenant_to_come")
        with session_of(api.connection, "admin_of_tests"):
            api.bind_role(role_name="tenant_to_come", user_id="ana")
        with session_of(api.connection, "tenant_to_come"):
            assert len(api.list_memories(user_id="ana")) == 1
