"""The pool that a client opens for itself."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path

import pytest
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
