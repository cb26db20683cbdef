"""The application: all endpoints behind one access, with the limits and figures of a server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from ..client import AsyncMemory
from . import agents, functions, health
from .access import Access
from .bodies import Bodies
from .catalog import Function
from .endpoint import JSON, PROBLEMS, Endpoint, description
from .metrics import Measured, Metrics
from .problems import HANDLERS
from .settings import Settings


def create_app(
    memory: AsyncMemory, catalog: Sequence[Function], settings: Settings, mounted: Sequence[BaseRoute] = ()
) -> FastAPI:
    """Return the application for uvicorn or another ASGI server.

    Args:
        memory: the client that answers calls.
        catalog: its functions.
        settings: the keys and limits.
        mounted: routes of others, such as a page at "/"; they find who calls with ``access.caller_of(request)``.
    """
    metrics = Metrics(memory.caller)
    app = FastAPI(
        openapi_url=None,  # which would write the description anew for everybody who asks
        telemetry={"tracing": False, "metrics": False, "logs": False},  # whose spans have addresses, which name users
        responses=PROBLEMS,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers=HANDLERS,
        middleware=[
            Middleware(Measured, metrics=metrics),
            Middleware(Access, settings=settings),
            Middleware(Bodies, settings=settings),
        ],
    )
    app.router.route_class = Endpoint
    functions.add_endpoints(app.router, memory, catalog)
    agents.add_endpoints(app.router, memory)
    health.add_endpoint(app.router, memory.caller)
    document = json.dumps(description(app.routes)).encode()

    async def describe(_: Request) -> Response:
        return Response(document, media_type=JSON)

    app.add_route("/openapi.json", describe)
    app.add_route("/metrics", metrics.show)
    app.routes.extend(mounted)
    return app
