"""What the synchronous and the asynchronous client share: one call of one SQL function, and its result rows."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.errors import Diagnostic
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import Jsonb

from .errors import InvalidValueError

logger = logging.getLogger("agent_memory")

Row = TypeVar("Row")


class TimeLoader(TimestamptzLoader):
    """Loads a time that datetime cannot hold, before the year 1 or after 9999, as None: one such row breaks no list."""

    def load(self, data: Buffer) -> datetime | None:  # type: ignore[override]
        """Return the time, or None."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return None


@lru_cache(maxsize=512)
def statement(verb: str, function: str, names: tuple[str, ...]) -> bytes:
    """Compose e.g. ``select * from memory.sweep(batch_size => %(batch_size)s)``."""
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    template = {"select": sql.SQL("select * from {}({})"), "call": sql.SQL("call {}({})")}[verb]
    return template.format(sql.Identifier("memory", function), arguments).as_bytes(None)


def parameters(required: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of a call and make them sendable.

    An optional argument that is None is left out, so that the function's own default applies.

    Raises:
        InvalidValueError: an argument holds something PostgreSQL cannot store, or is of an unusable Python type.
    """
    given = {**required, **{name: value for name, value in optional.items() if value is not None}}
    return {name: _parameter(name, value) for name, value in given.items()}


def as_jsonb(value: Any) -> Jsonb | None:
    """Mark an argument as jsonb; times and UUIDs inside it become text."""
    return None if value is None else Jsonb(value, dumps=_dumps)


def as_vector(name: str, value: Sequence[float] | None) -> str | None:
    """Return the text form of a vector argument; its type in the function's signature does the rest.

    Raises:
        InvalidValueError: it is not a sequence of finite numbers.
    """
    if value is None:
        return None
    try:
        if isinstance(value, str):
            raise TypeError
        numbers = [float(number) for number in value]
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name} must be a sequence of numbers", hint="Pass the model's floats.") from None
    if not all(map(math.isfinite, numbers)):
        raise InvalidValueError(f"{name} must not contain NaN or infinity", hint="Pass the model's floats.")
    return "[" + ",".join(map(repr, numbers)) + "]"


def check_json(path: str, value: object) -> None:
    """Refuse what cannot be stored as jsonb, naming where it is.

    Raises:
        InvalidValueError: a NUL character, NaN, infinity, a type that JSON does not have, or hundreds of levels.
    """
    try:
        _check_json(path, value)
    except RecursionError:
        raise InvalidValueError(f"{path} is nested too deeply", hint="Store it as text, or flatten it.") from None


def records(row_type: type[Row], rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Turn result rows into dataclasses. A column that a newer database added is ignored."""
    names = [field.name for field in fields(row_type)]  # type: ignore[arg-type]
    return [row_type(**{name: row[name] for name in names if name in row}) for row in rows]


def log_notice(diagnostic: Diagnostic) -> None:
    """Hand a message of the server to Python's logging."""
    level = logging.WARNING if diagnostic.severity_nonlocalized == "WARNING" else logging.INFO
    logger.log(level, "%s", diagnostic.message_primary)


def _parameter(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, float):
        # Typed as double precision it would not match a real argument; as text it takes the argument's own type.
        return str(float(value))
    if isinstance(value, Jsonb):
        check_json(name, value.obj)
        return value
    if isinstance(value, (list, tuple)):
        return [_text(f"{name}[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, datetime) and value.replace(tzinfo=None) == datetime.max:
        return "infinity"
    if value is None or isinstance(value, (int, date, timedelta, UUID)):
        return value
    raise InvalidValueError(
        f"{name} cannot be a {type(value).__name__}", hint="The method's signature names the types it takes."
    )


def _check_json(path: str, value: object) -> None:
    if isinstance(value, str):
        _text(path, value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check_json(f"{path}.{_text(f'a key of {path}', key)}", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_json(f"{path}[{index}]", item)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidValueError(f"{path} is {value}, which JSON does not know", hint="Use null instead.")
    elif not (value is None or isinstance(value, (int, float, date, UUID))):
        raise InvalidValueError(f"{path} cannot be a {type(value).__name__}", hint="Use the types JSON has.")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValueError(f"{name} must be text, not {type(value).__name__}", hint="Convert it with str() first.")
    if "\0" in value:
        raise InvalidValueError(
            f"{name} contains a NUL character", hint="PostgreSQL text cannot hold NUL; remove or replace it."
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidValueError(
                f"{name} contains half a surrogate pair at position {error.start}",
                hint='The text was cut or decoded wrongly; value.encode("utf-8", "replace").decode() repairs it.',
            ) from None
    return value


def _dumps(value: Any) -> str:
    return json.dumps(value, default=_as_json)


def _as_json(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
