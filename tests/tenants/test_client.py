"""The token of a client."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.errors import PermissionDeniedError
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from tests.support.sqlapi import Api
from tests.tenants.steps import token_of


@pytest.fixture
def tenants_dsn(users: Api, dsn: str) -> str:
    """Where tenant_by_token logs in to the database of ``users``."""
    assert users.tenant_user() is None
    return make_conninfo(dsn, user="tenant_by_token")


@pytest.mark.feature("F9")
def test_a_client_with_a_token_reaches_its_user_only(tenants_dsn: str) -> None:
    with Memory(tenants_dsn, token=token_of("ana")) as memory:
        assert memory.tenant_user() == "ana"
        memory.add_message("ana", "t1", "user", "Hello")
        memory.add_memory("ana", "Likes tea")
        assert [found.content for found in memory.search("ana", "tea", mode="keyword")] == ["Likes tea"]
        assert len(memory.get_messages("ana", "t1")) == 2
        key = memory.store_artifact("ana", "A long text " * 1000, key="log").key or ""
        assert memory.retrieve_artifact("ana", key).startswith("A long text")
        with pytest.raises(PermissionDeniedError, match="not the user of this session") as raised:
            memory.list_memories("bob")
        assert raised.value.hint
        assert memory.list_memories("ana")


def test_an_asynchronous_client_takes_a_token(tenants_dsn: str) -> None:
    async def use() -> None:
        async with AsyncMemory(tenants_dsn, token=token_of("ana")) as memory:
            assert [row.content for row in await memory.list_memories("ana")] == ["Is called ana"]
            with pytest.raises(PermissionDeniedError):
                await memory.list_memories("bob")

    asyncio.run(use())


def test_a_token_is_renewed_before_each_call(tenants_dsn: str) -> None:
    # The first call looks for the map of a cluster before.
    given = iter([token_of("ana"), token_of("ana"), token_of("ana", seconds=-1), token_of("bob")])
    with Memory(tenants_dsn, token=lambda: next(given), embed_queries=False) as memory:
        assert memory.tenant_user() == "ana"
        with pytest.raises(PermissionDeniedError, match="has expired"):
            memory.tenant_user()
        assert memory.tenant_user() == "bob"


def test_a_token_outlives_no_call(tenants_dsn: str) -> None:
    """The next client of a pool, or of a pooler's connection, does not find it."""
    with ConnectionPool(tenants_dsn, min_size=1, max_size=1, kwargs={"autocommit": True}, open=True) as pool:
        first, second = Memory(pool, token=token_of("ana")), Memory(pool)
        assert first.tenant_user() == "ana"
        with pytest.raises(PermissionDeniedError, match="not set"):
            second.tenant_user()
        with pytest.raises(PermissionDeniedError):
            first.list_memories("bob")
        with pytest.raises(PermissionDeniedError, match="not set"):
            second.list_memories("ana")


def test_a_token_holds_for_the_transaction_of_the_caller(tenants_dsn: str) -> None:
    with psycopg.connect(tenants_dsn) as connection:
        memory = Memory(connection, token=token_of("ana"))
        memory.add_memory("ana", "Likes tea")
        assert connection.execute("select memory.tenant_user()").fetchone() == ("ana",)
        connection.rollback()
        assert len(memory.list_memories("ana")) == 1


def test_a_call_with_a_token_takes_one_round_trip(tenants_dsn: str, tmp_path: Path) -> None:
    """The server gets the token and the call before one Sync."""
    trace = tmp_path / "trace"
    with psycopg.connect(tenants_dsn, autocommit=True) as connection, trace.open("w") as stream:
        memory = Memory(connection, token=token_of("ana"))
        assert memory.tenant_user() == "ana"
        connection.pgconn.trace(stream.fileno())
        assert memory.tenant_user() == "ana"
        connection.pgconn.untrace()
    sent = [line.split("\t")[3] for line in trace.read_text().splitlines() if "\tF\t" in line]
    calls = [message for message in sent if message != "Flush"]  # how many of these there are depends on the load
    assert calls.count("Execute") == 2
    assert calls.index("Sync") == len(calls) - 1


def test_a_buffer_is_pushed_under_the_token(tenants_dsn: str) -> None:
    with Memory(tenants_dsn, token=token_of("ana")) as memory:
        buffer = memory.buffer()
        buffer.add_message("ana", "t1", "user", "Hello")
        buffer.add_memory("ana", "Likes tea")
        buffer.add_memory("bob", "Likes tea")
        pushed = buffer.push()
        assert (pushed.messages, pushed.memories, len(pushed.failed)) == (1, 1, 1)
