"""Login in a browser: the key of the administrator once, then a cookie that says nothing."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from ..server.loopback import is_from_own_page
from ..server.problems import ProblemError

_COOKIE = "agent_memory"
_LIVES = 12 * 60 * 60
"""Seconds after which one logs in again."""
_MOST = 1000
"""Sessions that are kept; the oldest one ends when there is another."""


class Sessions:
    """Who has logged in. The cookie is random; this process keeps its digest, so a restart ends all sessions."""

    def __init__(self) -> None:
        self._ends: OrderedDict[bytes, float] = OrderedDict()

    def knows(self, request: Request) -> bool:
        """Tell whether a request comes from a browser that has logged in."""
        return self._ends.get(_digest(request), 0) > time.monotonic()

    def begin(self, request: Request, response: Response) -> None:
        """Log the browser in that the response goes to."""
        value = secrets.token_urlsafe(32)
        self._ends[hashlib.sha256(value.encode()).digest()] = time.monotonic() + _LIVES
        while len(self._ends) > _MOST:
            self._ends.popitem(last=False)
        response.set_cookie(
            _cookie(request),
            value,
            max_age=_LIVES,
            httponly=True,
            samesite="strict",
            secure=request.scope["scheme"] == "https",
        )

    def end(self, request: Request, response: Response) -> None:
        """Log out."""
        self._ends.pop(_digest(request), None)
        response.delete_cookie(_cookie(request), httponly=True, samesite="strict")


def _cookie(request: Request) -> str:
    """Return the name of the cookie, one for each port: browsers keep those of all ports of a host together."""
    server = request.scope.get("server")
    return f"{_COOKIE}_{server[1]}" if server else _COOKIE


def _digest(request: Request) -> bytes:
    return hashlib.sha256(request.cookies.get(_cookie(request), "").encode("utf-8", "replace")).digest()


def check_same_origin(headers: Headers) -> None:
    """Check that a form was sent from a page of this server.

    SameSite=Strict does not suffice: another port of the same host is the same site.
    """
    if not is_from_own_page(headers):
        raise ProblemError(403, "the form was not sent from this page", hint="Open the page and send its form there.")
