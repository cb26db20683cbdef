"""Every function that takes a user refuses the users of others to a tenant's session."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.support.sqlapi import Api
from tests.tenants.steps import session_of, token_of
from tests.values.bad_arguments import VALID

WITH_USERS = sorted(
    name
    for name, arguments in VALID.items()
    if ("user_id" in arguments or name.startswith("claim")) and name != "partition_of"
)
MAY_NAME_NOBODY = ("claim_jobs", "get_policy", "list_spaces", "set_policy")
SESSIONS = {"bound": ("tenant_ana", None), "token": ("tenant_by_token", token_of("ana"))}


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """Tenants may call everything, so that the functions themselves have to refuse."""
    shared_api.connection.execute("grant execute on all routines in schema memory to memory_tenant")
    return shared_api


def refusal_of(api: Api, session: str, function: str, **arguments: Any) -> tuple[str | None, ...]:
    role, token = SESSIONS[session]
    with session_of(api.connection, role, token):
        try:
            getattr(api, function)(**{**VALID[function], **arguments})
        except psycopg.Error as error:
            return error.sqlstate, error.diag.message_primary, error.diag.message_hint
    return (None,)


def test_all_functions_with_users_are_tried(api: Api) -> None:
    query = """
        select p.proname::text from pg_proc as p
        where p.pronamespace = 'memory'::regnamespace and p.proname !~ '^_' and 'user_id' = any (p.proargnames)
          and coalesce(p.proargmodes[array_position(p.proargnames, 'user_id')], 'i') in ('i', 'b')"""
    # One computes a number of any text, and the other is for administrators.
    tried = {*WITH_USERS, *MAY_NAME_NOBODY, "partition_of", "list_changes"}
    assert {name for [name] in api.query(query)} == tried


@pytest.mark.feature("F9")
@pytest.mark.parametrize(("session", "functions"), [("bound", (*WITH_USERS, *MAY_NAME_NOBODY)), ("token", ("search",))])
def test_a_tenant_is_refused_a_foreign_user_who_may_exist_or_not(
    api: Api, session: str, functions: tuple[str, ...]
) -> None:
    for function in functions:
        exists, does_not = (refusal_of(api, session, function, user_id=user) for user in ("bob", "nobody"))
        assert exists == does_not, function
        assert exists[:2] == ("42501", "user_id: is not the user of this session"), function
        assert exists[2]


@pytest.mark.parametrize("function", MAY_NAME_NOBODY)
def test_a_tenant_is_refused_all_users(api: Api, function: str) -> None:
    assert refusal_of(api, "bound", function, user_id=None)[0] == "42501"


def test_a_tenant_whose_user_has_the_name_of_a_placeholder_is_refused_all_users(api: Api) -> None:
    with session_of(api.connection, "tenant_by_token", token_of("any")), pytest.raises(errors.InsufficientPrivilege):
        api.claim_jobs(worker="w")
