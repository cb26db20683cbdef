"""MCP over streamable HTTP, without sessions: ``agent-memory mcp --http``, and the endpoint of ``serve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..client import AsyncMemory
from ..errors import InvalidValueError
from ..server.access import RESOURCE_METADATA, Access, caller_of
from ..server.bodies import Bodies
from ..server.listening import listening_socket, serve_app, url_of
from ..server.problems import HANDLERS, ProblemError
from ..server.settings import MCP_PATH, Settings
from ..server.tokens import warn_of_short_secret
from ..source import named_database
from .database import check_installed, opened
from .errors import Errors
from .server import Request as McpRequest
from .server import create_server

_USER = "agent_memory.user_id"
"""Where the scope of a request has its user."""
_USER_HEADER = "agent-memory-user"
"""The header by which the administrator names a user, for hosts that cannot put one into the URL."""


def serve_http(
    dsn: str | None,
    user_id: str | None,
    agent_id: str | None,
    settings: Settings,
    announce: Callable[[str], None],
    also: Sequence[str] = (),
) -> None:
    """Serve HTTP until SIGTERM or SIGINT.

    Args:
        dsn: the connection string; without one the database of the environment, else the embedded store of this user.
        user_id: the only user that is served; None for the user of each request's token.
        agent_id: the agent that what is stored belongs to; None for the default one.
        settings: the keys and limits.
        announce: is told where the server listens, as soon as it does.
        also: tools that are listed besides the usual ones.

    Raises:
        InvalidValueError: the settings do not fit together, or no user is named and there are no tokens either.
        NotInstalledError: the database has no agent_memory.
        AgentMemoryError: the embedded store cannot be used.
        OSError: the address cannot be listened on.
    """
    settings.check()
    if user_id is None and settings.is_keyless:
        raise InvalidValueError(
            "--user: is missing, and there are no tokens that name users",
            hint="Name the user, or set AGENT_MEMORY_JWT_SECRET, AGENT_MEMORY_JWKS_URL or AGENT_MEMORY_API_KEY.",
        )
    warn_of_short_secret(settings)
    conninfo = named_database(dsn)
    check_installed(conninfo)

    async def run() -> None:
        async with (
            opened(conninfo, settings.pool_size) as memory,
            mounted(memory, conninfo, announced, user_id, agent_id, also) as routes,
        ):
            middleware = [Middleware(Access, settings=announced), Middleware(Bodies, settings=settings)]
            app = Starlette(routes=routes, middleware=middleware, exception_handlers=HANDLERS)
            await serve_app(app, listening, settings, lambda url: announce(url + MCP_PATH))

    with listening_socket(settings) as listening:
        announced = announcing(settings, url_of(listening))
        asyncio.run(run())


def announcing(settings: Settings, url: str) -> Settings:
    """Return the settings of a server that announces its authorization server, if one is named.

    Tokens must then be from there and for this server, unless the environment says otherwise.

    Args:
        settings: the settings.
        url: the URL that is listened on.

    Raises:
        InvalidValueError: a URL is none.
    """
    if settings.oauth_issuer is None:
        return settings
    settings = replace(settings, mcp_url=settings.mcp_url or url + MCP_PATH)
    resource = _oauth(settings).resource_server_url
    assert resource is not None
    return replace(
        settings,
        jwt_issuer=settings.jwt_issuer or settings.oauth_issuer,
        jwt_audience=settings.jwt_audience or settings.mcp_url,
        resource_metadata=str(build_resource_metadata_url(resource)),
    )


def _oauth(settings: Settings) -> AuthSettings:
    # Access checks the tokens, and what they are for.
    urls: dict[str, Any] = {"issuer_url": settings.oauth_issuer, "resource_server_url": settings.mcp_url}
    try:
        return AuthSettings(**urls, validate_token_resource=False)
    except ValueError:
        raise InvalidValueError(
            "AGENT_MEMORY_OAUTH_ISSUER or AGENT_MEMORY_MCP_URL: is not a URL", hint="Both begin with https://."
        ) from None


def _metadata_routes(settings: Settings) -> list[Route]:
    """Return where hosts read the authorization server: below the path of MCP, and where older hosts look."""
    if settings.resource_metadata is None:
        return []
    oauth = _oauth(settings)
    assert oauth.resource_server_url is not None
    [route] = create_protected_resource_routes(
        oauth.resource_server_url, [oauth.issuer_url], resource_name="Agent memory"
    )
    return [route, Route(RESOURCE_METADATA, route.endpoint, methods=["GET", "OPTIONS"])]


@asynccontextmanager
async def mounted(
    memory: AsyncMemory,
    conninfo: str | None,
    settings: Settings,
    user_id: str | None = None,
    agent_id: str | None = None,
    also: Sequence[str] = (),
) -> AsyncIterator[list[BaseRoute]]:
    """Yield the route of the endpoint for an application that is behind ``Access``; inside, the endpoint serves.

    The SDK wants to be told when a server starts and ends, which it hears of as the lifespan of an application. That of
    a mounted application is nobody's, so it is this context.

    Args:
        memory: the client of all requests.
        conninfo: the connection string of its database, None for an embedded store.
        settings: the keys and limits.
        user_id: the only user that is served; None for the user of each request.
        agent_id: the agent that what is stored belongs to; None for the default one.
        also: tools that are listed besides the usual ones.
    """

    def user_of(request: McpRequest) -> str:
        assert request.request is not None
        user: str = request.request.scope[_USER]
        return user

    errors = Errors(conninfo, to_operator=False)
    app = create_server(memory, user_of, errors, agent_id=agent_id, also=also).streamable_http_app(
        streamable_http_path=MCP_PATH,
        # Each request stands for itself, so that any number of servers may share an address.
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.max_body or 1 << 40,
        transport_security=_transport_security(settings),
    )
    async with app.router.lifespan_context(app):
        # Without sessions there are no streams to GET or to DELETE: such a stream would outlast the server's grace.
        yield [Route(MCP_PATH, _ForUser(app, user_id), methods=["POST"]), *_metadata_routes(settings)]


class _ForUser:
    """Says in the scope for which user a request is; ``user_id`` is the only one that is served, or None."""

    def __init__(self, app: ASGIApp, user_id: str | None) -> None:
        self._app = app
        self._user_id = user_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        scope["template"] = MCP_PATH  # what figures call the endpoint
        request = Request(scope)
        try:
            user = self._user(request)
        except ProblemError as problem:
            await problem.response(request)(scope, receive, send)
        else:
            await self._app({**scope, _USER: user}, receive, send)

    def _user(self, request: Request) -> str:
        user = caller_of(request).user(_named(request), default=self._user_id)
        if user is None:
            raise ProblemError(
                403,
                "user_id: is missing, and the administrator's key names no user",
                hint=f"Call {MCP_PATH}?user_id=..., send the header Agent-Memory-User, or send a user's token.",
                argument="user_id",
            )
        if self._user_id not in (None, user):
            raise ProblemError(403, "this server is for another user", hint="Its --user is the only one it serves.")
        return user


def _named(request: Request) -> str | None:
    """Return the user that a request names, in its URL or in a header, which is UTF-8."""
    in_url, in_header = request.query_params.get("user_id"), request.headers.get(_USER_HEADER)
    if in_header is None:
        return in_url
    named = in_header.encode("latin-1").decode(errors="replace")
    if in_url not in (None, named):
        raise ProblemError(
            422,
            "user_id: the URL and the header Agent-Memory-User name two users",
            hint="Leave one of them out.",
            argument="user_id",
        )
    return named


def _transport_security(settings: Settings) -> TransportSecuritySettings:
    """Return the protection against DNS rebinding; with keys, no page of a browser can make a valid request."""
    hosts = ["127.0.0.1", "localhost", "[::1]", settings.host]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=settings.is_keyless,
        allowed_hosts=[f"{host}{port}" for host in hosts for port in ("", ":*")],
        allowed_origins=[f"http://{host}{port}" for host in hosts for port in ("", ":*")],
    )
