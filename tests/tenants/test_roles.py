"""The roles of agent_memory: what they may do, and how they come and go with installations."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory.install import roles_file
from agent_memory.server.functions import FOR_USERS
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from tests.install.upgrades import Build
from tests.support import rooms
from tests.support.installer import build_version, execute, install, open_as
from tests.support.servers import ROOT, Run, Server
from tests.support.sqlapi import Api, refused
from tests.tenants.steps import login_role

ROLES = ("memory_app", "memory_tenant", "memory_worker", "memory_reader", "memory_admin")
GROUPS: list[dict[str, Any]] = rooms.groups()


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a later version from further files: ``build({path below sql/: text})``."""
    return lambda files: build_version(tmp_path, files)


@contextlib.contextmanager
def renamed(server: Server, *roles: str) -> Iterator[None]:
    """For the rest of a server the roles are missing meanwhile; what comes of their names goes at the end."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        for role in roles:
            connection.execute(f"alter role {role} rename to {role}_away".encode())
    try:
        yield
    finally:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            for (database,) in connection.execute("select datname from pg_database where datallowconn").fetchall():
                for role in roles:
                    if connection.execute("select to_regrole(%s)", [role]).fetchone() != (None,):
                        execute(server.conninfo(database), f"drop owned by {role}")
            for role in roles:
                connection.execute(f"drop role if exists {role}".encode())
                connection.execute(f"alter role {role}_away rename to {role}".encode())


def rights(api: Api, role: str) -> dict[str, set[str]]:
    """What a role was granted in schema memory."""
    functions = """
        select proname::text from pg_proc
        where pronamespace = 'memory'::regnamespace and has_function_privilege(%(role)s, oid, 'execute')
          and not has_function_privilege('public', oid, 'execute')"""
    relations = """
        select relname::text from pg_class
        where relnamespace = 'memory'::regnamespace and relkind in ('r', 'v', 'S', 'm')
          and case relkind when 'S' then has_sequence_privilege(%(role)s, oid, 'usage, select, update')
              else has_any_column_privilege(%(role)s, oid, 'select, insert, update, references')
                or has_table_privilege(%(role)s, oid, 'delete, truncate, trigger') end"""
    return {
        kind: {name for [name] in api.query(query, role=role)}
        for kind, query in (("functions", functions), ("views", relations))
    }


class TestTheList:
    def test_what_a_users_token_may_call_over_http_is_what_a_tenant_may_call(self) -> None:
        assert set(GROUPS[0]["functions"]) == FOR_USERS
        assert GROUPS[0]["roles"] == ["app", "tenant", "admin"]

    def test_the_page_grants_the_same_one_by_one(self) -> None:
        page = (ROOT / "docs" / "roles.md").read_text()
        [block] = re.findall(r"^## Without these roles.*?^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        granted = {
            role: {
                name
                for names in re.findall(rf"execute on \w+ ([^;]*) to {role};", block)
                for name in re.findall(r"memory\.(\w+)", names)
            }
            for role in ("app", "worker")
        }
        listed = {
            role: {name for group in GROUPS if role in group["roles"] for name in group.get("functions", ())}
            for role in granted
        }
        secrets = {"set_secret", "delete_secret", "_secret_mask"}  # they stand under Secrets
        assert granted["app"] == listed["app"] - secrets - {"version", "tenant_user"}
        assert granted["worker"] == listed["worker"]

    @pytest.mark.feature("F9")
    @pytest.mark.parametrize("role", ROLES)
    def test_a_role_may_do_what_the_list_says_and_nothing_else(self, api: Api, role: str) -> None:
        groups = [group for group in GROUPS if role.removeprefix("memory_") in group["roles"]]
        listed = {kind: {name for group in groups for name in group.get(kind, ())} for kind in ("functions", "views")}
        assert rights(api, role) == listed
        assert api.value("select has_schema_privilege(%(role)s, 'memory', 'usage')", role=role)
        assert not api.value("select has_schema_privilege(%(role)s, 'memory', 'create')", role=role)


class TestGrantsOfAdministrators:
    def test_what_was_revoked_and_granted_stays(self, dsn: str, db: psycopg.Connection) -> None:
        db.execute("revoke execute on function memory.add_document, memory.search from memory_app, memory_tenant")
        db.execute("revoke select on memory.dead_jobs from memory_reader")
        db.execute("revoke usage on schema memory from memory_worker")
        db.execute("grant execute on function memory.get_secret to memory_app")
        api = Api(db)
        before = {role: rights(api, role) for role in ROLES}
        install(dsn)
        assert {role: rights(api, role) for role in ROLES} == before
        assert not api.value("select has_schema_privilege('memory_worker', 'memory', 'usage')")

    def test_a_later_version_grants_what_is_new_only(self, dsn: str, db: psycopg.Connection, build: Build) -> None:
        db.execute("revoke execute on function memory.search from memory_app")
        groups = json.loads((rooms.SQL / "grants.json").read_text())
        groups[0]["functions"].append("extra")
        extra = "create or replace function memory.extra(user_id text)\nreturns int\nlanguage sql\nas $$ select 1 $$;\n"
        install(dsn, build({"grants.json": json.dumps(groups), "core/80_operate/extra.sql": extra}))
        functions = rights(Api(db), "memory_app")["functions"]
        assert "extra" in functions
        assert "search" not in functions

    def test_a_role_that_was_created_anew_gets_its_rights_again(
        self, server: Server, dsn: str, db: psycopg.Connection
    ) -> None:
        api = Api(db)
        before = rights(api, "memory_reader")
        with renamed(server, "memory_reader"):
            db.execute("create role memory_reader")
            assert rights(api, "memory_reader") == {"functions": set(), "views": set()}
            install(dsn)
            assert rights(api, "memory_reader") == before


class TestOwnersWhoMayNotCreateRoles:
    @pytest.fixture
    def owned(self, empty_dsn: str, server: Server) -> Iterator[str]:
        """A database whose owner may create no roles, on a server without ours."""
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            login_role(connection, "plain_owner")
        execute(empty_dsn, "create extension vector")
        execute(empty_dsn, f"alter database {conninfo_to_dict(empty_dsn)['dbname']} owner to plain_owner")
        with renamed(server, *ROLES):
            install(empty_dsn, user="plain_owner")
            yield empty_dsn

    def test_all_works_without_the_roles_and_doctor_names_them(self, owned: str) -> None:
        with open_as(owned, user="plain_owner") as connection:
            api = Api(connection)
            assert api.add_message(user_id="ana", thread_id="t1", role="user", content="Hello").seq == 0
            assert api.tenant_user() is None
            [check] = [check for check in api.doctor() if check.check_name == "roles"]
            assert check.ok
            assert all(role in check.detail for role in ROLES)
            with refused("role_name", "0A000"):
                api.bind_role(role_name="plain_owner", user_id="ana")

    def test_an_administrator_creates_the_roles_and_the_owner_grants_them(self, owned: str) -> None:
        with open_as(owned, user="plain_owner") as connection, pytest.raises(errors.InsufficientPrivilege):
            connection.execute(roles_file().encode())
        for _ in range(2):
            execute(owned, roles_file())
        install(owned, user="plain_owner")
        with open_as(owned) as admin:
            login_role(admin, "tenant_of_plain_owner")
        with open_as(owned, user="plain_owner") as connection:
            api = Api(connection)
            assert set(GROUPS[0]["functions"]) <= rights(api, "memory_app")["functions"]
            api.bind_role(role_name="tenant_of_plain_owner", user_id="ana")
            api.add_memory(user_id="bob", content="Likes tea")
            assert len(api.list_memories(user_id="bob")) == 1  # the owner is no tenant, though a member
            connection.execute("grant select on all tables in schema memory to tenant_of_plain_owner")
        with open_as(owned, user="tenant_of_plain_owner") as connection:
            assert Api(connection).list_memories(user_id="ana") == []
            assert connection.execute("select * from memory.memories").fetchall() == []


class TestSeveralInstallations:
    def test_two_databases_may_be_installed_at_the_same_time(self, server: Server, empty_dsn: str, dsn: str) -> None:
        execute(dsn, "drop schema memory cascade")
        execute(empty_dsn, "create extension vector")
        with renamed(server, *ROLES), ThreadPoolExecutor() as threads:
            list(threads.map(install, [dsn, empty_dsn]))
            for installed in (dsn, empty_dsn):
                with open_as(installed) as connection:
                    assert "search" in rights(Api(connection), "memory_app")["functions"]


class TestDumps:
    def test_a_dump_keeps_bindings_keys_and_grants(
        self, users: Api, empty_dsn: str, dump: Callable[..., str], dsn: str, run: Run, tmp_path: Path
    ) -> None:
        users.connection.execute("revoke execute on function memory.search from memory_app")
        users.connection.execute("grant select on memory.memories to tenant_ana")
        restore(dump(dsn), empty_dsn, run, tmp_path, "--variable=ON_ERROR_STOP=1")
        install(empty_dsn)
        with open_as(empty_dsn, user="tenant_ana") as connection:
            assert [row.content for row in Api(connection).list_memories(user_id="ana")] == ["Is called ana"]
            assert connection.execute("select user_id from memory.memories").fetchall() == [("ana",)]
        with open_as(empty_dsn) as connection:
            assert "search" not in rights(Api(connection), "memory_app")["functions"]

    def test_a_dump_that_was_restored_without_the_roles_gets_them_from_the_install_file(
        self, users: Api, empty_dsn: str, server: Server, dump: Callable[..., str], dsn: str, run: Run, tmp_path: Path
    ) -> None:
        before = rights(users, "memory_tenant")
        text = dump(dsn)
        with renamed(server, *ROLES):
            said = restore(text, empty_dsn, run, tmp_path)
            assert 'role "memory_tenant" does not exist' in said
            with open_as(empty_dsn) as connection:
                api = Api(connection)
                assert api.value("select count(*) from memory.messages") == 2
                install(empty_dsn)
                assert rights(api, "memory_tenant") == before
                assert api.value("select count(*) from pg_policies where policyname = 'own_user'") > 15


def restore(text: str, dsn: str, run: Run, folder: Path, *options: str) -> str:
    file = folder / "dump.sql"
    file.write_text(text)
    return run("psql", "-Xq", *options, "-f", file, dsn).stderr
