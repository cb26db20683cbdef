"""Wraps each view: checks who may look, shows errors, and adds headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..client import AsyncMemory
from ..errors import AgentMemoryError
from ..server.access import Caller
from ..server.problems import ProblemError, of_agent_memory, of_database
from .asked import Asked
from .database import Database, borrowed
from .login import let_in
from .rendering import HEADERS, address, rendered
from .sessions import Sessions, check_same_origin

Show = Callable[["Visit"], Awaitable[Response]]


@dataclass(frozen=True)
class Visit:
    """One request of a view.

    Attributes:
        asked: what the address says, or the form.
        database: where the data is; in a cluster that of the user, if the request names one.
        memory: finds the database of each user.
        may_edit: whether the page was started with --edit.
        is_logged_in: whether the browser has logged in, so that it may log out.
    """

    asked: Asked
    database: Database
    memory: AsyncMemory
    may_edit: bool
    is_logged_in: bool

    def shown(self, template: str, **values: Any) -> Response:
        """Return the answer that a template makes of values."""
        common = {"user": self.asked.text("user"), "may_edit": self.may_edit, "is_logged_in": self.is_logged_in}
        return rendered(template, **common, asked=self.asked, **values)


class Views:
    """Makes the routes of views."""

    def __init__(
        self,
        memory: AsyncMemory,
        sessions: Sessions,
        *,
        is_keyless: bool,
        may_edit: bool,
    ) -> None:
        self._memory = memory
        self._sessions = sessions
        self._is_keyless = is_keyless
        self._may_edit = may_edit

    def route(self, view: str, show: Show) -> Route:
        """Return the route of a view that only shows something."""
        return self._route(view, show, "GET")

    def change(self, view: str, change: Show) -> Route:
        """Return the route of a form that changes something."""
        return self._route(view, change, "POST")

    def _route(self, view: str, show: Show, method: str) -> Route:
        async def respond(request: Request) -> Response:
            try:
                response = await self._visited(request, show)
            except ProblemError as problem:
                response = _failed(problem)
            except AgentMemoryError as error:
                response = _failed(of_agent_memory(error))
            except (psycopg.Error, PoolTimeout, PoolClosed) as error:
                response = _failed(of_database(error))
            response.headers.update(HEADERS | {"Cache-Control": "no-store"})
            return response

        return Route(address(view), respond, methods=[method])

    async def _visited(self, request: Request, show: Show) -> Response:
        if request.scope["enters"]:
            return let_in(request, self._sessions)
        caller: Caller | None = request.scope["caller"]
        is_logged_in = self._sessions.knows(request)
        if not (is_logged_in or (caller is not None and caller.is_administrator)):
            if caller is not None:
                raise ProblemError(
                    403, "the page is for the administrator", hint="Log in with the administrator's key."
                )
            if self._is_keyless:
                raise ProblemError(
                    401,
                    "this browser is not let in",
                    hint="Open the address with a token that the command has printed when it started.",
                )
            return RedirectResponse(address("login"), 303)
        if request.method == "POST":
            check_same_origin(request.headers)
            if not self._may_edit:
                raise ProblemError(403, "the page only shows", hint="Start it with --edit to change something.")
            asked = Asked.parsed((await request.body()).decode("utf-8", "replace"))
        else:
            asked = Asked.parsed(request.scope["query_string"].decode("latin-1"))
        async with borrowed(self._memory.caller, asked.text("user") or asked.text("of")) as database:
            return await show(Visit(asked, database, self._memory, self._may_edit, is_logged_in))


def _failed(problem: ProblemError) -> Response:
    response = rendered("problem.html", problem.status, problem=problem, user=None, may_edit=False, is_logged_in=False)
    response.headers.update(problem.headers)
    return response
