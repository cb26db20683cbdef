"""What a model may reply, as pydantic types, and the JSON schemas that ask for it."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints, ValidationError, create_model

from .errors import ModelError

MAX_SUBJECT_CHARACTERS = 255
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d\d))?")
# What a schema may say in the strict mode of every provider; what else pydantic knows is left to its validation.
_SCHEMA_KEYWORDS = ("type", "enum", "const")


def _storable(text: str) -> str:
    """Refuses what PostgreSQL cannot store as text."""
    if "\0" in text:
        raise ValueError("a NUL character cannot be stored")
    text.encode()  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
    return text


def _event_time(text: str | None) -> str | None:
    """An ISO date, or a time with an offset. A year or a month stands for its first day, a time without offset is UTC.

    Raises ValueError for anything else, without the text, which may be what a user said.
    """
    if text is None or not text.strip():
        return None
    try:
        return _iso_time(text.strip())
    except (ValueError, OverflowError):
        raise ValueError("neither a date nor a time in ISO 8601") from None


def _iso_time(text: str) -> str:
    if part := _PART_OF_A_DATE.fullmatch(text):
        return date(int(part[1]), int(part[2] or 1), 1).isoformat()
    if len(text) == len("2024-05-03"):
        return date.fromisoformat(text).isoformat()
    moment = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).isoformat().replace("+00:00", "Z")


def _distinct(numbers: list[int]) -> list[int]:
    return sorted(set(numbers))


def _several(numbers: list[int]) -> list[int]:
    if len(numbers) < 2:
        raise ValueError("at least two different numbers are needed")
    return numbers


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_storable)]
Share = Annotated[float, Field(ge=0, le=1)]
# Whole numbers up to the largest that every JSON parser keeps.
Whole = Annotated[int, Field(ge=0, le=2**53)]
Seqs = Annotated[list[Whole], Field(min_length=1), AfterValidator(_distinct)]
Numbers = Annotated[list[Whole], AfterValidator(_distinct), AfterValidator(_several)]
Subject = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUBJECT_CHARACTERS),
    AfterValidator(_storable),
    BeforeValidator(lambda subject: subject or "user"),
]
EventTime = Annotated[str | None, AfterValidator(_event_time)]


class Memory(BaseModel):
    """One memory found in a conversation."""

    content: Text
    memory_type: str
    subject: Subject = "user"
    confidence: Share
    importance: Share
    event_time: EventTime = None
    seqs: Seqs


class RollingPoint(BaseModel):
    """One line of a rolling summary."""

    text: Text
    seqs: Seqs


class RollingSummary(BaseModel):
    """The reply to `summarize_thread`."""

    points: list[RollingPoint]


class ThreadSummary(BaseModel):
    """The reply to `compress_thread`."""

    summary: Text
    topics: list[Text] = []
    entities: list[Text] = []
    decisions: list[Text] = []
    questions: list[Text] = []


class UserSummary(BaseModel):
    """The reply to `summarize_user`."""

    summary: Text
    topics: list[Text] = []


class Duplicates(BaseModel):
    """Facts that say the same, and the text of the one among them that says it for all."""

    numbers: Numbers
    content: Text


class Contradiction(BaseModel):
    """Facts that cannot all be true."""

    numbers: Numbers


class Reconciliation(BaseModel):
    """The reply to `reconcile_memories`."""

    duplicates: list[Duplicates]
    contradictions: list[Contradiction]


class Article(BaseModel):
    """An article of the knowledge base and the memories it is made from."""

    title: Text
    content: Text
    numbers: Numbers


class Articles(BaseModel):
    """The reply to `consolidate`."""

    articles: list[Article]


class Score(BaseModel):
    """How well one text answers a query."""

    number: Whole
    score: Share


class Scores(BaseModel):
    """The reply to `rerank`."""

    scores: list[Score]


Reply = TypeVar("Reply", bound=BaseModel)


@lru_cache(maxsize=32)
def memories_of(memory_types: tuple[str, ...]) -> type[BaseModel]:
    """The reply to `extract_memories` where these are the types to choose from."""
    choice: Any = Literal[memory_types]
    memory: Any = create_model("TypedMemory", __base__=Memory, memory_type=(choice, ...))
    return create_model("Memories", memories=(list[memory], ...))


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


def parse_reply(content: str, reply_type: type[Reply]) -> Reply:
    """The reply in the text of a completion. Raises ModelError that names the first thing wrong with it."""
    content = content.rpartition("</think>")[2]  # some servers put the reasoning in front
    try:
        # Servers without a JSON mode put prose or code fences around the object.
        return reply_type.model_validate_json(content[content.find("{") : content.rfind("}") + 1])
    except ValidationError as error:
        raise ModelError(f"the reply is invalid: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """Where and what the first problem is, without the input: it may be megabytes long."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"
