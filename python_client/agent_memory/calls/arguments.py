"""Checks the arguments of a client's method, and converts each to what psycopg sends."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""Takes an argument's name and value, and returns what psycopg sends.

Raises InvalidValueError for a wrong value.
"""


def as_json(argument: Any) -> Any:
    """Return what a sender made of an argument in the types that JSON has; the database takes them, too."""
    return json.loads(_dumps(argument.obj if isinstance(argument, Jsonb) else argument))


def check_json(path: str, value: object) -> None:
    """Refuse what cannot be stored as jsonb, naming where it is.

    Raises:
        InvalidValueError: a NUL character, NaN, infinity, a type that JSON does not have, or hundreds of levels.
    """
    try:
        _check_json(path, value)
    except RecursionError:
        raise InvalidValueError(f"{path} is nested too deeply", hint="Store it as text, or flatten it.") from None


def long_text(name: str, value: object) -> str:
    """Send a text of any length."""
    if not isinstance(value, str):
        _refuse_type(name, "text", value, f"{name}.decode()" if isinstance(value, bytes) else _as_text(name, value))
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
        _refuse_type(name, "a whole number", value, _as_number(int, name, value))
    if not -(2**63) <= value < 2**63:
        raise InvalidValueError(f"{name} is out of range", hint="No number of this API has more than 64 bits.")
    # psycopg would choose a type by the size of the number, and PostgreSQL takes no bigint for an int argument.
    return str(int(value))


def number(name: str, value: object) -> str:
    """Send a number."""
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        _refuse_type(name, "a number", value, _as_number(float, name, value))
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
        is_date = isinstance(value, date)
        aware = f"datetime.combine({name}, time(), timezone.utc)" if is_date else f"datetime.fromisoformat({name})"
        _refuse_type(name, "a datetime", value, aware if isinstance(value, (str, date)) else None)
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
        seconds = f"timedelta(seconds={name})"
        _refuse_type(name, "a timedelta", value, seconds if isinstance(value, (int, float)) else None)
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
    listed = enumerate(_listed(name, "a list of texts", str, value))
    return [long_text(f"{name}[{index}]", item) for index, item in listed]


def wholes(name: str, value: object) -> str:
    """Send a list of whole numbers."""
    # As a text, which takes the type of the argument: psycopg would choose one by the size of the largest number.
    listed = enumerate(_listed(name, "a list of whole numbers", int, value))
    return f"{{{','.join(whole(f'{name}[{index}]', item) for index, item in listed)}}}"


def uuids(name: str, value: object) -> list[UUID]:
    """Send a list of ids."""
    return [uuid(f"{name}[{index}]", item) for index, item in enumerate(_listed(name, "a list of ids", UUID, value))]


def blobs(name: str, value: object) -> list[bytes]:
    """Send a list of bytes."""
    listed = _listed(name, "a list of bytes", bytes, value)
    for index, item in enumerate(listed):
        if not isinstance(item, bytes):
            _refuse_type(f"{name}[{index}]", "bytes", item)
    return [*listed]


class Written(Jsonb):
    """An object whose owner checks and writes its JSON."""


def json_object(name: str, value: object) -> Jsonb:
    """Send an object."""
    if isinstance(value, Written):
        return value
    if not isinstance(value, Mapping):
        _refuse_type(name, "a dict", value, f"json.loads({name})" if isinstance(value, str) else None)
    check_json(name, value)
    return Jsonb(value, dumps=_dumps)


def json_objects(name: str, value: object) -> Jsonb:
    """Send a list of objects."""
    for index, item in enumerate(_listed(name, "a list of dicts", Mapping, value)):
        path = f"{name}[{index}]"
        if not isinstance(item, Mapping):
            instead = f"{path}.model_dump()" if hasattr(item, "model_dump") else None
            if name == "messages" and isinstance(item, str):
                instead = f'{{"role": "user", "content": {path}}}'
            _refuse_type(path, "a dict", item, instead)
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


def _listed(name: str, wanted: str, single: type, value: object) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        instead = None
        if isinstance(value, single):
            instead = f"[{name}]"
        elif isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
            instead = f"list({name})"
        _refuse_type(name, wanted, value, instead)
    return value


def _as_text(name: str, value: object) -> str | None:
    """Return e.g. ``str(user_id)`` for what may be an id; None for other values, which are probably misplaced."""
    return f"str({name})" if isinstance(value, (int, UUID)) and not isinstance(value, bool) else None


def _as_number(kind: type[int] | type[float], name: str, value: Any) -> str | None:
    """Return e.g. ``int(row_limit)``, unless that fails, loses a fraction, or gives a value that is refused."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return None
    try:
        number = kind(value)
        works = math.isfinite(number) and (kind is float or isinstance(value, str) or number == value)
    except (TypeError, ValueError, OverflowError):
        return None
    return f"{kind.__name__}({name})" if works else None


def _refuse_type(name: str, wanted: str, value: object, instead: str | None = None) -> NoReturn:
    given = "None" if value is None else type(value).__name__
    if value is None:
        hint = f"Pass {wanted}: {name} must not be None."
    elif instead is None:
        hint = "The method's signature names the types it takes."
    else:
        hint = f"Pass {instead}."
    raise InvalidValueError(f"{name} must be {wanted}, not {given}", hint=hint)


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
            if not isinstance(key, str):
                _refuse_type(f"a key of {path}", "text", key)
            _check_json(f"{path}.{long_text(f'a key of {path}', key)}", item)
    elif not isinstance(value, (date, UUID)):
        raise InvalidValueError(f"{path} cannot be a {type(value).__name__}", hint="Use the types JSON has.")


def _dumps(value: Any) -> str:
    return json.dumps(value, default=_as_json)


def _as_json(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
