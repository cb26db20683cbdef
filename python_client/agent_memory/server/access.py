"""Tells who calls: the administrator, a user, or somebody who is turned away."""

from __future__ import annotations

import math
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from .loopback import check_is_local
from .problems import ProblemError
from .rates import Rates
from .settings import MCP_PATH, Settings
from .tokens import TokenError, Tokens

PUBLIC = ("/healthz", "/openapi.json")
"""Paths that need no key or token: both say nothing of any user."""
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
"""Where hosts of MCP read which authorization server gives tokens, if one is named."""
PAGE = "/page/"
"""Where the page is, with "/": it admits browsers itself, which have no token."""
_NO_KEY = "Send the header Authorization: Bearer, with the administrator's key or a user's token."
_NO_TOKEN = (
    "The command that serves has printed an address with a token when it started: open that in a browser, or send the "
    "token in the header Authorization: Bearer. Set AGENT_MEMORY_API_KEY for a key that stays."
)
DEFAULT_USER = "default"
"""The user that the administrator means under /api/v1 without naming one."""


@dataclass(frozen=True)
class Caller:
    """Who calls.

    Attributes:
        user_id: the user whose token it is; None for the administrator, who may name any user.
    """

    user_id: str | None

    @property
    def is_administrator(self) -> bool:
        """Whether it is the administrator."""
        return self.user_id is None

    def user(self, named: str | None, default: str | None = None) -> str | None:
        """Return the user that a call is about: the token's, else the one that the administrator names."""
        if self.user_id is None:
            return default if named is None else named
        if named not in (None, self.user_id):
            raise ProblemError(
                403,
                "user_id: is not the user of the token",
                hint="Leave user_id out: a token reaches its own user only.",
                argument="user_id",
                sqlstate="42501",
            )
        return self.user_id


def caller_of(request: HTTPConnection) -> Caller:
    """Return who calls; the middleware has let nobody else through."""
    caller: Caller = request.scope["caller"]
    return caller


class Access:
    """Middleware that lets callers with a key or token through, not too often.

    It says in the scope who they are (``caller``), and whether a browser opens the printed address (``enters``).

    Whatever is mounted in the application is behind it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._tokens = Tokens(settings)
        self._rates = Rates(settings.rate_limit)
        self._is_keyless = settings.is_keyless
        self._resource_metadata = settings.resource_metadata

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            scope["caller"] = await self._admitted(request)
        except ProblemError as problem:
            await problem.response(request)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _admitted(self, request: Request) -> Caller | None:
        """Return who calls; None for public paths."""
        request.scope["enters"] = self._enters(request)
        if self._is_keyless and not request.scope["enters"]:
            check_is_local(request)
        caller, reason = await self._caller(request)
        if caller is None or not caller.is_administrator:
            who = (
                ("address", request.client.host if request.client else "")
                if caller is None
                else ("user", caller.user_id)
            )
            self._count(who)
        if caller is None and not self._is_public(request.scope["path"]):
            raise ProblemError(
                401,
                reason,
                hint=_NO_TOKEN if self._is_keyless else _NO_KEY,
                headers={"WWW-Authenticate": self._challenge(request.scope["path"])},
            )
        return caller

    def _is_public(self, path: str) -> bool:
        if self._resource_metadata is not None and path.startswith(RESOURCE_METADATA):
            return True
        return path in PUBLIC or path == "/" or path.startswith(PAGE)

    def _challenge(self, path: str) -> str:
        """Return what a request without a valid token is told: where to get one, if it is a host of MCP."""
        if self._resource_metadata is None or path != MCP_PATH:
            return "Bearer"
        return f'Bearer resource_metadata="{self._resource_metadata}"'

    def _enters(self, request: Request) -> bool:
        """Tell whether a browser opens the address that the command has printed, from wherever that was clicked on."""
        is_entry = self._is_keyless and request.method == "GET" and request.scope["path"] == "/"
        return is_entry and self._tokens.is_key(request.query_params.get("token", ""))

    async def _caller(self, request: Request) -> tuple[Caller | None, str]:
        """Return who calls, or None and why nobody is known."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return None, "there is no bearer token"
        if self._tokens.is_key(token):
            return Caller(None), ""
        try:
            return Caller(await self._tokens.user_of(token)), ""
        except TokenError as error:
            return None, str(error)

    def _count(self, who: tuple[str, str | None]) -> None:
        seconds = math.ceil(self._rates.seconds_to_wait(who))
        if seconds:
            raise ProblemError(
                429,
                "too many requests a minute",
                hint="Wait for the seconds that the header Retry-After says. The operator sets --rate-limit.",
                headers={"Retry-After": str(seconds)},
            )
