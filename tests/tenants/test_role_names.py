"""What the roles are named where several databases of a server have agent_memory, and whom a grant lets in.

The databases of the other tests share the roles memory_app, ... on purpose: their server sets agent_memory.role_prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from tests.support.installer import execute, install, open_as
from tests.support.servers import Run
from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, login_role, text_of, token_of
from tests.tenants.test_roles import ROLES, restore

UNSET = {"options": "-c agent_memory.role_prefix="}
"""As on a server where nobody has set it."""


def own(dsn: str, role: str) -> str:
    """The name of a role in a database of its own names."""
    return f"memory_{role}_{conninfo_to_dict(dsn)['dbname']}"


def check_of_roles(dsn: str, **parameters: str) -> tuple[bool, str]:
    with open_as(dsn, **(parameters or UNSET)) as connection:
        [check] = [check for check in Api(connection).doctor() if check.check_name == "roles"]
    return check.ok, check.detail


def reads(dsn: str, login: str, user_id: str = "ana") -> bool:
    """Whether a login role reaches a user's memories in a database."""
    with open_as(dsn, user=login) as connection:
        try:
            return len(Api(connection).list_memories(user_id=user_id)) == 1
        except errors.InsufficientPrivilege:
            return False


def remember(dsn: str) -> None:
    with open_as(dsn) as connection:
        for user_id in ("ana", "bob"):
            Api(connection).add_memory(user_id=user_id, content=f"Is called {user_id}")


@pytest.fixture
def beside(dsn: str, empty_dsn: str) -> Iterator[str]:
    """A database beside ``dsn``, whose installation has the names memory_app, ..."""
    assert dsn != empty_dsn
    execute(empty_dsn, "create extension vector")
    yield empty_dsn
    with open_as(empty_dsn) as connection:
        for name in [own(empty_dsn, role.removeprefix("memory_")) for role in ROLES] + [
            role.replace("memory", "apart") for role in ROLES
        ]:
            if connection.execute("select to_regrole(%s)", [name]).fetchone() != (None,):
                connection.execute(f"drop owned by {name}; drop role {name}".encode())


@pytest.fixture
def logins(dsn: str) -> Callable[[str, str], str]:
    """Make a login role that is a member of no other role than the one given."""

    def login(name: str, group: str) -> str:
        with open_as(dsn) as connection:
            connection.execute(f"drop role if exists {name}".encode())
            return login_role(connection, name, group)

    return login


def test_a_grant_in_one_database_opens_no_other(dsn: str, beside: str, logins: Callable[[str, str], str]) -> None:
    install(beside, **UNSET)
    remember(dsn)
    remember(beside)
    there, here = logins("names_there", "memory_app"), logins("names_here", own(beside, "app"))
    assert (reads(dsn, there), reads(beside, there)) == (True, False)
    assert (reads(dsn, here), reads(beside, here)) == (False, True)
    ok, detail = check_of_roles(beside)
    assert ok
    assert own(beside, "app") in detail


def test_tenants_reach_their_user_by_names_of_the_database(
    beside: str, logins: Callable[[str, str], str], dsn: str
) -> None:
    install(beside, **UNSET)
    remember(beside)
    tenant = own(beside, "tenant")
    by_token, bound = logins("names_by_token", tenant), logins("names_bound", "pg_monitor")
    with open_as(beside) as connection:
        api = Api(connection)
        api.set_token_key(key=text_of(KEY))
        api.bind_role(role_name=bound, user_id="ana")
        connection.execute(f"grant select on memory.memories to {tenant}".encode())
    for login in (by_token, bound):
        with open_as(beside, user=login) as connection:
            connection.execute("select set_config('agent_memory.token', %s, false)", [token_of("ana")])
            assert connection.execute("select user_id from memory.memories").fetchall() == [("ana",)]
            assert len(Api(connection).list_memories(user_id="ana")) == 1
            with pytest.raises(errors.InsufficientPrivilege):
                Api(connection).list_memories(user_id="bob")
    assert not reads(dsn, bound)


def test_a_copy_beside_its_origin_shares_the_roles_until_it_has_names_of_its_own(
    dsn: str, users: Api, beside: str, dump: Callable[..., str], run: Run, tmp_path: Path
) -> None:
    users.connection.execute("grant select on memory.memories to memory_tenant")
    execute(beside, "drop extension vector")
    restore(dump(dsn), beside, run, tmp_path, "--variable=ON_ERROR_STOP=1")
    install(beside, **UNSET)
    ok, detail = check_of_roles(beside)
    assert not ok
    assert str(conninfo_to_dict(dsn)["dbname"]) in detail
    assert reads(beside, "app_of_tenants")
    ok, detail = check_of_roles(beside, options="-c agent_memory.role_prefix=memory")
    assert ok  # an administrator has said that they are to be shared
    assert "shared with" in detail

    install(beside, options="-c agent_memory.role_prefix=apart")
    for _ in range(2):
        assert check_of_roles(beside)[0]
        assert not reads(beside, "app_of_tenants")
        assert reads(dsn, "app_of_tenants")
        assert reads(beside, "tenant_ana", "ana")
        assert not reads(beside, "tenant_ana", "bob")
        install(beside, **UNSET)  # which keeps the names
    with open_as(beside) as connection:
        roles = connection.execute(
            "select distinct unnest(roles)::text from pg_policies where schemaname = 'memory'"
        ).fetchall()
    assert set(roles) == {("public",), ("apart_tenant",)}
