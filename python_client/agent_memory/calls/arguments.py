"""Checks the arguments of a client's method, and converts each to what psycopg sends."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from ..errors import InvalidValueError, LimitExceededError
from ..vectors import HasNumbers, HasToNumbers

_FAR_TOO_LONG = 1 << 24
"""Characters; the longest text of a call has 10 MiB (docs/limits.md), and an artifact goes in pieces."""

Sender = Callable[[str, Any], Any]
"""Takes an argument's name and value, and returns what psycopg sends, or raises InvalidValueError for a wrong value."""


def as_json(argument: Any) -> Any:
    """Return what a sender made of an argument in the types that JSON has; the database takes them, too."""
    return json.loads(_dumps(argument.obj if isinstance(argument, Jsonb) else argument))


def check_json(path: str, value: object) -> None:
    """Refuse what cannot be stored as jsonb with an InvalidValueError, naming where it is."""
    try:
        _check_json(path, value)
    except RecursionError:
        raise InvalidValueError(f"{path} is nested too deeply", hint="Store it as text, or flatten it.") from None


def long_text(name: str, value: object) -> str:
    """Send a text of any length."""
    if not isinstance(value, str):
        _refuse_type(name, "text", value)
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


def text(name: str, value: object) -> str:
    """Send a text."""
    sent = long_text(name, value)
    _check_length(name, sent)
    return sent


def _check_length(name: str, value: object) -> None:
    """Refuse a text beyond what any function takes. The database names the limits; sending it 100 MB takes seconds."""
    if isinstance(value, str) and len(value) > _FAR_TOO_LONG:
        raise LimitExceededError(
            f"{name}: has {len(value)} characters, which is more than any call takes",
            hint="Split it, or keep it with store_artifact(), which takes 200 MiB, and a reference here.",
        )


def whole(name: str, value: object) -> str:
    """Send a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        _refuse_type(name, "a whole number", value)
    if not -(2**63) <= value < 2**63:
        raise InvalidValueError(f"{name} is out of range", hint="No number of this API has more than 64 bits.")
    # psycopg would choose a type by the size of the number, and PostgreSQL takes no bigint for an int argument.
    return str(int(value))


def number(name: str, value: object) -> str:
    """Send a number."""
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        _refuse_type(name, "a number", value)
    try:
        # PostgreSQL takes no double precision for a real argument; a text takes the type of the argument.
        return str(float(value))
    except OverflowError:
        raise InvalidValueError(f"{name} is out of range", hint="Pass a float.") from None


def flag(name: str, value: object) -> bool:
    """Send True or False."""
    if not isinstance(value, bool):
        _refuse_type(name, "True or False", value)
    return value


def moment(name: str, value: object) -> datetime | str:
    """Send a time."""
    if not isinstance(value, datetime):
        _refuse_type(name, "a datetime", value)
    if value.replace(tzinfo=None) == datetime.max:
        return "infinity"
    if value.utcoffset() is None:
        # The server would read the time in the session's time zone, which may differ from that of this process.
        raise InvalidValueError(
            f"{name} has no time zone",
            hint=f"Pass {name}.astimezone() for local time, or {name}.replace(tzinfo=timezone.utc) for UTC.",
        )
    return value


def duration(name: str, value: object) -> timedelta:
    """Send an interval."""
    if not isinstance(value, timedelta):
        _refuse_type(name, "a timedelta", value)
    return value


def uuid(name: str, value: object) -> UUID:
    """Send an id."""
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            raise InvalidValueError(f"{name} is not a UUID", hint="Pass an id as the database gave it.") from None
    if not isinstance(value, UUID):
        _refuse_type(name, "a UUID", value)
    return value


def texts(name: str, value: object) -> list[str]:
    """Send a list of texts."""
    return [long_text(path, item) for path, item in _items(name, "a list of texts", value)]


def wholes(name: str, value: object) -> str:
    """Send a list of whole numbers."""
    # As a text, which takes the type of the argument: psycopg would choose one by the size of the largest number.
    return f"{{{','.join(whole(path, item) for path, item in _items(name, 'a list of whole numbers', value))}}}"


def uuids(name: str, value: object) -> list[UUID]:
    """Send a list of ids."""
    return [uuid(path, item) for path, item in _items(name, "a list of ids", value)]


def blobs(name: str, value: object) -> list[bytes]:
    """Send a list of bytes."""
    for path, item in _items(name, "a list of bytes", value):
        if not isinstance(item, bytes):
            _refuse_type(path, "bytes", item)
    return list(value)  # type: ignore[call-overload, no-any-return]


class Written(Jsonb):
    """An object whose owner checks and writes its JSON."""


def json_object(name: str, value: object) -> Jsonb:
    """Send an object."""
    if isinstance(value, Written):
        return value
    if not isinstance(value, Mapping):
        _refuse_type(name, "a dict", value)
    check_json(name, value)
    return Jsonb(value, dumps=_dumps)


def json_objects(name: str, value: object) -> Jsonb:
    """Send a list of objects."""
    for path, item in _items(name, "a list of dicts", value):
        if not isinstance(item, Mapping):
            _refuse_type(path, "a dict", item)
        _check_length(f"{path}.content", item.get("content"))
        if isinstance(item.get("created_at"), datetime):
            moment(f"{path}.created_at", item["created_at"])
        check_json(path, item)
    return Jsonb(value, dumps=_dumps)


class Vector(bytes):
    """An embedding as pgvector receives it in binary: the number of dimensions, an unused field, 4 bytes a number."""


class VectorDumper(Dumper):
    """Sends an embedding. Without an oid the server takes the type of the argument, in whichever schema pgvector is."""

    format = Format.BINARY

    def dump(self, obj: Vector) -> Vector:
        """Return what is sent."""
        return obj


def vector(name: str, value: Any) -> Vector:
    """Send an embedding."""
    try:
        if isinstance(value, HasToNumbers):
            value = value.to_list()
        elif isinstance(value, HasNumbers):
            value = value.tolist()
        elif isinstance(value, (str, bytes, Mapping)):
            raise TypeError
        numbers = [float(number) for number in value]
        packed = Vector(struct.pack(f">HH{len(numbers)}f", len(numbers), 0, *numbers))
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name} must be a sequence of numbers", hint="Pass the model's floats.") from None
    except (OverflowError, struct.error):
        raise InvalidValueError(
            f"{name} is out of range", hint="Pass at most 16,000 numbers, each of which a float of 4 bytes can hold."
        ) from None
    if not all(map(math.isfinite, numbers)):
        raise InvalidValueError(f"{name} must not contain NaN or infinity", hint="Pass the model's floats.")
    return packed


def nullable(send: Sender) -> Sender:
    """Return how a required argument is sent that may be None."""
    return lambda name, value: None if value is None else send(name, value)


class Optional(NamedTuple):
    """An argument that is not sent where it is None or the default of the function.

    The function's own default applies then, and an older database need not know the argument.
    """

    send: Sender
    default: Any = None


def _items(name: str, wanted: str, value: object) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list, each after its name."""
    if not isinstance(value, (list, tuple)):
        _refuse_type(name, wanted, value)
    for index, item in enumerate(value):
        yield f"{name}[{index}]", item


def _refuse_type(name: str, wanted: str, value: object) -> NoReturn:
    given = "None" if value is None else type(value).__name__
    raise InvalidValueError(
        f"{name} must be {wanted}, not {given}", hint="The method's signature names the types it takes."
    )


def _check_json(path: str, value: object) -> None:
    # What is most common comes first: whether something is a Mapping costs more than all the other questions.
    if value is None or isinstance(value, int):
        return
    if isinstance(value, str):
        long_text(path, value)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_json(f"{path}[{index}]", item)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidValueError(f"{path} is {value}, which JSON does not know", hint="Use null instead.")
    elif isinstance(value, (dict, Mapping)):
        for key, item in value.items():
            _check_json(f"{path}.{long_text(f'a key of {path}', key)}", item)
    elif not isinstance(value, (date, UUID)):
        raise InvalidValueError(f"{path} cannot be a {type(value).__name__}", hint="Use the types JSON has.")


def _dumps(value: Any) -> str:
    return json.dumps(value, default=_as_json)


def _as_json(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return dict(value) if isinstance(value, Mapping) else str(value)
