"""An endpoint for each public function of the database: ``POST /v1/<function>`` with its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints
from uuid import UUID

from fastapi import APIRouter, Body
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)
from pydantic.functional_validators import BeforeValidator
from starlette.requests import Request
from starlette.responses import Response

from ..calls import AsyncWorkerProtocol
from ..client import AsyncMemory
from .access import caller_of
from .catalog import Argument, Function
from .endpoint import ADMINISTRATION, JSON
from .problems import ProblemError

PREFIX = "/v1/"
"""What the paths of functions begin with."""
# fmt: off
FOR_USERS = frozenset({
    "add_message", "add_messages", "get_messages", "get_context", "list_threads", "clear_thread", "delete_thread",
    "get_thread_summary", "get_user_summary", "add_memory", "add_memories", "get_memory", "list_memories",
    "count_memories",
    "update_memory", "delete_memory", "supersede_memory", "end_memory", "restore_memory", "get_memory_history",
    "render_memories",
    "search", "needs_memory", "add_document", "list_documents", "delete_document", "store_artifact",
    "add_artifact_piece", "retrieve_artifact", "list_artifacts", "delete_artifact", "extract_memories",
    "summarize_thread", "compress_thread", "summarize_user", "reconcile_memories", "consolidate", "get_job",
    "load_user", "list_secrets", "set_secret", "delete_secret", "delete_message", "expand_refs", "forget_memory",
    "export_user", "quarantine_memory", "release_memory", "quarantine_source", "release_source", "list_quarantined",
    "delete_memories", "delete_messages", "delete_documents", "get_thread", "set_thread", "copy_thread",
    "was_forgotten", "record_use", "list_spaces", "use_files",
})
# fmt: on
"""What a user's token may call, on the data of its user: what docs/roles.md grants to applications, and storing
secrets. The value of a secret is for the administrator's key only, because tokens get into browsers."""


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a text such as 2026-01-31T12:00:00Z, or infinity")
    return datetime.max.replace(tzinfo=timezone.utc) if value == "infinity" else value


_TIME = {
    "anyOf": [{"type": "string", "format": "date-time"}, {"const": "infinity"}],
    "description": "With a time zone; infinity means never.",
}
_DURATION = {"anyOf": [{"type": "string", "format": "duration"}, {"type": "number"}], "description": "Or seconds."}
# Texts become times, durations and ids where the rest of a body is strict.
_LAX = Field(strict=False)
_UUID = Annotated[UUID, _LAX]
_TYPES: dict[str, Any] = {
    "text": str,
    "name": str,
    "boolean": bool,
    "integer": Annotated[int, Field(ge=-(2**31), lt=2**31)],
    "bigint": Annotated[int, Field(ge=-(2**63), lt=2**63)],
    "real": FiniteFloat,
    "double precision": FiniteFloat,
    "uuid": _UUID,
    "interval": Annotated[timedelta, _LAX, WithJsonSchema(_DURATION)],
    "text[]": list[str],
    "uuid[]": list[_UUID],
    "bigint[]": list[Annotated[int, Field(ge=-(2**63), lt=2**63)]],
    "timestamp with time zone": Annotated[AwareDatetime, _LAX, BeforeValidator(_moment), WithJsonSchema(_TIME)],
    "vector": list[FiniteFloat],
}


def add_endpoints(router: APIRouter, memory: AsyncMemory, functions: Sequence[Function]) -> None:
    """Add the endpoints of the functions and arguments that the client knows as well; a newer database has more."""
    homes = (memory, memory.admin, AsyncWorkerProtocol(memory.caller))
    for function in functions:
        for home in homes:
            if hasattr(type(home), function.name):
                _add(router, getattr(home, function.name), function)


def _add(router: APIRouter, method: Callable[..., Awaitable[Any]], function: Function) -> None:
    hints = get_type_hints(method)
    function = replace(function, arguments=tuple(each for each in function.arguments if each.name in hints))
    model, returns = _model(function, hints), _result(hints["return"])
    result: TypeAdapter[Any] = TypeAdapter(returns)
    is_optional = not any(field.is_required() for field in model.model_fields.values())
    nothing = Body(model() if is_optional else ...)

    async def call(request: Request, body: Any = nothing) -> Response:
        arguments = {name: getattr(body, name) for name in body.model_fields_set}
        if function.is_of_user:
            arguments["user_id"] = caller_of(request).user(arguments.get("user_id"))
            if arguments["user_id"] is None and not function.arguments[0].is_optional:
                hint = "The administrator names the user; a user's token is of one user already."
                raise ProblemError(422, "user_id: is missing", hint=hint, argument="user_id", sqlstate="22023")
        answer = await method(**arguments)
        if returns is None:
            return Response(status_code=204)
        return Response(result.dump_json(answer, warnings=False), media_type=JSON)  # no value of ours is checked again

    call.__annotations__ |= {"request": Request, "body": model}
    router.add_api_route(
        PREFIX + function.name,
        call,
        methods=["POST"],
        name=function.name,
        description=function.comment,
        tags=["functions" if function.is_of_user and function.name in FOR_USERS else ADMINISTRATION],
        status_code=204 if returns is None else 200,
        response_model=returns,
    )


def _model(function: Function, hints: Mapping[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for number, argument in enumerate(function.arguments):
        kind, is_nullable = _kind(argument, hints[argument.name])
        if number == 0 and function.is_of_user:
            what = "The user. A token reaches its own user only, and may leave this out."
            fields[argument.name] = (kind | None, Field(None, description=what, min_length=1, max_length=255))
        elif argument.is_optional:
            fields[argument.name] = (kind | None, None)
        else:
            fields[argument.name] = (kind | None if is_nullable else kind, ...)
    name = "".join(part.capitalize() for part in function.name.split("_")) + "Arguments"
    config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())
    return create_model(name, __config__=config, **fields)


def _kind(argument: Argument, hint: Any) -> tuple[Any, bool]:
    """Return the type of an argument in JSON, and whether null is a value of its own where it is required."""
    is_nullable = NoneType in get_args(hint)
    if argument.type in _TYPES:
        return _TYPES[argument.type], is_nullable
    # The catalog says jsonb; the client's method names the kind of JSON.
    is_list = any(_is_list(part) for part in (hint, *get_args(hint)))
    return (list[dict[str, Any]] if is_list else dict[str, Any]), is_nullable


def _result(hint: Any) -> Any:
    """Return the type of an answer: for a class of lists the list that it is, for no value None."""
    if inspect.isclass(hint) and issubclass(hint, list) and hint is not list:
        return hint.__orig_bases__[0]  # type: ignore[attr-defined]
    return None if hint is NoneType else hint


def _is_list(hint: Any) -> bool:
    origin = getattr(hint, "__origin__", None)
    return inspect.isclass(origin) and not issubclass(origin, Mapping)
