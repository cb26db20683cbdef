"""Turns every error into a problem of RFC 9457: the fault, the argument, and the hint."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import psycopg
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from .. import errors
from ..errors import AgentMemoryError

logger = logging.getLogger("agent_memory.server")

_STATUS: dict[type[AgentMemoryError], int] = {
    errors.InvalidValueError: 422,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.RetryableError: 409,
    errors.PermissionDeniedError: 403,
    errors.LimitExceededError: 413,
    errors.LeaseLostError: 409,
    errors.BudgetExceededError: 429,
    errors.NotInstalledError: 503,
    errors.NotConnectedError: 503,
    errors.NotSupportedError: 409,
}
# By the beginning of the SQLSTATE, of errors that the SQL API does not define. 0A000 and 55000: this installation lacks
# something, such as the key of secrets or pg_cron; an administrator can change that, a repetition cannot.
_BY_SQLSTATE = {"0A": 409, "55": 409, "22": 422, "23": 422, "54": 413, "08": 503, "57": 503, "53": 503, "40": 409}
_WAIT = {503: 5, 409: 1, 429: 60}
"""Seconds after which a repetition may succeed, for Retry-After."""
_ARGUMENT = re.compile(r"^(\w+)(?:\[\d+\]|\.\w+| of messages\[\d+\])*(?::| (?:must|is|contains|has|cannot)\b)")
_INTERNAL = "the server failed, its log says why"


class ProblemError(Exception):
    """An error that is told to the caller as it is."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str | None = None,
        argument: str | None = None,
        sqlstate: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.hint = hint
        self.argument = argument
        self.sqlstate = sqlstate
        self.headers = dict(headers or {})

    def response(self, request: Request) -> Response:
        """Return the answer. Under /api/v1 it says ``success``, as all answers there do."""
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "argument": self.argument,
            "sqlstate": self.sqlstate,
            "success": False if request.scope["path"].startswith("/api/v1/") else None,
        }
        stated = {name: value for name, value in body.items() if value is not None}
        # As ASCII, so that half a surrogate pair which a caller sent and a message repeats can be sent back.
        return Response(json.dumps(stated), self.status, self.headers, "application/problem+json")


def of_agent_memory(error: AgentMemoryError) -> ProblemError:
    """Return the problem for a refusal of the SQL API or of the client."""
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    if status == 500:
        logger.error("%s", error)
    named = _ARGUMENT.match(error.message)
    headers = {}
    if status == 503 or isinstance(error, errors.RetryableError | errors.BudgetExceededError):
        headers["Retry-After"] = str(_WAIT[status])
    return ProblemError(
        status,
        error.message if status != 500 else _INTERNAL,
        hint=error.hint,
        argument=named[1] if named and status in (422, 413, 404, 409) else None,
        sqlstate=error.sqlstate,
        headers=headers,
    )


def of_database(error: psycopg.Error) -> ProblemError:
    """Return the problem for an error that the SQL API does not define, such as a lost connection."""
    sqlstate = error.sqlstate or ""
    status = _BY_SQLSTATE.get(sqlstate[:2], 500)
    is_out_of_reach = not sqlstate and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    if isinstance(error, psycopg.DataError) and not sqlstate:  # a value that psycopg cannot send
        return ProblemError(422, str(error).partition("\n")[0], hint="Check the arguments.")
    if is_out_of_reach or status == 503:
        logger.warning("the database does not serve: %s", error)
        return ProblemError(
            503,
            "the database does not serve at the moment",
            hint="Try again after the seconds that the header Retry-After says; /healthz tells how the server goes.",
            sqlstate=sqlstate or None,
            headers={"Retry-After": str(_WAIT[503])},
        )
    if status == 500:
        # The error itself is not logged, because its DETAIL may quote a user's text.
        logger.error("the database failed: %s %s", sqlstate, error.diag.message_primary)
        return ProblemError(500, _INTERNAL, sqlstate=sqlstate or None)
    diagnostic = error.diag
    return ProblemError(
        status, diagnostic.message_primary or str(error), hint=diagnostic.message_hint, sqlstate=sqlstate or None
    )


async def answer(request: Request, error: Exception) -> Response:
    """Return the answer for an error of any kind."""
    if isinstance(error, HTTPException):  # of the router: no such path, another method
        said = {404: "no endpoint has this path", 405: f"the endpoint does not take {request.method}"}
        detail = said.get(error.status_code, error.detail)
        problem = ProblemError(error.status_code, detail, hint="See /openapi.json.", headers=error.headers)
    elif isinstance(error, AgentMemoryError):
        problem = of_agent_memory(error)
    elif isinstance(error, psycopg.Error):
        problem = of_database(error)
    else:
        problem = error if isinstance(error, ProblemError) else ProblemError(500, _INTERNAL)
    return problem.response(request)


HANDLERS: dict[Any, Any] = dict.fromkeys(
    (ProblemError, HTTPException, AgentMemoryError, psycopg.Error, Exception), answer
)
