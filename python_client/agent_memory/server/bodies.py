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
"""Values of one body. A value takes three bytes at least, and 1.5 microseconds to parse."""
_SECONDS = 300.0
"""Within which a body arrives: a slow one holds a connection, and as much memory as has arrived."""
_BULK = ("/v1/complete_job", "/v1/import_user")
"""For the administrator, with millions of numbers of embeddings, and everything of a user."""


class Bodies:
    """Middleware that refuses bodies over a limit: at once if their length is stated, else when they exceed the limit.

    It hands a body on when it has all of it, and knows that values of JSON are not too many to be parsed.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._max_body = settings.max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            body = await self._received(request, receive)
        except ProblemError as problem:
            await problem.response(request)(scope, receive, send)
            return
        if body is None:
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def given() -> Message:
            return whole.pop() if whole else await receive()

        with suppress(ClientDisconnect):  # nobody is there to be answered, and each would leave a page in the log
            await self._app(scope, given, send)

    async def _received(self, request: Request, receive: Receive) -> bytes | None:
        """Receive a body; None if the caller has gone."""
        path, end = request.scope["path"], time.monotonic() + _SECONDS
        limit, hint = self._limit(request)
        stated = request.headers.get("content-length", "")
        if limit is not None and stated.isdecimal() and int(stated) > limit:
            raise _too_long(limit, hint)
        is_json = path not in _BULK and not path.startswith(PAGE)
        values, body, is_whole = JsonValues(), bytearray(), False
        while not is_whole:
            try:
                message = await asyncio.wait_for(receive(), end - time.monotonic())
            except asyncio.TimeoutError:
                said, close = f"the body takes more than {_SECONDS:.0f} seconds", {"Connection": "close"}
                raise ProblemError(408, said, hint=hint, headers=close) from None
            if message["type"] != "http.request":
                return None
            part, is_whole = message.get("body", b""), not message.get("more_body", False)
            body += part
            if limit is not None and len(body) > limit:
                raise _too_long(limit, hint)
            if is_json:
                values.feed(part)
                if values.count > MAX_VALUES:
                    hint = "Send less at a time, and send values that nobody searches by their parts as one text."
                    raise ProblemError(413, f"the body has more than {MAX_VALUES} values", hint=hint)
        return bytes(body)

    def _limit(self, request: Request) -> tuple[int | None, str]:
        """Return the most bytes of a body, and the hint for a longer one."""
        path = request.scope["path"]
        if path == _LOGIN or (request.scope["caller"] is None and not path.startswith(PAGE)):
            return _MAX_LOGIN, "Send the administrator's key only."
        if path.startswith(PAGE):
            return _MAX_FORM, "Send less at a time."
        hint = "Send less at a time; long texts go in pieces with add_artifact_piece. The operator sets --max-body."
        return self._max_body, hint


def _too_long(limit: int, hint: str) -> ProblemError:
    size = f"{limit / MIB:g} MiB" if limit >= MIB else f"{limit >> 10} KiB"
    return ProblemError(413, f"the body has more than {size}", hint=hint)
