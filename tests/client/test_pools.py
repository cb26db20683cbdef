"""The pool that a client opens for itself."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from agent_memory import AsyncMemory, Memory, NotConnectedError
from agent_memory.calls import Notices
from agent_memory.calls.pools import AsyncPool
from psycopg_pool import ConnectionPool

from tests.support.runners import PATIENCE
from tests.support.servers import Server, install_agent_memory, running_server

SIZE = 5
ENDED = """
    select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'of a pool'
"""


@pytest.mark.feature("A17")
def test_an_event_loop_ends_while_its_pool_is_connecting(tmp_path: Path) -> None:
    """A server that accepts connections and says nothing stands for one that is slow just then."""
    with socket.socket(socket.AF_UNIX) as server:
        connections: list[socket.socket] = []
        server.bind(str(tmp_path / ".s.PGSQL.5432"))
        server.listen()

        async def use() -> None:
            await AsyncPool(f"host={tmp_path} port=5432", open=False).open()
            connection, _ = await asyncio.to_thread(server.accept)
            connections.append(connection)

        loop = threading.Thread(target=lambda: asyncio.run(use()), daemon=True)
        loop.start()
        loop.join(10)
        for connection in connections:
            connection.close()
        assert not loop.is_alive()


def at_once(call: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(SIZE) as threads:
        return [future.result() for future in [threads.submit(call) for _ in range(SIZE)]]


@pytest.mark.feature("A17")
@pytest.mark.parametrize("is_own", [True, False], ids=["own", "passed"])
def test_no_call_meets_a_connection_that_the_server_has_ended(dsn: str, db: psycopg.Connection, is_own: bool) -> None:
    conninfo = f"{dsn} application_name='of a pool'"
    with contextlib.ExitStack() as opened:
        options: dict[str, Any] = {"kwargs": {"autocommit": True}, "open": True}
        source: Any = conninfo if is_own else opened.enter_context(ConnectionPool(conninfo, min_size=SIZE, **options))
        memory = opened.enter_context(Memory(source, pool_size=SIZE))
        with contextlib.ExitStack() as borrowed:
            for _ in range(SIZE):
                borrowed.enter_context(memory.caller.borrowed(Notices(set())))
        for _ in range(2):
            [ended] = db.execute(ENDED).fetchone() or [0]
            assert ended  # the pool keeps ended connections that no call has borrowed, so the second time may end fewer
            assert at_once(memory.version)


@pytest.mark.feature("A17")
def test_no_awaited_call_meets_a_connection_that_the_server_has_ended(dsn: str, db: psycopg.Connection) -> None:
    async def use() -> None:
        async with AsyncMemory(f"{dsn} application_name='of a pool'", pool_size=SIZE) as memory:
            async with contextlib.AsyncExitStack() as borrowed:
                for _ in range(SIZE):
                    await borrowed.enter_async_context(memory.caller.borrowed(Notices(set())))
            for _ in range(2):
                [ended] = db.execute(ENDED).fetchone() or [0]
                assert ended
                assert await asyncio.gather(*(memory.version() for _ in range(SIZE)))

    asyncio.run(use())


@pytest.mark.feature("A17")
def test_a_server_that_is_away_is_named_at_once_and_used_once_it_is_back(server: Server) -> None:
    with running_server(server.kind) as own:
        install_agent_memory(own, "postgres")
        with Memory(own.conninfo(), pool_size=SIZE) as memory:
            at_once(memory.version)
            with psycopg.connect(own.conninfo()) as session:
                [[pid]] = session.execute(
                    "select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int"
                ).fetchall()
            postmaster = psutil.Process(pid)
            postmaster.send_signal(signal.SIGINT)
            postmaster.wait(PATIENCE)
            for _ in range(SIZE + 1):
                began = time.monotonic()
                with pytest.raises(NotConnectedError):
                    memory.version()
                assert time.monotonic() - began < 10
            own.restart()
            assert at_once(memory.version) == [memory.version()] * SIZE
            with memory.caller.borrowed(Notices(set())):  # a call that loses its connection half way
                own.restart()
            assert at_once(memory.version) == [memory.version()] * SIZE
