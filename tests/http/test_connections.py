"""Connections that bring no request, or too much besides it, in a server of this process with short deadlines."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from agent_memory.errors import AgentMemoryError
from agent_memory.server import connections, problems
from starlette.types import Receive, Scope, Send

from tests.support.runners import wait_until

pytestmark = pytest.mark.feature("B14")

EARLY = b"POST /early HTTP/1.1\r\nHost: x\r\n"
"""A request that is answered before its body has arrived."""
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass
class Local:
    """A server that answers with the length of a body, and what has arrived of each request."""

    address: tuple[str, int] = ("127.0.0.1", 0)
    scopes: list[Scope] = field(default_factory=list)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        length, is_whole = 0, scope["path"] == "/early"
        while not is_whole:
            message = await receive()
            length += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
        body = b"%d." % length
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def connected(self, sent: bytes = b"") -> socket.socket:
        connection = socket.create_connection(self.address, timeout=30)
        connection.sendall(sent)
        return connection


def answer(connection: socket.socket) -> bytes:
    """The body of one answer."""
    said = b""
    while not said.endswith(b"."):
        part = connection.recv(4096)
        assert part, said
        said += part
    return said.rpartition(b"\r\n")[2]


def is_closed(connection: socket.socket) -> bool:
    """Wait for the end of a connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    monkeypatch.setattr(connections, "_HEADER_SECONDS", 5.0)
    monkeypatch.setattr(connections.Connection, "most", 20)
    local = Local()
    options: dict[str, Any] = {
        "lifespan": "off",
        "ws": "none",
        "interface": "asgi3",
        "log_config": None,
        "timeout_keep_alive": 5,
    }
    server = uvicorn.Server(uvicorn.Config(local.app, http=connections.Connection, **options))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        local.address = listening.getsockname()
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        wait_until(lambda: server.started)
        yield local
        server.should_exit = server.force_exit = True
        thread.join(30)


@pytest.mark.parametrize(
    "endless",
    [b"0\r\n" + b"X-Y: z\r\n" * 1_000_000, b"1" + b";x=y" * 2_000_000],
    ids=["trailers", "extension of a chunk"],
)
def test_what_is_neither_headers_nor_body_ends_a_connection(local: Local, endless: bytes) -> None:
    with local.connected(EARLY + CHUNKED) as connection:
        assert answer(connection) == b"0."
        with pytest.raises(ConnectionError):
            connection.sendall(endless)
    assert sum(len(name + value) for name, value in local.scopes[0]["headers"]) < 1 << 20


def test_long_bodies_arrive(local: Local) -> None:
    with local.connected() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n" + b"x" * 30_000_000)
        assert answer(connection) == b"30000000."
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"1\r\nx\r\n" * 300_000 + b"0\r\n\r\n")
        assert answer(connection) == b"300000."


def test_slow_bodies_keep_nobody_out(local: Local) -> None:
    slow = [local.connected(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n") for _ in range(20)]
    wait_until(lambda: len(local.scopes) == 20)
    for _ in range(3):
        with local.connected(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
            assert answer(connection) == b"0."
    assert is_closed(slow[0])  # the one that has waited longest
    slow[-1].sendall(b"x" * 100)
    assert answer(slow[-1]) == b"100."
    for each in slow:
        each.close()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n"),
        (EARLY + b"Content-Length: 100\r\n\r\n", b"x" * 100),
    ],
    ids=["an empty line", "a body after its answer"],
)
def test_data_that_begins_no_request_keeps_no_connection_open(local: Local, first: bytes, then: bytes) -> None:
    with local.connected(first) as connection:
        assert answer(connection) == b"0."
        connection.sendall(then)
        assert is_closed(connection)


def test_the_log_has_each_failure_and_floods_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("agent_memory.server", "agent_memory.server.connections", "uvicorn.error"):
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    connections.log_once_a_minute()
    for failure in ("first", "second"):
        problems.of_agent_memory(AgentMemoryError(failure))
        connections.logger.warning("more than %d connections", 20)
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    said = [record.getMessage() for record in caplog.records]
    assert said == ["first", "more than 20 connections", "Invalid HTTP request received.", "second"]
