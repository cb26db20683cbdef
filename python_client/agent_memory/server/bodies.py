"""How long a request may be."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import ProblemError
from .settings import MCP_PATH, MIB, Settings


class Bodies:
    """Middleware that refuses bodies which are too long: at once if their length is stated, else where they exceed it.

    Args:
        app: what is behind.
        settings: the limits.
        long_paths: where the limit of imports holds.
    """

    def __init__(self, app: ASGIApp, settings: Settings, long_paths: tuple[str, ...]) -> None:
        self._app = app
        self._settings = settings
        self._long_paths = long_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, whose body ends with an error where it becomes too long."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_import = scope["path"] in self._long_paths
        limit = self._settings.max_import if is_import else self._settings.max_body
        if limit is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        too_long = ProblemError(
            413,
            f"the body has more than {limit / MIB:g} MiB",
            hint="Send less at a time; long texts go in pieces with add_artifact_piece. The operator sets "
            + ("--max-import." if is_import else "--max-body."),
        )
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated) > limit:
            await too_long.response(request)(scope, receive, send)
            return
        if scope["path"] == MCP_PATH:  # the SDK counts by itself, and would answer 500 to an error from here
            await self._app(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise too_long
            return message

        await self._app(scope, counted, send)
