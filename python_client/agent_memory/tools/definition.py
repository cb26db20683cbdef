"""What a tool is: its arguments with their checks, the method of the client that it calls, and its result.

A tool is a class whose fields are the arguments, whose docstring is the description that a model reads, and whose name
in snake case is the tool's name. OpenAI tool definitions, MCP tools and the checks of a call are all made of it.
"""

from __future__ import annotations

import copy
import inspect
import re
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from .._extras import needs
from .._problem import first_of
from ..errors import AgentMemoryError, InvalidValueError, NotFoundError

with needs("worker", "this module"):
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema

Effect = Literal["reads", "adds", "changes", "deletes"]


@dataclass(frozen=True)
class Scope:
    """For whom tools work. The application says it, and no argument of a tool reaches beyond it.

    Attributes:
        user_id: the user.
        agent_id: the agent whose memories are written and read; None for the database's default agent when
            writing, and for all agents of the user when reading.
        thread_id: the thread that is going on, if there is one: what is stored belongs to it.
    """

    user_id: str
    agent_id: str | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        """Check the user here, because a model could not mend a wrong one.

        Raises:
            InvalidValueError: there is no user.
        """
        if not isinstance(self.user_id, str) or not self.user_id.strip():
            raise InvalidValueError("user_id: must not be empty", hint="Name the user that the tools work for.")


class Result(BaseModel):
    """What a tool returns."""

    def as_json(self) -> str:
        """Return the result as JSON without what is unknown."""
        return self.model_dump_json(exclude_none=True)


class Found(Result):
    """What a tool found, which may be less than there is."""

    note: str | None = Field(default=None, description="What is missing from this answer, and what to do about it.")


class Tool(BaseModel):
    """The arguments of one call; the subclass is the tool."""

    model_config = ConfigDict(extra="forbid")

    title: ClassVar[str]
    """The name that people see."""
    method: ClassVar[str]
    """The method of Memory and AsyncMemory that the tool calls."""
    result: ClassVar[type[Result]]
    """What the tool returns."""
    effect: ClassVar[Effect] = "reads"
    is_listed: ClassVar[bool] = True
    """Whether models are shown the tool unless it is asked for by name. One that is not is called as the others."""
    sent_as: ClassVar[dict[str, str]] = {}
    """The method's names of arguments that have another name there."""
    scoped: ClassVar[tuple[str, ...]] = ()
    """What of the scope the method takes besides the user."""
    fixed: ClassVar[dict[str, Any]] = {}
    """What the method is always passed."""
    absent_hint: ClassVar[str | None] = None
    """What helps a model that named something which the user does not have."""

    @classmethod
    def tool_name(cls) -> str:
        """Return the name that models call."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def tool_description(cls) -> str:
        """Return the description that models read, as one paragraph."""
        return " ".join(inspect.cleandoc(cls.__doc__ or "").split())

    @classmethod
    def arguments_schema(cls, *, strict: bool = False) -> dict[str, Any]:
        """Return the JSON schema of the arguments.

        Args:
            strict: as OpenAI's strict mode wants it: every argument is required, and null means left out.
        """
        return _schema(cls, _Strict if strict else _Lenient)

    @classmethod
    def result_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the result, in which nothing that is unknown is stated."""
        return _schema(cls.result, _Lenient)

    @classmethod
    def checked(cls, arguments: str | bytes | dict[str, Any] | None) -> Tool:
        """Return the arguments of a call, checked.

        Args:
            arguments: as the model gave them, an object or its JSON.

        Raises:
            InvalidValueError: they are not what the tool takes; the hint lists what it takes.
        """
        try:
            if isinstance(arguments, (str, bytes)):
                return cls.model_validate_json(arguments or "{}")
            return cls.model_validate({} if arguments is None else arguments)
        except ValidationError as error:
            raise cls._refusal(error) from None

    def request(self, scope: Scope) -> dict[str, Any]:
        """Return the arguments of the client's method besides the user.

        Raises:
            InvalidValueError: the scope lacks something that the call leaves out.
        """
        given = {self.sent_as.get(name, name): getattr(self, name) for name in type(self).model_fields}
        return given | {name: getattr(scope, name) for name in self.scoped} | self.fixed

    @abstractmethod
    def answer(self, found: Any) -> Result:
        """Return the result for what the client's method returned."""

    @classmethod
    def explain(cls, error: AgentMemoryError) -> None:
        """Make an error of the client's method speak of the tool's arguments."""
        for name, sent in cls.sent_as.items():
            error.message = re.sub(rf"^{sent}\b", name, error.message)
        if isinstance(error, NotFoundError) and cls.absent_hint is not None:
            error.hint = cls.absent_hint

    @classmethod
    def _refusal(cls, error: ValidationError) -> InvalidValueError:
        names = ", ".join(f"{name}{'' if field.is_required() else '?'}" for name, field in cls.model_fields.items())
        hint = f"{cls.tool_name()} takes: {names or 'nothing'} (? marks what may be left out)."
        problem = first_of(error.errors(include_url=False, include_context=False, include_input=False))
        name = problem.argument or "arguments"
        if problem.kind == "extra_forbidden" and name in Scope.__dataclass_fields__:
            hint = f"{name} is fixed, and the tool works for it already. {hint}"
        return InvalidValueError(f"{name}: {problem.said}", hint=hint)


class _Lenient(GenerateJsonSchema):
    """Says nothing twice, to keep the definitions short that every request to a model carries.

    An argument that may be null may as well be left out, so null is not named. Titles repeat the names.
    """

    def field_title_should_be_set(self, _schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


class _Strict(_Lenient):
    """Names every argument as required; one that may be left out may be null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return {"anyOf": [self.generate_inner(schema["schema"]), {"type": "null"}]}

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ARG002
        return True


def _schema(model: type[BaseModel], generator: type[GenerateJsonSchema]) -> dict[str, Any]:
    """Return a schema that the caller may change."""
    return copy.deepcopy(_kept_schema(model, generator))  # type: ignore[arg-type]  # classes are hashable


@cache  # all schemas take 15 ms to make, and each request to a model carries them
def _kept_schema(model: type[BaseModel], generator: type[GenerateJsonSchema]) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=generator)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    if issubclass(model, Tool):
        schema.pop("description", None)  # it is the tool's, and stands beside the schema
    return schema


__all__ = ["Effect", "Result", "Scope", "Tool"]
