"""The fields and types of replies, the JSON schemas that ask for them, and their check.

This module imports pydantic, so modules of jobs/ import it within the function that returns the type of their reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import from_json

from ..errors import ModelError

# The members that a schema may have in the strict mode of every provider. Pydantic checks all the rest when the reply
# is there.
_SCHEMA_KEYWORDS = ("type", "enum", "const")
# The members that a server enforces which writes replies by a grammar. A length beyond the limit makes the grammar too
# large for some; a list without a limit, or a sentence of a small model, may go on until the reply is cut.
_BOUNDS = ("maxLength", "maxItems", "minItems", "minimum", "maximum")
_MOST_CHARACTERS = 1000
_MOST_ITEMS = 50
_MOST_NUMBERS = 10
"""A small model counts on through all messages."""
_EVIDENCE = ("seqs", "numbers", "number")
"""What a reply rests on, which stands first in an object: a model writes the rest with it in view."""
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


def short(characters: int) -> Any:
    """How long a text is at most where a server enforces it. A longer text is no error."""
    return Field(json_schema_extra={"maxLength": characters})


Reply = TypeVar("Reply", bound=BaseModel)


def _or_as_it_is(item: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """The item of a list, or None in place of one that PostgreSQL cannot store."""
    try:
        return check(item)
    except ValidationError:
        return None if "\\u0000" in json.dumps(item) else item


def each_by_itself(kind: Any) -> Any:
    """A list whose items are judged by memory.complete_job() where they are not of this kind: one loses no others."""
    return list[Annotated[kind, WrapValidator(_or_as_it_is)]]


def reply_object(name: str, /, **fields: Any) -> type[BaseModel]:
    """A JSON object of a reply: for each field its type, or a pair of its type and its default."""
    given: Any = {key: field if isinstance(field, tuple) else (field, ...) for key, field in fields.items()}
    reply: type[BaseModel] = create_model(name, **given)
    return reply


def without_references(schema: Any, definitions: dict[str, Any]) -> Any:
    """A JSON schema with its definitions in the places that refer to them."""
    if isinstance(schema, list):
        return [without_references(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    target = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else {}
    parts = {**target, **schema}.items()
    return {name: without_references(part, definitions) for name, part in parts if name not in ("$ref", "$defs")}


def of_schema(schema: dict[str, Any]) -> Any:
    """The type of a value that obeys a JSON schema, within what `memory._schema_problem()` lets a policy have."""
    if "const" in schema or "enum" in schema:
        return Literal[tuple(schema.get("enum", [schema.get("const")]))]
    if "anyOf" in schema:
        return Union[tuple(map(of_schema, schema["anyOf"]))]  # noqa: UP007  (of a number that is not known here)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return of_schema({"anyOf": [{**schema, "type": each} for each in kind]})
    if kind == "array":
        items: Any = of_schema(schema["items"]) if "items" in schema else Annotated[str, Storable]
        return Annotated[list[items], Field(min_length=schema.get("minItems"), max_length=schema.get("maxItems"))]
    if kind == "object":
        required = schema.get("required", ())
        return reply_object("Fields", **{
            name: of_schema(field) if name in required else (of_schema(field) | None, None)
            for name, field in schema.get("properties", {}).items()
        })  # fmt: skip
    if kind == "string":
        pattern = re.compile(schema["pattern"]) if "pattern" in schema else None
        limits = StringConstraints(
            min_length=schema.get("minLength"), max_length=schema.get("maxLength"), pattern=pattern
        )
        return Annotated[str, limits, Storable]
    if kind in ("number", "integer"):
        names = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
        names["multipleOf"] = "multiple_of"
        given: Any = {name: schema[keyword] for keyword, name in names.items() if keyword in schema}
        number: Any = float if kind == "number" else int
        return Annotated[number, Field(**given)]
    return bool if kind == "boolean" else None


@lru_cache(maxsize=64)
def strict_schema(
    reply_type: type[BaseModel], *, with_bounds: bool = False, seqs: tuple[int, int] | None = None
) -> dict[str, Any]:
    """The JSON schema of a reply within the limits of strict mode: no references, every property required.

    With bounds it also says how long texts and lists may be, which strict mode does not allow, and with `seqs` between
    which numbers the seqs of messages are: a small model otherwise names messages that nobody wrote.
    """
    schema = reply_type.model_json_schema()
    definitions = schema.get("$defs", {})

    def strict(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            return strict(definitions[node["$ref"].rpartition("/")[2]])
        kept = {keyword: node[keyword] for keyword in _SCHEMA_KEYWORDS if keyword in node}
        if with_bounds:
            kept |= {keyword: node[keyword] for keyword in _BOUNDS if keyword in node}
            if node.get("type") == "array":
                most = _MOST_NUMBERS if node.get("items", {}).get("type") == "integer" else _MOST_ITEMS
                kept["maxItems"] = min(node.get("maxItems", most), most)
            if node.get("maxLength", 0) > _MOST_CHARACTERS:
                del kept["maxLength"]
        if "anyOf" in node:
            kept["anyOf"] = [strict(choice) for choice in node["anyOf"]]
        if "items" in node:
            kept["items"] = strict(node["items"])
        if "properties" in node:
            names = sorted(node["properties"], key=lambda name: name not in _EVIDENCE)
            kept["properties"] = {name: strict(node["properties"][name]) for name in names}
            if with_bounds and seqs and "seqs" in names:
                kept["properties"]["seqs"]["items"] |= {"minimum": seqs[0], "maximum": seqs[1]}
            kept |= {"required": names, "additionalProperties": False}
        return kept

    return strict(schema)


def whole_part(content: str) -> str:
    """A reply that was cut off, without the entry of a list in which it ends. Raises ValueError where it has none."""
    reply = from_json(content[content.find("{") :], allow_partial=True)
    [*_, last] = reply
    return json.dumps({**reply, last: reply[last][:-1]})


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
        if "{" not in content:
            raise ModelError(
                "the reply is invalid: JSON: it has no object. A model answers so when the task is too hard for it: "
                "name a larger model, or a server that enforces a schema (setting json_mode)"
            )
        # Servers without a JSON mode put prose or code fences around the object.
        return reply_type.model_validate_json(content[content.find("{") : content.rfind("}") + 1])
    except ValidationError as error:
        raise ModelError(f"the reply is invalid: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """The place and kind of the first problem, without the input, which may be megabytes long."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"
