"""Workers of a cluster: all nodes or one, in turns, and a node that is away holds up no other."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Memory, NotConnectedError, NotFoundError, partition_of
from agent_memory.cluster import moving, nodes
from agent_memory.worker import NodeWorkers
from agent_memory.worker import nodes as workers
from psycopg.types.json import Jsonb

from tests.cluster.databases import PARTITIONS, Databases
from tests.worker.steps import Scripted, finding, until

pytestmark = pytest.mark.feature("F14")

HALVES = "aaaabbbb"
USERS = [f"grüße {number}" for number in range(10)]


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAP_SECONDS", 0.1)


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


def node_of(user: str) -> str:
    return HALVES[partition_of(user, PARTITIONS)]


def users_of(node: str) -> set[str]:
    return {user for user in USERS if node_of(user) == node}


def ask(databases: Databases, *, text: str = "My name is Ana.", only: str = "ab", threads: int = 1) -> None:
    """Store messages of the users of nodes, and queue that they are read."""
    with Memory(databases.dsn["a"]) as memory:
        for user in USERS:
            for number in range(threads if node_of(user) in only else 0):
                memory.add_message(user, f"t{number}", "user", text)
                memory.extract_memories(user, f"t{number}")


def known(databases: Databases, names: str = "ab") -> set[str]:
    """The users of whom the databases have memories."""
    found: set[str] = set()
    for name in names:
        with databases.api(name) as api:
            found |= {user for [user] in api.query("select distinct user_id from memory.memories")}
    return found


def forget(databases: Databases) -> None:
    for name in "ab":
        with databases.api(name) as api:
            api.connection.execute("delete from memory.memories")


@contextlib.asynccontextmanager
async def running(dsn: str, **options: Any) -> AsyncIterator[NodeWorkers]:
    beside = NodeWorkers(dsn, **{"poll_interval": 0.05, "models": finding("Is called Ana"), **options})
    task = asyncio.create_task(beside.run())
    try:
        yield beside
    finally:
        beside.stop()
        await task


def lead_astray(databases: Databases, place: str) -> None:
    """Give node b another address in the map of all nodes."""
    for name in "ab":
        with databases.api(name) as api:
            api.connection.execute(
                "update memory.cluster_map set nodes = jsonb_set(nodes, '{b,dsn}', %s)", [Jsonb(place)]
            )


@in_loop
async def test_all_nodes_are_served_or_one(databases: Databases) -> None:
    databases.begin("ab", HALVES)
    ask(databases)
    done = await NodeWorkers(databases.dsn["a"], node="b", models=finding("Is called Ana")).run(once=True)
    assert known(databases) == users_of("b") != set()
    assert done.completed == len(users_of("b"))
    await NodeWorkers(databases.dsn["a"], models=finding("Is called Ana")).run(once=True)
    assert known(databases) == set(USERS)
    with pytest.raises(NotFoundError, match='there is no node "z"'):
        await NodeWorkers(databases.dsn["a"], node="z").run()


@in_loop
async def test_nodes_take_turns(databases: Databases) -> None:
    databases.begin("ab", HALVES)
    ask(databases, text="a", only="a", threads=10)
    ask(databases, text="b", only="b")
    order: list[str] = []

    async def note(payload: dict[str, Any]) -> dict[str, Any]:
        order.append(payload["messages"][0]["content"])
        await asyncio.sleep(0.01)
        return {"memories": []}

    await NodeWorkers(databases.dsn["a"], concurrency=1, models=Scripted(note)).run(once=True)
    assert len(order) == 10 * len(users_of("a")) + len(users_of("b"))
    # The last user of the short queue came as early as turns allow, and one or two more for the first claims.
    assert max(place for place, text in enumerate(order) if text == "b") <= 2 * len(users_of("b")) + 2


@in_loop
async def test_a_node_that_goes_and_returns(
    databases: Databases, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO, "agent_memory.worker")
    databases.begin("ab", HALVES)
    ask(databases)
    health = tmp_path / "health"
    async with running(databases.dsn["a"], concurrency=1, health_file=health):
        await until(lambda: known(databases) == set(USERS))
        caplog.clear()
        databases.set_away("b", True)
        try:
            forget_a = "delete from memory.memories"
            with databases.api("a") as api:
                api.connection.execute(forget_a)
            ask(databases, only="a", text="Hello.")
            await until(lambda: known(databases, "a") == users_of("a"))
            await until(lambda: json.loads(health.read_text())["nodes"]["b"]["last_error"])
        finally:
            databases.set_away("b", False)
        forget(databases)
        ask(databases, only="b", text="Hello.")
        await until(lambda: known(databases, "b") == users_of("b"))
    lines = [record.getMessage() for record in caplog.records if 'node "b"' in record.getMessage()]
    assert [line.partition(",")[0].partition(" (")[0] for line in lines[:2]] == [
        'node "b": cannot claim jobs',
        'node "b": jobs can be claimed again',
    ]


@in_loop
async def test_a_node_that_accepts_connections_and_never_answers(databases: Databases) -> None:
    databases.begin("ab", HALVES)
    ask(databases)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lead_astray(databases, f"host=127.0.0.1 port={silent.getsockname()[1]} dbname=x connect_timeout=2")
        async with running(databases.dsn["a"], concurrency=1):
            await until(lambda: known(databases, "a") == users_of("a"))
        with pytest.raises(NotConnectedError, match='node "b"'):
            await NodeWorkers(databases.dsn["a"], models=finding("Is called Ana")).run(once=True)


@in_loop
async def test_the_map_is_followed(databases: Databases) -> None:
    databases.begin("ab", "a" * PARTITIONS)
    ask(databases)
    async with running(databases.dsn["b"]):
        await until(lambda: known(databases, "a") == set(USERS))
        with databases.opened() as opened:
            nodes.add(opened, {"c": databases.place("c")}, databases.dsn["a"])
        with databases.opened() as opened:
            moving.move_user(opened, USERS[0], "c")
        with Memory(databases.dsn["a"]) as memory:
            memory.add_message(USERS[0], "t0", "user", "I like tea.")
            job = memory.extract_memories(USERS[0], "t0")
            await until(lambda: memory.get_job(USERS[0], job).status == "completed")


@in_loop
async def test_a_job_whose_user_moves_meanwhile_has_its_effect_once(databases: Databases) -> None:
    databases.begin("ab", "a" * PARTITIONS)
    user = USERS[0]
    with Memory(databases.dsn["a"]) as memory:
        memory.add_message(user, "t", "user", "My name is Ana.")
        job = memory.extract_memories(user, "t")
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(payload: dict[str, Any]) -> dict[str, Any]:
            begun.set()
            await go_on.wait()
            seqs = [message["seq"] for message in payload["messages"]]
            return {"memories": [{"content": "Is called Ana", "memory_type": "fact", "seqs": seqs}]}

        async with running(databases.dsn["a"], models=Scripted(wait)):
            await begun.wait()

            def move() -> None:
                with databases.opened() as opened:
                    moving.move_user(opened, user, "b")

            await asyncio.to_thread(move)
            go_on.set()
            await until(lambda: memory.get_job(user, job).status == "completed")
        assert [record.content for record in memory.list_memories(user)] == ["Is called Ana"]


@in_loop
async def test_a_stop_gives_the_jobs_of_all_nodes_back(databases: Databases) -> None:
    databases.begin("ab", HALVES)
    ask(databases)

    async def wait(_: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    models = Scripted(wait)
    async with running(databases.dsn["a"], concurrency=len(USERS), grace=0.0, models=models):
        await until(lambda: models.calls == len(USERS))
    for name in "ab":
        with databases.api(name) as api:
            assert api.query("select distinct status, attempts from memory.jobs") == [("pending", 0)]
