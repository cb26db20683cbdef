"""The form that takes the administrator's key, and the address that takes the token of a server without one."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..server.problems import ProblemError
from .asked import Asked
from .rendering import HEADERS, address, rendered
from .sessions import Sessions, check_same_origin


def routes(sessions: Sessions, is_key: Callable[[str], bool], *, is_keyless: bool) -> list[Route]:
    """Return the routes of login and logout."""
    wrong = "This is not the administrator's key, AGENT_MEMORY_API_KEY of the server."
    if is_keyless:
        wrong = "This server has no key: open the address that the command printed when it started."

    def form(status: int = 200, problem: str | None = None) -> Response:
        return rendered("login.html", status, problem=problem, user=None, may_edit=False, is_logged_in=False)

    async def show(request: Request) -> Response:
        if request.method != "POST":
            return _with_headers(form(problem=wrong if is_keyless else None))
        try:
            check_same_origin(request.headers)
            asked = Asked.parsed((await request.body()).decode("utf-8", "replace"))
        except ProblemError as problem:
            return _with_headers(form(problem.status, problem.detail))
        if not is_key((asked.text("key") or "").strip()):
            return _with_headers(form(403, wrong))
        response = RedirectResponse(address("users"), 303)
        sessions.begin(request, response)
        return _with_headers(response)

    async def leave(request: Request) -> Response:
        try:
            check_same_origin(request.headers)
        except ProblemError as problem:
            return _with_headers(form(problem.status, problem.detail))
        response = RedirectResponse(address("login"), 303)
        sessions.end(request, response)
        return _with_headers(response)

    return [
        Route(address("login"), show, methods=["GET", "POST"]),
        Route(address("logout"), leave, methods=["POST"]),
    ]


def let_in(request: Request, sessions: Sessions) -> Response:
    """Log in the browser that has opened the address with the token, and lead it to an address without the token."""
    # This is no redirect, because browsers withhold the cookie from the target of a redirect that began elsewhere.
    response = rendered("enter.html", user=None, may_edit=False, is_logged_in=False)
    sessions.begin(request, response)
    return response


def _with_headers(response: Response) -> Response:
    response.headers.update(HEADERS | {"Cache-Control": "no-store"})
    return response
