"""Connections of the client: transactions, pools, and the asynchronous twin."""

import asyncio
import logging
import time
import uuid
from typing import Any

import psycopg
import pytest
from agent_memory import (
    AsyncMemory,
    DegradedWarning,
    Memory,
    NotFoundError,
    NotSupportedError,
)
from psycopg.rows import namedtuple_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from tests.support.servers import Server


class TestConnections:
    def test_calls_join_the_callers_transaction(self, dsn: str, memory: Memory) -> None:
        with psycopg.connect(dsn) as connection:
            Memory(connection).add_message("ana", "t1", "user", "never mind")
            assert memory.get_messages("ana", "t1") == []
            connection.rollback()
            assert memory.get_messages("ana", "t1") == []
            Memory(connection).add_message("ana", "t1", "user", "keep")
        assert [message.content for message in memory.get_messages("ana", "t1")] == ["keep"]

    def test_a_passed_connection_stays_open_and_as_it_was(self, db: psycopg.Connection) -> None:
        db.row_factory = namedtuple_row
        db.cursor_factory = psycopg.RawCursor
        with Memory(db) as memory:
            assert memory.add_message("ana", "t1", "user", "x").seq == 0
        assert db.execute("select 1 as one").fetchone() == (1,)

    def test_an_unreachable_server_is_reported_at_once(self, caplog: pytest.LogCaptureFixture) -> None:
        async def twin() -> None:
            async with AsyncMemory("host=/nonexistent") as memory:
                await memory.version()

        started = time.monotonic()
        with Memory("host=/nonexistent") as memory, pytest.raises(psycopg.OperationalError, match="/nonexistent"):
            memory.version()
        with pytest.raises(psycopg.OperationalError, match="/nonexistent"):
            asyncio.run(twin())
        assert time.monotonic() - started < 5
        assert caplog.records == []

    def test_anything_else_is_refused(self) -> None:
        with pytest.raises(TypeError, match="one of Connection, ConnectionPool, str, not int"):
            Memory(5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="one of AsyncConnection, AsyncConnectionPool, str, not ConnectionPool"):
            AsyncMemory(ConnectionPool("", open=False))  # type: ignore[arg-type]

    def test_run_jobs_without_pl_python_says_what_does_the_work(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute("""
            create or replace procedure memory.run_jobs(max_jobs int default 100, max_seconds int default 60)
            language plpgsql as $$
            begin
              raise exception 'memory.run_jobs() needs PL/Python' using errcode = '0A000', hint = 'agent-memory worker';
            end $$""")
        with pytest.raises(NotSupportedError, match="needs PL/Python") as raised:
            memory.run_jobs()
        assert raised.value.sqlstate == "0A000"
        assert isinstance(raised.value, psycopg.errors.FeatureNotSupported)
        assert "agent-memory worker" in (raised.value.hint or "")

    def test_run_jobs(self, server: Server, dsn: str) -> None:
        if not server.has_plpython:
            pytest.skip("this server has no plpython3u")
        with psycopg.connect(dsn) as connection:
            memory = Memory(connection)
            memory.add_message("ana", "t1", "user", "My name is Ana.")
            job_id = memory.extract_memories("ana", "t1")
            connection.commit()
            memory.run_jobs(max_jobs=10)
            assert not connection.autocommit
            assert memory.get_job("ana", job_id).status == "completed"


class TestAsync:
    @pytest.mark.feature("A17", "E17")
    def test_the_twin_does_the_same(self, dsn: str, memory: Memory) -> None:
        async def scenario(twin: AsyncMemory) -> tuple[list[Any], list[Any]]:
            await twin.add_message("ana", "t1", "user", "Hello")
            await twin.add_memory("ana", "Likes tea")
            with pytest.raises(NotFoundError):
                await twin.get_memory("ana", uuid.uuid4())
            return await twin.get_messages("ana", "t1"), await twin.list_memories("ana")

        async def from_connection_string() -> tuple[list[Any], list[Any]]:
            async with AsyncMemory(dsn) as twin:
                return await scenario(twin)

        assert asyncio.run(from_connection_string()) == (memory.get_messages("ana", "t1"), memory.list_memories("ana"))

    def test_connection_and_pool(self, dsn: str, memory: Memory) -> None:
        async def scenario() -> None:
            async with await psycopg.AsyncConnection.connect(dsn) as connection:
                await AsyncMemory(connection).add_message("ana", "t1", "user", "never mind")
                await connection.rollback()
            async with AsyncConnectionPool(dsn, min_size=2, open=False) as pool:
                twin = AsyncMemory(pool)
                await asyncio.gather(*(twin.add_message("ana", "t1", "user", str(number)) for number in range(10)))

        asyncio.run(scenario())
        assert sorted(message.content for message in memory.get_messages("ana", "t1")) == list("0123456789")

    def test_many_first_calls_open_one_pool(self, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
        connect, opened = psycopg.AsyncConnection.connect, 0

        async def counted(*arguments: Any, **named: Any) -> Any:
            nonlocal opened
            opened += 1
            await asyncio.sleep(0.1)  # so that all calls have begun when the first is answered
            return await connect(*arguments, **named)

        async def scenario(conninfo: str) -> list[Any]:
            async with AsyncMemory(conninfo, pool_size=2) as twin:
                return await asyncio.gather(*(twin.version() for _ in range(50)), return_exceptions=True)

        monkeypatch.setattr(psycopg.AsyncConnection, "connect", counted)
        assert len({str(answer) for answer in asyncio.run(scenario(dsn))}) == 1
        assert opened <= 3
        opened = 0
        answers = asyncio.run(scenario("host=/nonexistent"))
        assert all(isinstance(answer, psycopg.OperationalError) for answer in answers)
        assert opened == 1

    def test_a_client_that_was_refused_tries_again(self, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with Memory("host=/nonexistent") as memory:
            with pytest.raises(psycopg.OperationalError):
                memory.version()
            monkeypatch.setattr(memory.caller, "_conninfo", dsn)
            monkeypatch.setattr(memory.caller, "_pool", memory.caller._new_pool())
            assert memory.version()

    def test_one_connection_serves_concurrent_calls(self, dsn: str, caplog: pytest.LogCaptureFixture) -> None:
        async def scenario() -> None:
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
                twin = AsyncMemory(connection)
                await twin.add_memory("ana", "Likes tea")
                await asyncio.gather(*(twin.search("ana", "tea") for _ in range(5)))

        with caplog.at_level(logging.INFO, logger="agent_memory"), pytest.warns(DegradedWarning) as caught:
            asyncio.run(scenario())
        assert (len(caplog.records), len(caught)) == (5, 1)
