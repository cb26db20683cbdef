"""One endpoint: its arguments, its handler and its answer. /openapi.json is made of the same."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .._problem import first_of
from ..calls import heard
from ..errors import DEGRADED
from .access import caller_of
from .problems import ProblemError

JSON = "application/json"
LINES = "application/x-ndjson"
_CONVERTER = re.compile(r":\w+}")
Handler = Callable[[Request, Any, Any], Awaitable[Any]]
"""Takes a request, its query and its body, and returns the answer: a value of the operation's type, or a Response."""


@dataclass(frozen=True, eq=False)
class Operation:
    """An endpoint.

    Attributes:
        method: GET, POST or DELETE.
        path: the path, with its parameters in braces.
        name: its name in /openapi.json.
        tag: the group that it belongs to there.
        description: what it does.
        handler: does it.
        returns: the type of the answer; None for an answer without a body.
        query: what the query may say.
        body: what the body may say, as JSON.
        signature: the names of the arguments, for hints.
        is_for_users: whether a user's token suffices.
        takes_lines, returns_lines: whether the body, the answer is lines of JSON, as they come.
    """

    method: str
    path: str
    name: str
    tag: str
    description: str
    handler: Handler
    returns: Any = None
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    signature: str = ""
    is_for_users: bool = True
    takes_lines: bool = False
    returns_lines: bool = False

    @cached_property
    def template(self) -> str:
        """The path as OpenAPI writes it: {id} where the router has {id:path}."""
        return _CONVERTER.sub("}", self.path)

    @cached_property
    def result(self) -> TypeAdapter[Any]:
        """What checks and writes the answer."""
        return TypeAdapter(self.returns)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: as an application of ASGI, so that its errors are looked up once, by the middleware."""
        response = await self._response(Request(scope, receive, send))
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        """Return the answer to a request.

        Raises:
            ProblemError: the request is not what this endpoint takes.
        """
        if not self.is_for_users and not caller_of(request).is_administrator:
            raise ProblemError(
                403,
                f"{self.name} is for the administrator",
                hint="Send the administrator's key, AGENT_MEMORY_API_KEY of the server, as the bearer token.",
                sqlstate="42501",
            )
        query = None if self.query is None else self._checked(self.query, request.query_params, "query")
        body = None
        if self.body is not None:
            _check_type(request, JSON)
            body = self._checked(self.body, await request.body() or b"{}", "body")
        elif self.takes_lines:
            _check_type(request, LINES, "application/jsonl", JSON)
        with heard() as causes:
            answer = await self.handler(request, query, body)
        if isinstance(answer, Response):
            return answer
        headers = {"Cache-Control": "no-store"}
        if causes:
            named = dict.fromkeys(warning.sqlstate or "" for warning in causes)
            headers["Agent-Memory-Degraded"] = ", ".join(DEGRADED.get(sqlstate, sqlstate) for sqlstate in named)
        if self.returns is None:
            return Response(status_code=204, headers=headers)
        return Response(self.result.dump_json(answer, warnings=False), headers=headers, media_type=JSON)

    def _checked(self, model: type[BaseModel], given: Any, place: str) -> BaseModel:
        try:
            if place == "query":
                if len(given) < len(given.multi_items()):
                    raise ProblemError(
                        422, "the query names an argument twice", hint=f"The query takes: {self.signature}."
                    )
                return model.model_validate(dict(given))
            return model.model_validate_json(given)
        except ValidationError as error:
            raise self._problem(error, place) from None

    def _problem(self, error: ValidationError, place: str) -> ProblemError:
        problem = first_of(error)
        if problem.kind == "json_invalid":
            return ProblemError(400, f"the body is not JSON: {problem.said.removeprefix('invalid JSON: ')}")
        hint = f"The {place} takes: {self.signature or 'nothing'}."
        detail = f"{problem.argument or f'the {place}'}: {problem.said}"
        name = str(problem.path[0]) if problem.path else None
        return ProblemError(422, detail, hint=hint, argument=name, sqlstate="22023")


def _check_type(request: Request, *accepted: str) -> None:
    """Check that a body is said to be what is expected; a page of another site cannot send that without being asked."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if has_body and given not in accepted:
        raise ProblemError(
            415,
            f"the body is of type {given or 'unknown'}",
            hint=f"Send the header Content-Type: {accepted[0]}",
        )
