"""A space lives on one node: calls about it go there, and a search reads spaces of the node of its user."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from agent_memory import InvalidValueError, Memory, NotFoundError, NotSupportedError, WrongNodeError, partition_of
from agent_memory.cluster import moving

from tests.cluster.databases import OWNERS, PARTITIONS, Databases, Proxied
from tests.tenants.steps import login_role, session_of

pytestmark = [pytest.mark.feature("F14"), pytest.mark.feature("F24")]

NAMES = [f"s{number}" for number in range(8)]


def node_of(user_id: str) -> str:
    return OWNERS[partition_of(user_id, PARTITIONS)]


def first(node: str, names: list[str], prefix: str = "") -> str:
    return next(name for name in names if node_of(prefix + name) == node)


SPACE_A, SPACE_B = (first(node, NAMES, "space:") for node in "ab")
ANA, BOB = (first(node, ["ana", "bob", "cem", "dan", "eva", "finn"]) for node in "ab")


@pytest.fixture
def memory(databases: Databases) -> Iterator[Memory]:
    databases.begin("ab", OWNERS)
    with Memory(databases.dsn["a"]) as memory:
        for space in (SPACE_A, SPACE_B):
            memory.admin.create_space(space)
            memory.add_memory(f"space:{space}", f"Releases of {space} are on Thursday")
        yield memory


def test_functions_of_spaces_go_to_the_node_of_the_space(databases: Databases, memory: Memory) -> None:
    memory.admin.grant_space(SPACE_A, ANA)
    memory.admin.grant_space(SPACE_B, BOB, "write")
    for node, space in (("a", SPACE_A), ("b", SPACE_B)):
        assert [row.space for row in databases.node(node).list_spaces()] == [space]
    assert [(row.space, row.total_count) for row in memory.list_spaces()] == sorted([(SPACE_A, 2), (SPACE_B, 2)])
    assert [row.space for row in memory.list_spaces(ANA)] == [SPACE_A]
    [row] = memory.search(ANA, "releases", mode="keyword", spaces=[SPACE_A])
    assert (row.details or {})["space"] == SPACE_A
    assert memory.admin.revoke_space(SPACE_B, BOB) is True
    assert memory.admin.delete_space(SPACE_B)["tables"]["memories"] == 1
    assert [row.space for row in memory.list_spaces()] == [SPACE_A]


def test_a_space_of_another_node_is_refused_by_name_and_left_out_by_policy(memory: Memory) -> None:
    memory.admin.grant_space(SPACE_A, ANA)
    for call in (
        lambda spaces: memory.search(ANA, "releases", mode="keyword", spaces=spaces),
        lambda spaces: memory.get_context(ANA, "t", "releases", spaces=spaces),
        lambda spaces: memory.list_memories(ANA, spaces=spaces),
    ):
        for space in (SPACE_B, first("b", [f"nosuch {number}" for number in range(9)], "space:")):
            with pytest.raises(NotSupportedError, match="another node serves the space"):
                call([SPACE_A, space])
        with pytest.raises(NotFoundError):
            call([first("a", [f"nosuch {number}" for number in range(9)], "space:")])
        assert len(call([SPACE_A])) == 1
    memory.admin.set_policy({"context": {"spaces": [SPACE_A, SPACE_B]}})
    assert {(row.details or {})["space"] for row in memory.search(ANA, "releases", mode="keyword")} == {SPACE_A}


def test_a_grant_is_for_a_user_of_the_node(memory: Memory) -> None:
    with pytest.raises(WrongNodeError):
        memory.admin.grant_space(SPACE_B, ANA)
    with pytest.raises(InvalidValueError, match="there is no space"):
        memory.add_memory("space:nosuch", "Hello")


def test_a_space_moves_with_its_grants(databases: Databases, memory: Memory) -> None:
    memory.admin.grant_space(SPACE_A, ANA)
    with databases.opened() as opened:
        moving.move_user(opened, f"space:{SPACE_A}", "b")
    assert sorted(row.space for row in databases.node("b").list_spaces()) == sorted([SPACE_A, SPACE_B])
    assert memory.list_memories(f"space:{SPACE_A}")[0].space == SPACE_A
    memory.add_memory(f"space:{SPACE_A}", "Moved")
    with pytest.raises(NotSupportedError):
        memory.search(ANA, "releases", mode="keyword", spaces=[SPACE_A])
    with databases.opened() as opened:
        moving.move_user(opened, ANA, "b")
    assert len(memory.search(ANA, "releases moved", mode="keyword", spaces=[SPACE_A])) == 2


def test_a_proxy_forwards_to_the_node_of_the_space(proxied: Proxied) -> None:
    front = proxied.front
    for space in (SPACE_A, SPACE_B):
        front.create_space(space=space)
        front.add_memory(user_id=f"space:{space}", content="Releases are on Thursday")
    front.grant_space(space=SPACE_A, user_id=ANA, access="write")
    front.grant_space(space=SPACE_B, user_id=BOB)
    assert [row.space for row in front.list_spaces()] == sorted([SPACE_A, SPACE_B])
    assert [row.space for row in front.list_spaces(user_id=BOB)] == [SPACE_B]
    assert [row.space for row in proxied.node("a").list_spaces()] == [SPACE_A]
    [row] = front.search(user_id=ANA, query="releases", mode="keyword", spaces=[SPACE_A])
    assert row.details["space"] == SPACE_A
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        front.search(user_id=ANA, query="releases", mode="keyword", spaces=[SPACE_B])
    login_role(proxied.connection, "proxy_bound_in_space")
    front.bind_role(role_name="proxy_bound_in_space", user_id=ANA)
    with proxied.connection.transaction(force_rollback=True), session_of(proxied.connection, "proxy_bound_in_space"):
        assert front.search(user_id=ANA, query="releases", mode="keyword", spaces=[SPACE_A])
        assert [row.space for row in front.list_spaces(user_id=ANA)] == [SPACE_A]
        for function, arguments in (
            ("list_memories", {"user_id": f"space:{SPACE_A}"}),
            ("add_memory", {"user_id": f"space:{SPACE_B}", "content": "x"}),
            ("list_spaces", {"user_id": BOB}),
            ("list_spaces", {}),
        ):
            with pytest.raises(psycopg.Error) as raised, proxied.connection.transaction():
                getattr(front, function)(**arguments)
            assert raised.value.sqlstate in ("42501", "22023")
    assert front.revoke_space(space=SPACE_A, user_id=ANA) is True
    assert front.delete_space(space=SPACE_A)["tables"]["memories"] == 1
