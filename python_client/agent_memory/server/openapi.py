"""The description of all endpoints, OpenAPI 3.1, made of the operations themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from ..errors import client_version
from .access import PUBLIC
from .operation import JSON, LINES, Operation

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
_PARAMETER = re.compile(r"{(\w+)}")


def description(operations: Sequence[Operation]) -> bytes:
    """Return the document as JSON."""
    adapters: list[tuple[Any, Any, TypeAdapter[Any]]] = []
    for operation in operations:
        if operation.returns is not None:
            adapters.append((operation.name, "serialization", operation.result))
        adapters.extend(
            (f"{operation.name} {place}", "validation", TypeAdapter(model))
            for place, model in (("query", operation.query), ("body", operation.body))
            if model is not None
        )
    schemas, definitions = TypeAdapter.json_schemas(adapters, ref_template="#/components/schemas/{model}")
    components = definitions.get("$defs", {})
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.template, {})[operation.method.lower()] = _described(operation, schemas, components)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "agent_memory",
            "version": client_version(),
            "description": "Agent memory inside PostgreSQL. The functions under /v1 are those of the SQL API.",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "responses": {
                "Problem": {
                    "description": "A problem: see status and detail.",
                    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}],
    }
    return json.dumps(document).encode()


def _described(
    operation: Operation, schemas: Mapping[tuple[Any, Any], Mapping[str, Any]], components: Mapping[str, Any]
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.description.partition(". ")[0].rstrip("."),
        "description": operation.description,
        "responses": {
            **_answer(operation, schemas),
            "4XX": {"$ref": "#/components/responses/Problem"},
            "5XX": {"$ref": "#/components/responses/Problem"},
        },
    }
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PARAMETER.findall(operation.template)
    ]
    if operation.query is not None:
        schema = _resolved(schemas[f"{operation.name} query", "validation"], components)
        required = schema.get("required", ())
        parameters.extend(
            {"name": name, "in": "query", "required": name in required, "schema": _without_null(kind)}
            for name, kind in schema["properties"].items()
        )
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        is_required = any(field.is_required() for field in operation.body.model_fields.values())
        content = {JSON: {"schema": schemas[f"{operation.name} body", "validation"]}}
        described["requestBody"] = {"required": is_required, "content": content}
    elif operation.takes_lines:
        message = {"type": "object", "required": ["role", "content"]}
        content = {LINES: {"schema": {"type": "string"}}, JSON: {"schema": {"type": "array", "items": message}}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.path in PUBLIC:
        described["security"] = []
    return described


def _answer(operation: Operation, schemas: Mapping[tuple[Any, Any], Mapping[str, Any]]) -> dict[str, Any]:
    if operation.returns_lines:
        return {"200": {"description": "Lines of JSON", "content": {LINES: {"schema": {"type": "string"}}}}}
    if operation.returns is None:
        return {"204": {"description": "Done"}}
    schema = schemas[operation.name, "serialization"]
    return {"200": {"description": "Done", "content": {JSON: {"schema": schema}}}}


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    found: Mapping[str, Any] = components[reference.rpartition("/")[2]] if reference else schema
    return found


def _without_null(kind: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of what a query can say: a text that is left out, never null."""
    others = [part for part in kind.get("anyOf", ()) if part != {"type": "null"}]
    left = {name: value for name, value in kind.items() if name not in ("anyOf", "default") or kind.get(name)}
    if len(others) == 1:
        left.pop("anyOf", None)
        left.update(others[0])
    return left
