"""The pool that a client opens for itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from pathlib import Path

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.calls import Notices
from agent_memory.calls.pools import AsyncPool


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


def test_calls_one_by_one_have_one_connection(dsn: str) -> None:
    with Memory(dsn, pool_size=3) as memory:
        with contextlib.ExitStack() as at_once:
            opened = [at_once.enter_context(memory.caller.borrowed(Notices(set()))) for _ in range(3)]
        assert len(opened) == len(set(opened)) == 3
        used = []
        for _ in range(6):
            with memory.caller.borrowed(Notices(set())) as connection:
                used.append(connection)
        assert len(set(used)) == 1


def test_awaited_calls_one_by_one_have_one_connection(dsn: str) -> None:
    async def use() -> None:
        async with AsyncMemory(dsn, pool_size=3) as memory:
            async with contextlib.AsyncExitStack() as at_once:
                for _ in range(3):
                    await at_once.enter_async_context(memory.caller.borrowed(Notices(set())))
            assert memory.caller.pool_figure("pool_size") == 3
            used = set()
            for _ in range(6):
                async with memory.caller.borrowed(Notices(set())) as connection:
                    used.add(connection)
            assert len(used) == 1

    asyncio.run(use())
