"""Limits the length of a request, its time, and the number of values in its JSON."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._json_values import JsonValues
from .access import PAGE
from .problems import ProblemError
from .settings import MIB, Settings

_LOGIN = PAGE + "login"
_MAX_LOGIN = 8 << 10
"""Bytes that anybody may send: a key, in a form."""
_MAX_FORM = MIB
"""Bytes of a form of somebody who has logged in: the text of a memory, in which a character may take nine bytes."""
MAX_VALUES = 100_000
"""Values of one body, or of one line of an import. A value takes three bytes at least, and 1.5 microseconds."""
_SECONDS, _SECONDS_OF_IMPORT = 300.0, 3600.0
"""Within which a body arrives: a slow one holds a connection, and as much memory as has arrived."""
_BULK = ("/v1/complete_job", "/v1/import_user")
"""For the administrator, with millions of numbers of embeddings, and everything of a user."""


class Bodies:
    """Middleware that refuses bodies over a limit: at once if their length is stated, else when they exceed the limit.

    It hands a body on when it has all of it, and knows that values of JSON are not too many to be parsed.

    Args:
        app: what is behind.
        settings: the limits.
        stream_paths: where the limit of imports holds, and bodies are handed on as they come.
    """

    def __init__(self, app: ASGIApp, settings: Settings, stream_paths: tuple[str, ...] = ()) -> None:
        self._app = app
        self._settings = settings
        self._stream_paths = stream_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        limit, hint = self._limit(scope)
        try:
            stated = request.headers.get("content-length", "")
            if limit is not None and stated.isdecimal() and int(stated) > limit:
                raise _too_long(limit, hint)
            is_stream = scope["path"] in self._stream_paths
            counted = _counted(receive, limit, hint, _SECONDS_OF_IMPORT if is_stream else _SECONDS)
            is_json = scope["path"] not in _BULK and not scope["path"].startswith(PAGE)
            body = counted if is_stream else await _whole(counted, receive, MAX_VALUES if is_json else None)
        except ProblemError as problem:
            await problem.response(request)(scope, receive, send)
            return
        if body is not None:
            with suppress(ClientDisconnect):  # nobody is there to be answered, and each would leave a page in the log
                await self._app(scope, body, send)

    def _limit(self, scope: Scope) -> tuple[int | None, str]:
        """Return the most bytes of a body, and the hint for a longer one."""
        path = scope["path"]
        if path == _LOGIN or (scope["caller"] is None and not path.startswith(PAGE)):
            return _MAX_LOGIN, "Send the administrator's key only."
        if path.startswith(PAGE):
            return _MAX_FORM, "Send less at a time."
        hint = "Send less at a time; long texts go in pieces with add_artifact_piece. The operator sets "
        if path in self._stream_paths:
            return self._settings.max_import, hint + "--max-import."
        return self._settings.max_body, hint + "--max-body."


def _too_long(limit: int, hint: str) -> ProblemError:
    size = f"{limit / MIB:g} MiB" if limit >= MIB else f"{limit >> 10} KiB"
    return ProblemError(413, f"the body has more than {size}", hint=hint)


def _counted(receive: Receive, limit: int | None, hint: str, seconds: float) -> Receive:
    """Return a receiver of a body that stops at a limit, and at a time."""
    received, end = 0, time.monotonic() + seconds

    async def counted() -> Message:
        nonlocal received
        try:
            message = await asyncio.wait_for(receive(), end - time.monotonic())
        except asyncio.TimeoutError:
            close = {"Connection": "close"}
            raise ProblemError(
                408, f"the body takes more than {seconds:.0f} seconds", hint=hint, headers=close
            ) from None
        received += len(message.get("body", b""))
        if limit is not None and received > limit:
            raise _too_long(limit, hint)
        return message

    return counted


async def _whole(counted: Receive, receive: Receive, most_values: int | None) -> Receive | None:
    """Receive a body, and return a receiver that gives it whole; None if the caller has gone.

    Raises:
        ProblemError: it is too long, or has too many values of JSON (413), or takes too long (408).
    """
    values, parts, is_whole = JsonValues(), list[bytes](), False
    while not is_whole:
        message = await counted()
        if message["type"] != "http.request":
            return None
        part, is_whole = message.get("body", b""), not message.get("more_body", False)
        if most_values is not None:
            values.feed(part)
            if values.count > most_values:
                hint = "Send less at a time, and send values that nobody searches by their parts as one text."
                raise ProblemError(413, f"the body has more than {most_values} values", hint=hint)
        parts.append(part)
    body: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def given() -> Message:
        return body.pop() if body else await receive()

    return given
