"""Clients know the way: each call goes to the node of its user, and what concerns all users to all nodes."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import (
    AsyncMemory,
    InvalidValueError,
    Memory,
    NotFoundError,
    PermissionDeniedError,
    RetryableError,
    WrongNodeError,
    partition_of,
)
from agent_memory.calls.nodes import user_hash
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from tests.cluster.conftest import PARTITIONS, set_map
from tests.cluster.databases import USERS, Databases
from tests.conftest import DATABASE_NAMES, Database
from tests.hooks.steps import Assistant
from tests.tenants.steps import KEY, login_role, text_of, token_of

pytestmark = pytest.mark.feature("F14")

HALVES = "aabbabab"


class Cluster(Databases):
    """Two databases with a map of which each knows its part."""

    def __init__(self, dsns: list[str], stack: contextlib.ExitStack) -> None:
        super().__init__(dict(zip("ab", dsns, strict=True)), stack)
        self.nodes: dict[str, dict[str, Any]] = {
            name: {"dsn": self.place(name), "number": number} for number, name in enumerate(self.dsn)
        }
        self.set_map(1, HALVES)

    def set_map(self, version: int, partitions: str, only: str = "ab", users: dict[str, str] | None = None) -> None:
        for name in only:
            set_map(self.node(name), name, version, partitions, nodes=self.nodes, users=users)

    def node_of(self, user_id: str, partitions: str = HALVES) -> str:
        return partitions[partition_of(user_id, PARTITIONS)]


@pytest.fixture
def dsns(_database: Database, _template: str) -> Iterator[list[str]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(_database(next(DATABASE_NAMES), _template)) for _ in "ab"]


@pytest.fixture
def cluster(dsns: list[str]) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        yield Cluster(dsns, stack)


def test_each_call_goes_to_the_node_of_its_user(cluster: Cluster) -> None:
    with Memory(cluster.dsn["a"]) as memory:
        for user in USERS:
            assert memory.add_message(user, "t", "user", f"I am {user}").seq == 0
        for user in USERS:
            assert [message.content for message in memory.get_messages(user, "t")] == [f"I am {user}"]
        memory_id = memory.add_memory(USERS[0], "Likes tea").memory_id
        with pytest.raises(RetryableError, match=r"^expected_version: the memory is at version 1, not 7"):
            memory.update_memory(USERS[0], memory_id, "Likes coffee", expected_version=7)
    for node in "ab":
        assert cluster.users(node) == {user for user in USERS if cluster.node_of(user) == node} != set()
    user = next(user for user in USERS if cluster.node_of(user) == "b")
    with pytest.raises(WrongNodeError):  # an open connection stays on its node
        Memory(cluster.node("a").connection).add_message(user, "t", "user", "Hello")


def test_a_refusal_is_followed_once_with_a_fresh_map(cluster: Cluster) -> None:
    with Memory(cluster.dsn["a"]) as memory:
        memory.version()
        user = next(user for user in USERS if cluster.node_of(user) == "a")
        memory.add_message(USERS[0], "t", "user", "Hello")
        for api in map(cluster.node, "ab"):
            api.connection.execute("delete from memory.messages; delete from memory.threads; delete from memory.jobs")
        cluster.set_map(2, HALVES.replace("a", "c").replace("b", "a").replace("c", "b"))
        memory.add_message(user, "t", "user", "Hello")
    assert cluster.users("b") == {user}


def test_a_refusal_by_a_node_without_a_newer_map_is_raised(cluster: Cluster) -> None:
    """Between two steps of a move no node serves the user."""
    user = next(user for user in USERS if cluster.node_of(user) == "b")
    with Memory(cluster.dsn["a"]) as memory:
        memory.get_messages(user, "t")
        cluster.set_map(2, "a" * PARTITIONS, only="b")
        with pytest.raises(WrongNodeError, match='node "b" serves the user, and this is node "a"') as raised:
            memory.add_message(user, "t", "user", "Hello")
        assert raised.value.sqlstate == "AM003"
        assert isinstance(raised.value, RetryableError)
        cluster.set_map(2, "a" * PARTITIONS, only="a")
        memory.add_message(user, "t", "user", "Hello")
    assert cluster.users("a") == {user}


def test_a_client_that_began_before_the_cluster_learns_of_it(dsns: list[str]) -> None:
    with contextlib.ExitStack() as stack:
        memory = stack.enter_context(Memory(dsns[0]))
        assert memory.version()
        cluster = Cluster(dsns, stack)
        for user in USERS:
            memory.add_message(user, "t", "user", "Hello")
        assert cluster.users("b")


def test_a_node_that_was_restored_from_a_backup_gets_no_calls_for_who_came_since(cluster: Cluster) -> None:
    come = next(user for user in USERS if cluster.node_of(user) == "a")
    stayed = next(user for user in USERS if cluster.node_of(user) == "b")
    cluster.set_map(2, "b" * PARTITIONS, only="a")
    with Memory(cluster.dsn["a"]) as memory:
        memory.add_message(stayed, "t", "user", "Hello")
        with pytest.raises(RetryableError, match=r'node "b": has version 1 of the cluster\'s map, and the newest is 2'):
            memory.add_message(come, "t", "user", "Hello")
        cluster.set_map(2, "b" * PARTITIONS, only="b")
        memory.add_message(come, "t", "user", "Hello")
    assert cluster.users("b") == {come, stayed}


def test_another_database_at_the_address_of_a_node_gets_no_calls(cluster: Cluster) -> None:
    user = next(user for user in USERS if cluster.node_of(user) == "b")
    cluster.node("b").connection.execute("update memory.cluster_map set node = 'a', version = 2")
    with Memory(cluster.dsn["a"]) as memory, pytest.raises(RetryableError, match=r'^node "b": is node "a"'):
        memory.add_message(user, "t", "user", "Hello")


def test_a_node_that_has_come_gets_what_concerns_all(cluster: Cluster) -> None:
    nodes = dict(cluster.nodes)
    del cluster.nodes["b"]
    cluster.set_map(2, "a" * PARTITIONS, only="a")
    with Memory(cluster.dsn["a"]) as memory:
        memory.add_message(USERS[0], "t", "user", "Hello")
        cluster.nodes = nodes
        cluster.set_map(3, "a" * PARTITIONS)
        memory.admin.set_policy({"context": {"max_memories": 3}})
        assert set(memory.admin.status()["nodes"]) == {"a", "b"}
    assert cluster.node("b").get_policy()["context"]["max_memories"] == 3


def test_a_pool_of_the_application_gives_its_settings_to_the_other_nodes(cluster: Cluster) -> None:
    known = {"application_name": "shop", "autocommit": True, **conninfo_to_dict(cluster.dsn["a"])}
    with ConnectionPool("", min_size=1, max_size=1, timeout=5, kwargs=known) as pool, Memory(pool) as memory:
        memory.admin.set_policy({"context": {"max_memories": 3}})
        for user in USERS:
            memory.add_message(user, "t", "user", "Hello")
        connected = cluster.node("b").query(
            "select distinct application_name from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        assert [name for [name] in connected] == ["shop"]
    assert all(api.get_policy()["context"]["max_memories"] == 3 for api in map(cluster.node, "ab"))
    assert cluster.users("a") | cluster.users("b") == set(USERS)


def test_what_concerns_all_users_changes_all_nodes_or_none_and_a_policy_of_a_user_its_node(cluster: Cluster) -> None:
    with Memory(cluster.dsn["a"]) as memory:
        memory.admin.set_policy({"context": {"max_memories": 3}})
        memory.admin.register_model("m", "embedding", "openai", "m")
        cluster.node("b").drop_model(name="m")
        with pytest.raises(Exception, match="m"):
            memory.admin.activate_model("m")
        for api in map(cluster.node, "ab"):
            assert api.get_policy()["context"]["max_memories"] == 3
        assert cluster.node("a").value("select is_active from memory.models where name = 'm'") is False
        for user in USERS:
            memory.admin.set_policy({"context": {"max_memories": 3}}, user_id=user)
            assert memory.admin.get_policy(user_id=user)["context"]["max_memories"] == 3
    assert all(api.value("select count(*) from memory.policies where user_id <> ''") for api in map(cluster.node, "ab"))


def test_answers_of_all_nodes_are_added_up(cluster: Cluster) -> None:
    with Memory(cluster.dsn["a"]) as memory:
        for user in USERS:
            memory.add_messages(user, "t", [{"role": "user", "content": "Hello"}] * 12)
            memory.extract_memories(user, "t")
        seen = [memory.admin.list_users(row_limit=5, row_offset=offset) for offset in (0, 5, 10)]
        assert [row.user_id for page in seen for row in page] == USERS[::-1]
        assert {row.total_count for page in seen for row in page} == {len(USERS)}
        for number in range(60):
            memory.add_message(f"other {number}", "t", "user", "Hello")
        assert len(memory.admin.list_users()) == 50
        status = memory.admin.status()
        assert status["queue"]["pending"] == sum(
            api.value("select count(*) from memory.jobs where status = 'pending'") for api in map(cluster.node, "ab")
        )
        assert set(status["nodes"]) == {"a", "b"}
        checks = memory.admin.doctor()
        assert {check.detail.partition(":")[0] for check in checks} == {"a", "b"}
        assert isinstance(memory.admin.sweep(), dict)


def test_a_token_counts_on_every_node(cluster: Cluster) -> None:
    user = next(user for user in USERS if cluster.node_of(user) == "b")
    role = "tenant_of_cluster"
    login_role(cluster.node("a").connection, role, "memory_tenant")
    with Memory(cluster.dsn["a"]) as memory:
        memory.admin.set_token_key(text_of(KEY))
        memory.admin.bind_role(login_role(cluster.node("a").connection, "bound_in_cluster"), user)
        if not cluster.node("a").query("select from pg_roles where rolname = 'claims_in_cluster'"):
            cluster.node("a").connection.execute("create role claims_in_cluster nologin")
        memory.admin.trust_claims("claims_in_cluster")
    assert all(api.value("select count(*) from memory.bound_roles") == 2 for api in map(cluster.node, "ab"))
    with Memory(make_conninfo(cluster.dsn["a"], user=role), token=token_of(user)) as memory:
        memory.add_message(user, "t", "user", "Hello")
        with pytest.raises(PermissionDeniedError):
            memory.add_message(next(other for other in USERS if other != user), "t", "user", "Hello")
    assert cluster.users("b") == {user}


def test_a_tenant_learns_nothing_of_users_who_were_moved_alone(cluster: Cluster) -> None:
    """Whoever knows the MD5 of a user_id can try names until one has it."""
    moved, other, *_ = [user for user in USERS if cluster.node_of(user) == "a"]
    cluster.set_map(2, HALVES, users={user_hash(user): "b" for user in (moved, other)})
    role = login_role(cluster.node("a").connection, "tenant_of_cluster", "memory_tenant")
    for name in "ab":
        cluster.node(name).set_token_key(key=text_of(KEY))
    session_of_role = make_conninfo(cluster.dsn["a"], user=role)
    with psycopg.connect(session_of_role) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("select memory._cluster_map()")
        connection.execute("select set_config('agent_memory.token', %s, true)", [token_of(moved)])
        [[seen]] = connection.execute("select memory._cluster_map()")
        assert seen["users"] == {user_hash(moved): "b"}
    whose = [moved]
    with Memory(session_of_role, token=lambda: token_of(whose[0])) as memory:
        for user in (moved, other):
            whose[0] = user
            memory.add_message(user, "t", "user", "Hello")
    assert cluster.users("b") == {moved, other}


def test_a_buffer_an_export_and_an_import_follow_a_move(cluster: Cluster, tmp_path: Any) -> None:
    user = next(user for user in USERS if cluster.node_of(user) == "a")
    with contextlib.ExitStack() as stack:
        pushing, exporting, importing = (stack.enter_context(Memory(cluster.dsn["a"])) for _ in range(3))
        for memory in (pushing, exporting, importing):
            memory.get_messages(user, "t")
        buffer = stack.enter_context(pushing.buffer())
        buffer.add_message(user, "t", "user", "Hello")
        cluster.set_map(2, "b" * PARTITIONS)
        buffer.push()
        assert cluster.users("b") == {user}
        assert exporting.export_user_to(user, tmp_path / "user") > 0
        exporting.forget_user(user)
        imported = importing.admin.import_user_from(user, tmp_path / "user", lift_tombstones=True)
        assert imported["messages"] == 1


def test_a_process_that_was_forked_knows_the_way_too(cluster: Cluster) -> None:
    program = """
import os, sys
from agent_memory import Memory
users = sys.argv[2:]
with Memory(sys.argv[1], pool_size=2) as memory:
    for user in users:
        memory.add_message(user, "t", "user", "before")
    child = os.fork()
    for user in users:
        memory.add_message(user, "t", "user", "parent" if child else "child")
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    for user in users:
        assert sorted(message.content for message in memory.get_messages(user, "t")) == ["before", "child", "parent"]
"""
    subprocess.run([sys.executable, "-c", program, cluster.dsn["a"], *USERS], check=True, timeout=120)


@pytest.mark.feature("F25")
def test_users_of_two_nodes_are_brought_together_before_they_are_merged(cluster: Cluster) -> None:
    here = {node: [user for user in USERS if cluster.node_of(user) == node] for node in "ab"}
    first, second, third = here["b"][:3]
    into = here["a"][0]
    with Memory(cluster.dsn["a"]) as memory:
        for user in (first, second, third, into):
            memory.add_message(user, f"thread of {user}", "user", f"I am {user}")
        memory.admin.merge_users(first, second)
        assert len(memory.list_threads(second)) == 2
        memory.admin.merge_users(second, into)
        assert len(memory.list_threads(into)) == 3
        assert memory.list_threads(second) == []
        with pytest.raises(NotFoundError):
            memory.admin.merge_users(second, into)
        with pytest.raises(InvalidValueError):
            memory.admin.merge_users(None, into)  # type: ignore[arg-type]

    async def merge_back() -> None:
        async with AsyncMemory(cluster.dsn["b"]) as memory:
            await memory.admin.merge_users(into, third)
            assert len(await memory.list_threads(third)) == 4

    asyncio.run(merge_back())
    command = [sys.executable, "-m", "agent_memory.cli", "users", "merge", third, here["a"][1], "--yes"]
    subprocess.run([*command, "--dsn", cluster.dsn["b"]], check=True)
    with Memory(cluster.dsn["a"]) as memory:
        assert {thread.thread_id for thread in memory.list_threads(here["a"][1])} == {
            f"thread of {user}" for user in (first, second, third, into)
        }
    assert cluster.users("a") == {here["a"][1]}
    assert cluster.users("b") == set()


@pytest.mark.feature("F28")
def test_the_hooks_of_an_assistant_know_the_way(cluster: Cluster, tmp_path: Path) -> None:
    for node in "ab":
        user = next(user for user in USERS if cluster.node_of(user) == node)
        session = Assistant("codex", tmp_path / node, tmp_path, session=user)
        session.home.mkdir()
        session.install("--user", user, "--dsn", cluster.dsn["a"])
        session.turn("password = hunter2hunter2", "Yes.")
        assert session.log == ""
        with Memory(cluster.dsn["b"]) as memory:
            stored = [message.content for message in memory.get_messages(user, user)]
            assert stored == ["password = (credential: password)", "Yes."]
