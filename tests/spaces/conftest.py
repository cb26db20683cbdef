"""A database with the spaces team and secret, and users with different grants, each with a session of a tenant."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.support.sqlapi import Api
from tests.tenants.steps import login_role

ROLES = {"ana": "space_reader", "ben": "space_writer", "eve": "space_stranger"}
"""Users by their access to the space team, with the login role that is bound to each."""


def make_spaces(api: Api) -> None:
    """Create the spaces: ana reads team, ben writes there, eve has nothing; nobody has the space secret."""
    for user_id, role in ROLES.items():
        login_role(api.connection, role)
        api.bind_role(role_name=role, user_id=user_id)
    api.create_space(space="team", title="The team", metadata={"floor": 3})
    api.create_space(space="secret")
    api.grant_space(space="team", user_id="ana")
    api.grant_space(space="team", user_id="ben", access="write")
    api.add_memory(user_id="space:team", content="Releases happen on Thursdays")
    api.add_memory(user_id="space:secret", content="Releases stop in July")
    api.add_memory(user_id="ana", content="Ana plans releases in May")
    api.add_document(user_id="space:team", title="Handbook", content="How releases are tested. " * 10)


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    make_spaces(shared_api)
    return shared_api


@pytest.fixture
def spaces(db: psycopg.Connection) -> Api:
    """The same in a database of the test, with sessions that commit."""
    api = Api(db)
    make_spaces(api)
    return api


@pytest.fixture
def session(spaces: Api, connect: Callable[..., psycopg.Connection]) -> Callable[[str], Api]:
    """A session of a user in the database of ``spaces``."""
    assert spaces.tenant_user() is None
    return lambda user_id: Api(connect(user=ROLES[user_id]))
