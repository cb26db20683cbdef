"""A span for each request of ``agent-memory serve`` and ``agent-memory mcp --http``, in the trace of its caller.

The middleware of Starlette and of OpenTelemetry record whole URLs: ours name users, and the page's has a token.
"""

from __future__ import annotations

from typing import Any

from opentelemetry import propagate
from opentelemetry.trace import SpanKind, StatusCode

from .. import _hooks
from .instruments import ERROR, fail, instruments

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_UNSEEN = {"/metrics", "/healthz"}
"""Paths that machines ask every few seconds."""


def join_in() -> None:
    """Observe the requests of servers that start from now on."""
    _hooks.middleware = Requests


def leave() -> None:
    """Observe the requests of further servers no more."""
    _hooks.middleware = None


class Requests:
    """Middleware that makes a span of each request."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, within its span."""
        if scope["type"] != "http" or scope["path"] in _UNSEEN:
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        attributes = {"http.request.method": method, "url.scheme": scope.get("scheme", "http")}
        with instruments().tracer.start_as_current_span(
            "HTTP" if method == "_OTHER" else method,
            propagate.extract(headers),
            SpanKind.SERVER,
            attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            async def noted(message: Any) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_attribute(ERROR, str(message["status"]))
                        span.set_status(StatusCode.ERROR)
                await send(message)

            try:
                await self._app(scope, receive, noted)
            except Exception as error:
                fail(span, error)
                raise
            finally:
                # The route and not the path, which anybody can make up, and which may name a user.
                route = scope.get("template")
                if route is not None:
                    span.set_attribute("http.route", route)
                    span.update_name(f"{method} {route}")
