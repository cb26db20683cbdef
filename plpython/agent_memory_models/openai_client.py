"""One request to a server that speaks OpenAI's protocol: key, timeout, size limit, and errors in plain words."""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import openai

from .errors import ModelError, RateLimitedError
from .keys import api_key, is_own_server, key_source, names_key

DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_RETRY_AFTER_SECONDS = 15.0
MIN_RETRY_AFTER_SECONDS = 1.0
"""A server whose clock is behind names a time that is over; asking again at once would go on without end."""
MAX_RETRY_AFTER_SECONDS = 86400.0
MAX_REPLY_MIB = 8
MIN_KEY_CHARACTERS = 8
MAX_EMBEDDING_KIB = 128
"""For each text: 4,000 numbers of 30 characters."""
IDLE_SECONDS = 60.0
"""How long a connection is kept for the next request. Model servers close theirs after 5 to 300 seconds."""
MAX_IDLE_CONNECTIONS = 10
MAX_CLIENTS = 32
PLACEHOLDER_KEY = "none"
"""The client wants a key when it is made; which one is sent, if any, is decided for each request."""

# The library below openai, which is httpx or a successor of the same interface.
_http: Any = sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]
_CUT_OFF = (_http.RemoteProtocolError, _http.ReadError, _http.WriteError)
# Makes the client hand out the reply as it came, as its with_raw_response does for the paths that it knows.
_RAW_RESPONSE = {"X-Stainless-Raw-Response": "true"}
_CREDENTIALS = ("authorization", "api-key")
_ACCOUNT = ("openai-organization", "openai-project")
# What types and codes of errors look like. Whatever else a server sends in their place may be what a user said.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_asking: ContextVar[dict[str, Any]] = ContextVar("asking")
"""The model whose request is being sent."""


class RefusedRequestError(ModelError):
    """The server understood the request and does not take it as it is (400 or 422).

    `said` is what it said about that: to decide by, and not to be kept, because it may repeat the request.
    """

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


class OpenAIClient:
    """The connections to the servers in use, kept open for the next request. No key is kept."""

    def __init__(self) -> None:
        self._connections = _Connections()
        self._clients: dict[tuple[str | None, ...], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.aclose()

    async def post(self, model: dict[str, Any], path: str, request: dict[str, Any]) -> bytes:
        """The body of the reply to a JSON request, as `request`."""

        async def send(client: openai.AsyncOpenAI, timeout: float) -> Any:
            options: Any = {"headers": _RAW_RESPONSE, "timeout": timeout}
            return await client.post(path, cast_to=object, body=request, options=options)

        return await self.request(model, send)

    async def request(
        self, model: dict[str, Any], send: Callable[[openai.AsyncOpenAI, float], Awaitable[Any]]
    ) -> bytes:
        """The body of the reply to one request, not parsed; `send` makes it with a client and a timeout in seconds.

        Raises RateLimitedError when the server asks to wait, RefusedRequestError for 400 and 422, and ModelError for
        everything else that goes wrong.
        """
        settings = model.get("settings") or {}
        client = self._client(model["provider"], settings)
        timeout = float(settings.get("timeout_seconds") or DEFAULT_TIMEOUT_SECONDS)
        asking = _asking.set(model)
        try:
            # The client's own timeout restarts with every byte received; this one is for the whole call.
            response = await asyncio.wait_for(send(client, timeout), timeout)
        # `from None` below: the errors behind these could show the request's headers.
        except (openai.APITimeoutError, asyncio.TimeoutError):
            raise ModelError(f"no answer from the model within {timeout:g} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None
            server = urlsplit(settings.get("base_url") or "").hostname or "the model's server"
            raise ModelError(f"no reply from {server}: {_why_no_reply(error.__cause__)}") from None
        except openai.RateLimitError as error:
            if error.code == "insufficient_quota":  # waiting does not help
                raise ModelError(_refusal(error, model)) from None
            raise RateLimitedError(_refusal(error, model), _retry_after(error.response.headers)) from None
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            # The text leaves out a body that has not the shape of OpenAI's.
            raise RefusedRequestError(_refusal(error, model), f"{error} {error.body}") from None
        except openai.APIStatusError as error:
            raise ModelError(_refusal(error, model)) from None
        except openai.OpenAIError as error:
            raise ModelError(f"the client failed: {type(error).__name__}") from None
        finally:
            _asking.reset(asking)
        body: bytes = response.http_response.content
        return body

    def _client(self, provider: str, settings: dict[str, Any]) -> openai.AsyncOpenAI:
        base_url, api_version = settings.get("base_url"), settings.get("api_version")
        server = (provider, base_url, api_version)
        if server not in self._clients:
            # The job queue is the only one that retries.
            options: dict[str, Any] = {
                "api_key": PLACEHOLDER_KEY,
                "max_retries": 0,
                "http_client": self._connections,
            }
            if len(self._clients) == MAX_CLIENTS:
                self._clients.clear()
            if provider == "azure":
                if not (base_url and api_version):
                    raise ModelError("provider azure needs the settings base_url (the endpoint) and api_version")
                self._clients[server] = openai.AsyncAzureOpenAI(
                    azure_endpoint=base_url, api_version=api_version, **options
                )
            else:
                self._clients[server] = openai.AsyncOpenAI(base_url=base_url, **options)
        return self._clients[server]


class _Connections(openai.DefaultAsyncHttpxClient):
    """Sends each request with the key of its model, to the server that the administrator named and to no other.

    Reads no more of a body than the limit, whatever its status, length header or compression say.
    """

    def __init__(self) -> None:
        limits = _http.Limits(max_keepalive_connections=MAX_IDLE_CONNECTIONS, keepalive_expiry=IDLE_SECONDS)
        super().__init__(follow_redirects=False, limits=limits)

    async def send(self, request: Any, **options: Any) -> Any:
        """The response with its body read. Raises ModelError when that is too large."""
        # A redirect would carry the users' words, and in Azure's case the key, to a server that nobody named.
        options |= {"stream": True, "follow_redirects": False}
        limit = MAX_REPLY_MIB
        if request.url.path.endswith("/embeddings"):
            limit = 1 + len(json.loads(request.content)["input"]) * MAX_EMBEDDING_KIB // 1024
        key = _authenticate(request)
        try:
            response = await self._send(request, options)
            _acknowledge(response)
            body = bytearray()
            try:
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > limit * 2**20:
                        raise ModelError(f"the reply is larger than {limit} MiB")
            finally:
                await response.aclose()
        finally:
            for name in _CREDENTIALS:
                request.headers.pop(name, None)
        content = bytes(body)
        # A shorter "key" is no secret, but what people write where a server asks for none.
        if key is not None and len(key) >= MIN_KEY_CHARACTERS and response.status_code >= 400:
            content = content.replace(key.encode(), b"***")
        headers = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
        return type(response)(response.status_code, headers=headers, content=content, request=request)

    async def _send(self, request: Any, options: dict[str, Any]) -> Any:
        """The response to a request, sent again where the first was lost on a connection that the server had closed.

        A server closes an idle connection without asking, so a request may cross with that. It was not worked on then:
        not a byte came back, and the connection was an old one.
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


def _acknowledge(response: Any) -> None:
    """Have the system tell the server at once that the head of the reply has arrived.

    A server with Nagle's algorithm, which most switch off, sends the body only then, and on a connection in steady use
    Linux takes its time to tell: 44 ms for each reply of Python's own HTTP server.
    """
    stream = response.extensions.get("network_stream")
    connection = stream and stream.get_extra_info("socket")
    if connection is not None and hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):  # it may be closed already
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _authenticate(request: Any) -> str | None:
    """Puts the key of the model into a request, and returns it; None where the server is to get none.

    What the client has put there is taken out: it may come from the environment, whatever the server.
    """
    model = _asking.get()
    provider, settings, url = model["provider"], model.get("settings") or {}, request.url
    if url.userinfo:
        raise ModelError(
            "base_url holds a user or a password: name the source of the key in api_key_env or api_key_file"
        )
    is_own = is_own_server(provider, url.scheme, url.host, url.port)
    for name in (*_CREDENTIALS, *(() if is_own else _ACCOUNT)):
        request.headers.pop(name, None)
    if not (is_own or names_key(settings)):
        return None
    key = api_key(provider, settings)
    if provider == "azure":
        request.headers["api-key"] = key
    else:
        request.headers["Authorization"] = f"Bearer {key}"
    return key


def _refusal(error: openai.APIStatusError, model: dict[str, Any]) -> str:
    """What is kept of a refusal: status, type and code. The words of the server may repeat those of the user."""
    names = [str(each) for each in (error.type, error.code) if _NAME.fullmatch(str(each or ""))]
    status = error.status_code
    said = f" ({', '.join(dict.fromkeys(names))})" if names else ""
    hint = ""
    if status in (401, 403):
        provider, settings = model["provider"], model.get("settings") or {}
        url = error.request.url
        if names_key(settings) or is_own_server(provider, url.scheme, url.host, url.port):
            hint = f"; the key is that of the {key_source(provider, settings)}"
        else:
            hint = "; no key was sent: name its source in the model's settings, as api_key_env or api_key_file"
    elif status < 400:
        hint = "; redirects are not followed: name the final address as base_url"
    return f"the server answered {status}{said}{hint}"


def _why_no_reply(cause: BaseException | None) -> str:
    """The system's words where no connection came about; else only the kind, because the server may have spoken."""
    if isinstance(cause, _http.ConnectError):
        return str(cause)[:200]
    return type(cause).__name__


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks to wait; a default where it says nothing of use.

    `retry-after-ms` is Azure's, in milliseconds; Retry-After of RFC 9110 is a number of seconds or a date.
    """
    value = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif value.isascii() and value.replace(".", "", 1).isdigit():
            seconds = float(value)
        else:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return DEFAULT_RETRY_AFTER_SECONDS
    if not math.isfinite(seconds):
        return DEFAULT_RETRY_AFTER_SECONDS
    return min(max(seconds, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS)
