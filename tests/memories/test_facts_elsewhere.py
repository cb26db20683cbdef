"""Facts that change, where users are exported, imported, merged and forgotten, and for roles with few rights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F29")


def home(api: Api, content: str, **arguments: Any) -> Any:
    return add(api, content, **{"attribute": "home", **arguments})


@pytest.mark.feature("F25")
def test_two_users_who_become_one_live_in_one_place(api: Api) -> None:
    home(api, "Lives in Lyon")
    add(api, "Plays chess", attribute="hobby")
    home(api, "Lives in Porto", user_id="bob")
    add(api, "Climbs rocks", user_id="bob", attribute="hobby")
    api.merge_users(from_user_id="ana", into_user_id="bob")
    assert contents(api, user_id="bob", attribute="home") == ["Lives in Porto"]
    assert len(contents(api, user_id="bob", attribute="hobby")) == 2
    assert api.value("select memory_count from memory.memory_scopes where user_id = 'bob'") == 3


@pytest.mark.feature("A3")
def test_a_tenant_reaches_the_facts_of_its_user_alone(api: Api, connect: Callable[..., psycopg.Connection]) -> None:
    of_ana, of_bob = home(api, "Lives in Lyon"), home(api, "Lives in Bonn", user_id="bob")
    api.connection.execute("create role facts_of_ana login; grant memory_tenant to facts_of_ana")
    try:
        api.bind_role(role_name="facts_of_ana", user_id="ana")
        tenant = Api(connect(user="facts_of_ana"))
        home(tenant, "Lives in Porto")
        assert tenant.end_memory(user_id="ana", memory_id=of_ana) is False
        assert contents(tenant) == ["Lives in Porto"]
        assert [hit.content for hit in tenant.search(user_id="ana", query="Where do I live?", mode="keyword")] == [
            "Lives in Porto"
        ]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            tenant.end_memory(user_id="bob", memory_id=of_bob)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            home(tenant, "Lives in Kiel", user_id="bob")
        with pytest.raises(psycopg.Error):
            add(tenant, "Took over", replaces=[of_bob])
    finally:
        api.unbind_role(role_name="facts_of_ana")
        api.connection.execute("drop role facts_of_ana")
    assert contents(api, user_id="bob") == ["Lives in Bonn"]
