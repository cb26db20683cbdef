"""Claims that a gateway such as PostgREST has verified: in which roles they count, and what each forgery gets."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import errors, sql

from tests.support.installer import install
from tests.support.sqlapi import Api, refused
from tests.tenants.steps import token_of

pytestmark = pytest.mark.feature("F27", "F9")

SETTING = "request.jwt.claims"
ROLES = """
    create role claims_gateway login noinherit; create role claims_user nologin; create role claims_anon nologin;
    create role claims_poor nologin noinherit; create role claims_server nologin bypassrls;
    grant claims_user, claims_anon, claims_poor, claims_server to claims_gateway; grant memory_app to claims_server"""


def claims_of(user_id: Any, exp: float = 4102444800, **others: Any) -> str:
    return json.dumps({"sub": user_id, "exp": exp, "role": "claims_user", **others})


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A gateway that may set four roles, of which the claims of one count."""
    if not shared_api.query("select from pg_roles where rolname = 'claims_gateway'"):
        shared_api.connection.execute(ROLES)
    shared_api.trust_claims(role_name="claims_user")
    return shared_api


@contextlib.contextmanager
def request(api: Api, claims: str | None, role: str = "claims_user", login: str = "claims_gateway") -> Iterator[None]:
    """What PostgREST does for a request, before and after its statement."""
    api.connection.execute(sql.SQL("set local session authorization {}").format(sql.Identifier(login)))
    api.connection.execute(
        "select set_config('role', %s, true), set_config(%s, %s, true)", [role, SETTING, claims or ""]
    )
    yield
    api.connection.execute("reset role")
    api.connection.execute("reset session authorization")


def problem_of(api: Api, claims: str | None, **session: str) -> str:
    with (
        pytest.raises(errors.InsufficientPrivilege) as raised,
        api.connection.transaction(),
        request(api, claims, **session),
    ):
        api.list_memories(user_id="ana")
    assert raised.value.diag.message_hint
    return str(raised.value.diag.message_primary)


def test_a_request_reaches_the_user_of_its_claims_only(api: Api) -> None:
    for user_id, other in (("ana", "bob"), ("bob", "ana")):
        with request(api, claims_of(user_id)):
            assert api.tenant_user() == user_id
            assert [row.content for row in api.list_memories(user_id=user_id)] == [f"Is called {user_id}"]
            api.add_message(user_id=user_id, thread_id="t1", role="user", content="Hello")
            with pytest.raises(errors.InsufficientPrivilege, match="not the user of this session"), rollback(api):
                api.list_memories(user_id=other)


def rollback(api: Api) -> Any:
    return api.connection.transaction()


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        (None, "is not set"),
        ("no JSON", "holds no JSON"),
        (f"[{claims_of('ana')}]", "names no user"),
        (claims_of("é" * 256), "names no user"),
        ('{"sub": "ana"}', "never expires"),
        (claims_of("ana", 1000), "has expired"),
        (claims_of("ana", nbf=4102444799), "is not valid yet"),
    ],
)
def test_claims_without_a_user_or_a_time_are_refused(api: Api, claims: str | None, problem: str) -> None:
    assert problem_of(api, claims).startswith(f"{SETTING}: {problem}")


@pytest.mark.parametrize("role", ["claims_anon", "claims_server", "none"])
def test_claims_count_in_no_other_role(api: Api, role: str) -> None:
    """Also in a role that may call everything: the login role of the session is a tenant's."""
    api.connection.execute("grant usage on schema memory to claims_anon; grant memory_tenant to claims_anon")
    api.connection.execute("alter role claims_gateway inherit; grant memory_tenant to claims_gateway")
    assert problem_of(api, claims_of("ana"), role=role).startswith("agent_memory.token: is not set")


@pytest.mark.parametrize("login", ["tenant_ana", "tenant_by_token"])
def test_other_tenants_gain_nothing_by_forged_claims(api: Api, login: str) -> None:
    message = "not the user" if login == "tenant_ana" else "agent_memory.token: is not set"
    for role in ("none", "memory_tenant"):
        with request(api, claims_of("bob"), role=role, login=login):
            with pytest.raises(errors.InsufficientPrivilege, match=message), rollback(api):
                api.list_memories(user_id="bob")
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied to set role"), rollback(api):
                api.connection.execute("set local role claims_user")


def test_a_token_does_not_count_beside_claims(api: Api) -> None:
    with request(api, claims_of("ana")):
        api.connection.execute("select set_config('agent_memory.token', %s, true)", [token_of("bob")])
        assert api.tenant_user() == "ana"
    api.set_token_key(key="A" * 43 + "=")
    with pytest.raises(errors.InsufficientPrivilege, match="is not set"), request(api, None):
        api.tenant_user()


def test_a_bound_role_stays_bound_in_a_role_whose_claims_count(api: Api) -> None:
    api.connection.execute("grant claims_user to tenant_ana")
    with request(api, claims_of("bob"), login="tenant_ana"):
        assert api.tenant_user() == "ana"


def test_the_role_itself_is_not_believed_when_it_logs_in(api: Api) -> None:
    api.connection.execute("alter role claims_user login")
    for role in ("none", "claims_user"):
        assert "agent_memory.token: is not set" in problem_of(api, claims_of("ana"), role=role, login="claims_user")


def test_tables_show_rows_of_the_user_of_the_claims_only(api: Api) -> None:
    api.connection.execute("grant select, delete on memory.memories to claims_user, claims_poor, claims_server")
    rows = "select user_id from memory.memories order by 1"
    for user_id in ("ana", "bob"):
        with request(api, claims_of(user_id)):
            assert api.query(rows) == [(user_id,)]
    with request(api, claims_of("bob")):
        assert api.query("delete from memory.memories returning user_id") == [("bob",)]
    with (
        request(api, claims_of("ana", 1000)),
        pytest.raises(errors.InsufficientPrivilege, match="expired"),
        rollback(api),
    ):
        api.query(rows)
    api.connection.execute("reset role; reset session authorization")
    api.trust_claims(role_name="claims_poor")
    is_each = api.value("select current_setting('server_version_num')::int >= 160000")
    with request(api, claims_of("ana"), role="claims_poor"):
        assert api.query(rows) == ([("ana",)] if is_each else [])


def test_a_role_that_inherits_nothing_may_call_what_tenants_may(dsn: str, users: Api) -> None:
    users.trust_claims(role_name="claims_poor")
    for _ in range(2):
        with users.connection.transaction(), request(users, claims_of("ana"), role="claims_poor"):
            assert len(users.list_memories(user_id="ana")) == 1
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied"), rollback(users):
                users.sweep()
        # An upgrade brings functions that the role must get as well.
        users.connection.execute("revoke execute on function memory.search from claims_poor")
        install(dsn)
    with users.connection.transaction(), request(users, claims_of("ana"), role="claims_poor"):
        assert len(users.search(user_id="ana", query="called")) == 1


class TestNaming:
    def test_whom_it_believes_is_told_and_audited(self, api: Api) -> None:
        api.connection.execute("grant claims_user to app_of_tenants")
        api.trust_claims(role_name="claims_user", setting="gateway.claims")
        assert api.notices == [
            'whoever logs in as app_of_tenants, claims_gateway and sets the role "claims_user" says by gateway.claims'
            " which user that is"
        ]
        audited = "select details from memory.audit where function = 'trust_claims' order by audit_id desc limit 1"
        assert api.value(audited) == {"role_name": "claims_user", "setting": "gateway.claims"}
        assert problem_of(api, claims_of("ana")).startswith("gateway.claims: is not set")

    def test_unbinding_ends_the_trust(self, api: Api) -> None:
        api.unbind_role(role_name="claims_user")
        assert "agent_memory.token: is not set" in problem_of(api, claims_of("ana"))

    @pytest.mark.parametrize(
        ("role", "problem", "sqlstate"),
        [
            (None, "must not be null", "22023"),
            ("claims_nobody", "there is no role", "22023"),
            ("claims_gateway", "can log in", "22023"),
            ("claims_server", "would reach all users", "22023"),
            ("memory_admin", "is a worker, a reader or an administrator", "22023"),
        ],
    )
    def test_roles_that_are_refused(self, api: Api, role: str | None, problem: str, sqlstate: str) -> None:
        with refused("role_name", sqlstate) as raised:
            api.trust_claims(role_name=role)
        assert problem in str(raised.value)

    def test_a_bound_role_is_refused(self, api: Api) -> None:
        api.connection.execute("create role claims_bound login")
        api.bind_role(role_name="claims_bound", user_id="ana")
        api.connection.execute("alter role claims_bound nologin")
        with refused("role_name", "23505"):
            api.trust_claims(role_name="claims_bound")

    @pytest.mark.parametrize("setting", [None, "role", "a.b;c", "request."])
    def test_settings_that_are_refused(self, api: Api, setting: str | None) -> None:
        with refused("setting", "22023"):
            api.trust_claims(role_name="claims_user", setting=setting)

    def test_only_administrators_name_roles(self, api: Api) -> None:
        api.connection.execute("set local session authorization app_of_tenants")
        with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
            api.trust_claims(role_name="claims_anon")


def test_doctor_names_a_role_that_has_become_mighty(api: Api) -> None:
    assert {row.check_name: row.ok for row in api.doctor()}["roles"]
    api.connection.execute("alter role claims_user bypassrls")
    assert not {row.check_name: row.ok for row in api.doctor()}["roles"]
