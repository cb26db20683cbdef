"""Clients of a cluster of which a node is down or was restored: its users get one clear error, all others work."""

from __future__ import annotations

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from agent_memory import Memory, NotConnectedError, partition_of
from agent_memory._nodes import node_connections
from agent_memory.cluster import nodes
from psycopg.conninfo import conninfo_to_dict

from tests.cluster.conftest import PARTITIONS
from tests.cluster.databases import USERS, Databases
from tests.cluster.test_clients import HALVES, Cluster, cluster, dsns  # noqa: F401  # fixtures
from tests.support.runners import wait_until

pytestmark = pytest.mark.feature("F14")
# ruff: noqa: F811  # tests take the fixtures that are imported


def test_calls_for_healthy_nodes_do_not_wait_for_a_dead_one(cluster: Cluster) -> None:
    alive = next(user for user in USERS if cluster.node_of(user) == "b")
    with socket.create_server(("127.0.0.1", 0)) as silent, contextlib.ExitStack() as stack:
        place = f"host=127.0.0.1 port={silent.getsockname()[1]} dbname=x connect_timeout=3"
        cluster.nodes["c"] = {"dsn": place, "number": 7}
        dead = partition_of(next(user for user in USERS if cluster.node_of(user) == "a"), PARTITIONS)
        owners = "".join("c" if number == dead else node for number, node in enumerate(HALVES))
        cluster.set_map(2, owners)
        memory = stack.enter_context(Memory(cluster.dsn["a"]))
        memory.version()
        user = next(user for user in USERS if partition_of(user, PARTITIONS) == dead)
        with ThreadPoolExecutor() as pool:
            calls = [pool.submit(memory.get_messages, user, "t") for _ in range(3)]
            time.sleep(0.3)
            begun = time.monotonic()
            memory.add_message(alive, "t", "user", "Hello")
            assert time.monotonic() - begun < 2
            silent.close()
            for call in calls:
                assert isinstance(call.exception(60), NotConnectedError)


def test_a_node_that_is_down_concerns_its_users_only(cluster: Cluster) -> None:
    cluster.nodes["b"]["dsn"] = "host=127.0.0.1 port=1 dbname=app"
    cluster.set_map(2, HALVES)
    with Memory(cluster.dsn["a"]) as memory:
        for user in USERS:
            if cluster.node_of(user) == "a":
                memory.add_message(user, "t", "user", "Hello")
            else:
                with pytest.raises(NotConnectedError, match=r'^node "b": '):
                    memory.add_message(user, "t", "user", "Hello")
        with pytest.raises(NotConnectedError, match=r'^node "b": '):
            memory.admin.set_policy({"context": {"max_memories": 3}})
    assert cluster.node("a").get_policy()["context"]["max_memories"] != 3


def test_a_node_that_has_died_is_told_at_once(cluster: Cluster) -> None:
    """Its pool would wait half a minute for a connection."""
    user = next(user for user in USERS if cluster.node_of(user) == "b")
    with Memory(cluster.dsn["a"], pool_size=1) as memory, cluster.api("a") as api:
        memory.add_message(user, "t", "user", "Hello")
        dbname = conninfo_to_dict(cluster.dsn["b"])["dbname"]
        allow = psycopg.sql.SQL("alter database {} with allow_connections {}")
        change = {is_open: allow.format(psycopg.sql.Identifier(str(dbname)), is_open) for is_open in (False, True)}
        api.connection.execute(change[False])
        try:
            ending = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
            api.connection.execute(ending, [dbname])
            with pytest.raises(NotConnectedError, match=r'^node "b": '):  # the call that finds the connection broken
                memory.add_message(user, "t", "user", "Hello")
            begun = time.monotonic()
            with pytest.raises(NotConnectedError, match=r'^node "b": '):
                memory.add_message(user, "t", "user", "Hello")
            assert time.monotonic() - begun < 10
        finally:
            api.connection.execute(change[True])
        wait_until(lambda: is_stored(memory, user))


def test_a_client_that_enters_by_a_restored_node_writes_where_the_others_say(cluster: Cluster) -> None:
    cluster.set_map(2, "b" * PARTITIONS, only="b")
    with Memory(cluster.dsn["a"]) as memory:
        for user in USERS:
            memory.add_message(user, "t", "user", "Hello")
    with node_connections(cluster.dsn["a"]) as connections:
        assert {connections.of(user).info.dbname for user in USERS} == {conninfo_to_dict(cluster.dsn["b"])["dbname"]}
    assert cluster.users("a") == set()
    assert cluster.users("b") == set(USERS)


def test_commands_name_the_node_that_is_out_of_reach(dsns: list[str]) -> None:
    with contextlib.ExitStack() as stack:
        databases = Databases(dict(zip("ab", dsns, strict=True)), stack)
        away = "host=/nowhere dbname=x"
        with pytest.raises(NotConnectedError, match=r'^node "b": '):
            nodes.begin({"a": databases.place("a"), "b": away}, ["a"] * PARTITIONS, dsns[0])
        databases.begin("ab", HALVES)
        with databases.opened() as opened, pytest.raises(NotConnectedError, match=r'^node "c": '):
            nodes.add(opened, {"c": away}, dsns[0])


def is_stored(memory: Memory, user: str) -> bool:
    with contextlib.suppress(NotConnectedError):
        return memory.add_message(user, "t", "user", "Hello", idempotency_key="once").seq is not None
    return False
