"""Connections to model servers: each request gets the key of its model, and no reply is read beyond its limit."""

from __future__ import annotations

import json
import socket
import sys
import zlib
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import openai

from ...errors import ModelError
from ..keys import api_key, gets_key, is_own_server

MAX_REPLY_MIB = 8
MAX_EMBEDDING_KIB = 128
"""Bytes of the reply for each text: 4,000 numbers of 30 characters."""
MIN_KEY_CHARACTERS = 8
IDLE_SECONDS = 60.0
"""How long a connection is kept for the next request. Model servers close theirs after 5 to 300 seconds."""
MAX_IDLE_CONNECTIONS = 10

# The library below openai, which is httpx or a successor with the same interface.
http: Any = sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]
_CUT_OFF = (http.RemoteProtocolError, http.ReadError, http.WriteError)
_CREDENTIALS = ("authorization", "api-key")
_ACCOUNT = ("openai-organization", "openai-project")

asking: ContextVar[dict[str, Any]] = ContextVar("asking")
"""The model whose request is being sent."""


class Connections(openai.DefaultAsyncHttpxClient):
    """Sends each request with the key of its model, to the server that the administrator named and to no other.

    A body is read up to the limit and no further, whatever its status, length header or compression say.
    """

    def __init__(self) -> None:
        limits = http.Limits(max_keepalive_connections=MAX_IDLE_CONNECTIONS, keepalive_expiry=IDLE_SECONDS)
        super().__init__(follow_redirects=False, limits=limits)

    async def send(self, request: Any, **options: Any) -> Any:
        """The response, whose body has been read. Raises ModelError when the body is too large."""
        # A redirect would carry the users' words, and in Azure's case the key, to a server that nobody named.
        options |= {"stream": True, "follow_redirects": False}
        request.headers["accept-encoding"] = "gzip"
        limit = MAX_REPLY_MIB
        if request.url.path.endswith("/embeddings"):
            limit = 1 + len(json.loads(request.content)["input"]) * MAX_EMBEDDING_KIB // 1024
        key = _authenticate(request)
        try:
            response = await self._send(request, options)
            _acknowledge(response)
            try:
                body = await _body(response, limit * 2**20)
            finally:
                await response.aclose()
        finally:
            for name in _CREDENTIALS:
                request.headers.pop(name, None)
        # An error's body may repeat the key. A shorter "key" is no secret: people write one for servers without keys.
        if key is not None and len(key) >= MIN_KEY_CHARACTERS and response.status_code >= 400:
            body = body.replace(key.encode(), b"***")
        headers = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
        return type(response)(response.status_code, headers=headers, content=body, request=request)

    async def _send(self, request: Any, options: dict[str, Any]) -> Any:
        """The response to a request, which is sent again where the server had closed the connection meanwhile.

        A server closes an idle connection without asking, while a request may be on its way. The server has not worked
        on such a request: the connection was an old one, and not a byte of a reply came.
        """
        is_new = False

        async def trace(event: str, _: Any) -> None:
            nonlocal is_new
            is_new |= event == "connection.connect_tcp.started"

        request.extensions["trace"] = trace
        try:
            return await super().send(request, **options)
        except _CUT_OFF:
            if is_new:
                raise
            return await super().send(request, **options)
        finally:
            del request.extensions["trace"]


def checked_encoding(response: Any) -> str:
    """How the body of a response is compressed: "gzip" or "identity". Raises ModelError where it is in another way."""
    encoding: str = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise ModelError("the reply is compressed in a way that was not asked for")
    return encoding


async def _body(response: Any, limit: int) -> bytes:
    """The body of a response. Raises ModelError when it is larger than `limit` bytes, or compressed in another way.

    The library unpacks whatever it is sent, each part whole and each encoding after the other: a reply of 2 kB took
    2 GB of a backend. The limit holds for compressed bytes as well: gzip may go on for ever and unpack to nothing.
    """
    encoding = checked_encoding(response)
    gzip, body, received = zlib.decompressobj(wbits=31), bytearray(), 0
    try:
        async for part in response.aiter_raw():
            received += len(part)
            body += gzip.decompress(part, limit + 1 - len(body)) if encoding == "gzip" else part
            if max(received, len(body)) > limit:
                raise ModelError(f"the reply is larger than {limit >> 20} MiB")
            if gzip.unused_data:
                raise ModelError("the reply goes on after the end of its gzip")
    except zlib.error:
        raise ModelError("the reply is no gzip, as it says") from None
    return bytes(body)


def _acknowledge(response: Any) -> None:
    """Have the system acknowledge at once that the head of the reply has arrived.

    A server with Nagle's algorithm, which most switch off, sends the body only after that, and Linux delays the
    acknowledgement on a connection in steady use: by 44 ms for each reply of Python's own HTTP server.
    """
    stream = response.extensions.get("network_stream")
    connection = stream and stream.get_extra_info("socket")
    if connection is not None and hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):  # it may be closed already
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _authenticate(request: Any) -> str | None:
    """Puts the model's key into a request and returns the key; None where the server must get none.

    The client's own headers are taken out first: their values may come from the environment, whatever the server.
    """
    model = asking.get()
    provider, settings, url = model["provider"], model.get("settings") or {}, request.url
    if url.userinfo:
        raise ModelError(
            "base_url holds a user or a password: name the source of the key in api_key_env or api_key_file"
        )
    address = (url.scheme, url.host, url.port)
    for name in (*_CREDENTIALS, *(() if is_own_server(provider, *address) else _ACCOUNT)):
        request.headers.pop(name, None)
    if not gets_key(provider, settings, *address):
        return None
    key = api_key(provider, settings)
    name, value = ("api-key", key) if provider == "azure" else ("Authorization", f"Bearer {key}")
    request.headers[name] = value
    return key
