"""What every endpoint does besides its work: it says in our words what is wrong, and why an answer is weaker."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, get_type_hints

from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from .._problem import first_of
from ..calls import heard
from ..errors import DEGRADED, client_version
from .access import PUBLIC, caller_of
from .problems import ProblemError

JSON = "application/json"
ADMINISTRATION = "administration"
"""The tag of endpoints that no user's token reaches."""
_PROBLEM = {
    "type": "object",
    "description": "What is wrong, as RFC 9457 says it.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, naming the argument where there is one."},
        "hint": {"type": "string", "description": "What helps."},
        "argument": {"type": "string"},
        "sqlstate": {"type": "string", "description": "The code of the SQL API, see docs/errors.md."},
        "success": {"const": False, "description": "Under /api/v1 only."},
    },
}
_CONTENT = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": "A problem: see status and detail.", "content": _CONTENT} for status in ("4XX", "5XX")
}
"""The answers that every endpoint may give."""


class _Request(Request):
    async def json(self) -> Any:
        """Read the body as pydantic reads JSON: half a surrogate pair, and brackets without an end, are errors."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON: {error}") from None


class Endpoint(APIRoute):
    """An endpoint: its function takes the query as ``query`` and the body as ``body``, each a model of pydantic."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()
        models = get_type_hints(self.endpoint)

        async def answered(request: Request) -> Response:
            request.scope["template"] = self.path_format
            if ADMINISTRATION in self.tags and not caller_of(request).is_administrator:
                raise ProblemError(
                    403,
                    f"{self.name} is for the administrator",
                    hint="Send the administrator's key, AGENT_MEMORY_API_KEY of the server, as the bearer token.",
                    sqlstate="42501",
                )
            if len(request.query_params) < len(request.query_params.multi_items()):
                raise ProblemError(422, "the query names an argument twice", hint=_takes("query", models))
            if self.body_field is not None:
                _check_type(request)
            try:
                with heard() as causes:
                    response = await handle(_Request(request.scope, request.receive))
            except RequestValidationError as error:
                raise _refusal(error.errors(), models) from None
            response.headers.setdefault("Cache-Control", "no-store")
            if causes:
                named = dict.fromkeys(warning.sqlstate or "" for warning in causes)
                response.headers["Agent-Memory-Degraded"] = ", ".join(DEGRADED.get(each, each) for each in named)
            return response

        return answered


def _refusal(errors: Sequence[Mapping[str, Any]], models: Mapping[str, Any]) -> ProblemError:
    place, problem = errors[0]["loc"][0], first_of(errors, 1)
    detail = f"{problem.argument or f'the {place}'}: {problem.said}"
    name = str(problem.path[0]) if problem.path else None
    return ProblemError(422, detail, hint=_takes(place, models), argument=name, sqlstate="22023")


def _takes(place: str, models: Mapping[str, Any]) -> str:
    """Return the names of the arguments, for hints."""
    fields = getattr(models.get(place), "model_fields", {})
    required = ", ".join(name for name, field in fields.items() if field.is_required())
    optional = ", ".join(name for name, field in fields.items() if not field.is_required())
    return f"The {place} takes: {'; optionally '.join(filter(None, (required, optional))) or 'nothing'}."


def _check_type(request: Request) -> None:
    """Check that a body is said to be JSON; a page of another site cannot send that without being asked."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if has_body and given != JSON:
        raise ProblemError(
            415, f"the body is of type {given or 'unknown'}", hint=f"Send the header Content-Type: {JSON}"
        )


def description(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """Return the description of all endpoints, OpenAPI 3.1."""
    document = get_openapi(
        title="agent_memory",
        version=client_version(),
        description="Agent memory inside PostgreSQL. The functions under /v1 are those of the SQL API.",
        routes=routes,
    )
    document["components"]["schemas"]["Problem"] = _PROBLEM
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"bearer": []}]
    for path in set(PUBLIC) & set(document["paths"]):
        document["paths"][path]["get"]["security"] = []
    return document
