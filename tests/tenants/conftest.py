"""A database with two users, a login role that is bound to one of them, and one that takes tokens."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, login_role, text_of


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """Users ana and bob have a message and a memory each, tenant_ana is bound, tenant_by_token needs a token."""
    prepare(shared_api)
    return shared_api


@pytest.fixture
def users(db: psycopg.Connection) -> Api:
    """The same in the database of one test."""
    api = Api(db)
    prepare(api)
    return api


def prepare(api: Api) -> None:
    login_role(api.connection, "tenant_ana")
    login_role(api.connection, "tenant_by_token", "memory_tenant")
    login_role(api.connection, "app_of_tenants", "memory_app")
    api.bind_role(role_name="tenant_ana", user_id="ana")
    api.set_token_key(key=text_of(KEY))
    for user_id in ("ana", "bob"):
        api.add_message(user_id=user_id, thread_id="t1", role="user", content=f"I am {user_id}")
        api.add_memory(user_id=user_id, content=f"Is called {user_id}")


@pytest.fixture
def tenant(users: Api, connect: Callable[..., psycopg.Connection]) -> Api:
    """A session of tenant_ana in the database of ``users``."""
    assert users.tenant_user() is None
    return Api(connect(user="tenant_ana"))
