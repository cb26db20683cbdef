"""The application: all endpoints behind one access, with the limits and figures of a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from ..client import AsyncMemory
from . import agents, functions, health, transfer
from .access import Access
from .bodies import Bodies
from .catalog import Function
from .metrics import Measured, Metrics
from .openapi import description
from .operation import JSON
from .problems import HANDLERS
from .settings import Settings


def create_app(
    memory: AsyncMemory,
    conninfo: Callable[[], str],
    catalog: Sequence[Function],
    settings: Settings,
    mounted: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the application for uvicorn or another ASGI server.

    Args:
        memory: the client that answers calls.
        conninfo: returns the connection string of that database.
        catalog: its functions.
        settings: the keys and limits.
        mounted: routes of others, such as a page at "/"; they find who calls with ``access.caller_of(request)``.
    """
    metrics = Metrics(memory.caller)
    operations = [
        health.operation(memory.caller),
        *agents.Agents(memory).operations(),
        *transfer.operations(memory, conninfo),
        *functions.operations(memory, list(catalog)),
    ]
    document = description(operations)

    async def describe(_: Request) -> Response:
        return Response(document, media_type=JSON)

    routes = [Route(each.path, each, methods=[each.method]) for each in operations]
    return Starlette(
        routes=[
            _ByPath([route for route in routes if route.path.startswith(functions.PREFIX)]),
            Route("/openapi.json", describe),
            Route("/metrics", metrics.show),
            *(route for route in routes if not route.path.startswith(functions.PREFIX)),
            *mounted,
        ],
        middleware=[
            Middleware(Measured, metrics=metrics),
            Middleware(Access, settings=settings),
            Middleware(Bodies, settings=settings, stream_paths=(transfer.IMPORT_PATH,)),
        ],
        exception_handlers=HANDLERS,
    )


class _ByPath(BaseRoute):
    """Routes without parameters, found by their path: the router tries one after the other, 45 for ``get_messages``.

    Args:
        routes: the routes.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = {route.path: route for route in routes}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether one of the routes takes a request."""
        route = self._routes.get(scope["path"])
        return (Match.NONE, {}) if route is None else route.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the route answer."""
        await self._routes[scope["path"]].handle(scope, receive, send)
