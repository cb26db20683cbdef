"""No request takes the server from the others: bodies are refused before they are parsed, or when they do not end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest
from agent_memory._json_values import JsonValues
from agent_memory.server import bodies, listening
from agent_memory.server.settings import Settings
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Scope

from tests.http.steps import Serving, problem

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
WITH_MCP = True
MANY = "[" + "[]," * 200_000 + "[]]"


@pytest.mark.feature("B14")
def test_anybody_may_send_a_form_of_a_few_kilobytes(served: Serving) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(100):
            yield b"a=1&" * 1000

    with served.client(None) as client:
        assert client.post("/page/login", data={"key": "x"}, headers={"Origin": "http://["}).status_code == 403
    with served.client(None, **FORM) as client:
        assert client.post("/page/login", content=b"key=wrong").status_code == 403
        assert client.post("/page/login", content=b"a=1&" * 1000).status_code == 422
        assert client.post("/page/login", content=b"".join(parts())).status_code == 413
        assert client.post("/page/login", content=parts()).status_code == 413  # without a stated length


@pytest.mark.feature("B14")
def test_json_of_too_many_values_is_not_parsed(ana: httpx.Client) -> None:
    bodies = {
        "/v1/add_memory": f'{{"content": "x", "metadata": {{"a": {MANY}}}}}',
        "/v1/add_messages": f'{{"thread_id": "t", "messages": {MANY}}}',
        "/api/v1/agents/a/memories": f'{{"memory_type": "fact", "content": "x", "metadata": {{"a": {MANY}}}}}',
        "/mcp": f'{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {{"a": {MANY}}}}}',
    }
    for path, body in bodies.items():
        headers = JSON | {"Accept": "application/json, text/event-stream"}
        assert "100000 values" in problem(ana.post(path, content=body, headers=headers), 413)["detail"]
    text = '[{,"\\' * 150_000  # what is in a text counts as one value
    stored = ana.post("/v1/store_artifact", json={"content": text})
    assert stored.status_code == 200


@given(
    st.recursive(
        st.none() | st.integers() | st.text(alphabet='",[{\\a'),
        lambda v: st.lists(v) | st.dictionaries(st.text(alphabet='",[{\\a'), v),
    ),
    st.lists(st.integers(1, 9)),
)
def test_values_are_counted_however_the_text_is_cut(value: object, cuts: list[int]) -> None:
    def size(value: object) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return max(len(inner) - 1, 0) + (inner != ()) + sum(map(size, inner))

    values, text = JsonValues(), json.dumps(value).encode()
    for cut in cuts:
        values.feed(text[:cut])
        text = text[cut:]
    values.feed(text)
    assert values.count == size(value)


@pytest.fixture
def connection(served: Serving) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2])), timeout=180) as opened:
        yield opened


@pytest.mark.feature("B14")
@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Y: " + b"z" * 10_000 + b"\r\n"),
        (b"GET /", b"x" * 10_000),
        (b"POST /v1/version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Y: z\r\n" * 1000),
        (b"POST /v1/version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1", b";x=y" * 2500),
    ],
    ids=["headers", "address", "trailers", "extension of a chunk"],
)
def test_what_has_no_end_ends_a_connection(connection: socket.socket, begun: bytes, endless: bytes) -> None:
    connection.sendall(begun)
    with pytest.raises(ConnectionError):
        connection.sendall(endless * 10_000)


@pytest.mark.feature("B14")
def test_headers_of_more_than_64_kib_are_refused(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Y: " + b"z" * 400_000)
    with contextlib.suppress(ConnectionError):
        assert connection.recv(100).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431")) or connection.recv(100) == b""


@pytest.mark.feature("B14")
def test_a_body_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_SECONDS", 0.01)
    begun: list[bool] = []
    sent: list[Any] = []

    async def receive() -> Message:
        if begun:
            await asyncio.Event().wait()
        begun.append(True)
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    app = AsyncMock()
    scope: Scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": [], "caller": None}
    asyncio.run(bodies.Bodies(app, Settings())(scope, receive, send))
    assert sent[0]["status"] == 408
    app.assert_not_called()


@pytest.mark.feature("B14")
def test_connections_take_half_of_the_files_that_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = [(1024, 2048)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limits.append(new))
    assert listening.most_connections() == 1024
    assert limits[-1] == (2048, 2048)
    limits.append((64, resource.RLIM_INFINITY))
    assert listening.most_connections() == 2000
    assert limits[-1] == (8192, resource.RLIM_INFINITY)


@pytest.mark.feature("B14")
@pytest.mark.parametrize(
    "request_line",
    [
        "POST /v1/version HTTP/1.1\r\nHost: x/page/?",
        "POST http://x/page/%2e%2e/v1/version HTTP/1.1\r\nHost: x",
        "POST /page/../v1/version HTTP/1.1\r\nHost: x",
        "POST http://x/v1/version?/page/ HTTP/1.1\r\nHost: x",
        "POST /v1/version#/page/ HTTP/1.1\r\nHost: x",
        "POST /page/%ff/version HTTP/1.1\r\nHost: [::1",
    ],
)
def test_no_spelling_of_a_path_gets_past_the_gate(served: Serving, request_line: str) -> None:
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2])), timeout=180) as connection:
        connection.sendall(f"{request_line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
        status = connection.makefile("rb").readline().split()[1]
    assert status in (b"400", b"401", b"404", b"405")


@pytest.mark.feature("B14")
def test_the_gate_reads_the_path_that_is_routed(served: Serving) -> None:
    """Put together as an address and taken apart again, such a path would end early, at what everybody may see."""
    with served.client(None) as client:
        assert client.post("/%3F/v1/version").status_code == 401
