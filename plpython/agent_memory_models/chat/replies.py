"""The fields and types of replies, the JSON schemas that ask for them, and their check.

This module imports pydantic, so modules of jobs/ import it within the function that returns the type of their reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError, create_model

from ..errors import ModelError

# The members that a schema may have in the strict mode of every provider. Pydantic checks all the rest when the reply
# is there.
_SCHEMA_KEYWORDS = ("type", "enum", "const")
# An object with a member: prose may have braces, but hardly these.
_JSON = re.compile(r'\{\s*(?:"|\})')


def _storable(text: str) -> str:
    """Refuses a text that PostgreSQL cannot store."""
    if "\0" in text:
        raise ValueError("a NUL character cannot be stored")
    text.encode()  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
    return text


def _distinct(numbers: list[int]) -> list[int]:
    return sorted(set(numbers))


def _several(numbers: list[int]) -> list[int]:
    if len(numbers) < 2:
        raise ValueError("at least two different numbers are needed")
    return numbers


Storable = AfterValidator(_storable)
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Storable]
Share = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""
Whole = Annotated[int, Field(ge=0, le=2**53)]
"""A whole number up to the largest that every JSON parser keeps exactly."""
Seqs = Annotated[list[Whole], Field(min_length=1), AfterValidator(_distinct)]
Numbers = Annotated[list[Whole], AfterValidator(_distinct), AfterValidator(_several)]

Reply = TypeVar("Reply", bound=BaseModel)


def reply_object(name: str, /, **fields: Any) -> type[BaseModel]:
    """A JSON object of a reply: for each field its type, or a pair of its type and its default."""
    given: Any = {key: field if isinstance(field, tuple) else (field, ...) for key, field in fields.items()}
    reply: type[BaseModel] = create_model(name, **given)
    return reply


def of_schema(schema: dict[str, Any]) -> Any:
    """The type of a value that obeys a JSON schema, within what `memory._schema_problem()` lets a policy have."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type", "object")
    if kind == "array":
        return list[of_schema(schema["items"])] if "items" in schema else list[Annotated[str, Storable]]  # type: ignore[misc]
    if kind == "object":
        required = schema.get("required", ())
        return reply_object("Fields", **{
            name: of_schema(field) if name in required else (of_schema(field) | None, None)
            for name, field in schema.get("properties", {}).items()
        })  # fmt: skip
    return {"string": Annotated[str, Storable], "number": float, "integer": int, "boolean": bool}[kind]


@lru_cache(maxsize=64)
def strict_schema(reply_type: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply within the limits of strict mode: no references, every property required."""
    schema = reply_type.model_json_schema()
    definitions = schema.get("$defs", {})

    def strict(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            return strict(definitions[node["$ref"].rpartition("/")[2]])
        kept = {keyword: node[keyword] for keyword in _SCHEMA_KEYWORDS if keyword in node}
        if "anyOf" in node:
            kept["anyOf"] = [strict(choice) for choice in node["anyOf"]]
        if "items" in node:
            kept["items"] = strict(node["items"])
        if "properties" in node:
            kept["properties"] = {name: strict(value) for name, value in node["properties"].items()}
            kept |= {"required": list(node["properties"]), "additionalProperties": False}
        return kept

    return strict(schema)


def parse_reply(
    content: str, reply_type: type[Reply], from_text: Callable[[str], dict[str, Any]] | None = None
) -> Reply:
    """The reply in the text of a completion; `from_text` makes its fields of a text without JSON.

    Raises ModelError that names the first thing wrong with it.
    """
    content = content.rpartition("</think>")[2]  # some servers put the reasoning in front
    try:
        if from_text is not None and not _JSON.search(content):
            return reply_type.model_validate(from_text(content))
        # Servers without a JSON mode put prose or code fences around the object.
        return reply_type.model_validate_json(content[content.find("{") : content.rfind("}") + 1])
    except ValidationError as error:
        raise ModelError(f"the reply is invalid: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """The place and kind of the first problem, without the input, which may be megabytes long."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"
