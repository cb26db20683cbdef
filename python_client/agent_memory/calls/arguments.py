"""Checks the arguments of a client's method, and converts each to what psycopg sends."""

from __future__ import annotations

import inspect
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from ..choices import Role, Source
from ..errors import InvalidValueError, LimitExceededError
from ..vectors import Embedding, HasNumbers, HasToNumbers
from .arrays import Blobs, BlobsDumper, Texts, TextsDumper
from .pieces import LongText

_FAR_TOO_LONG = 1 << 24
"""Characters; the longest text of a call has 10 MiB (docs/limits.md), and an artifact goes in pieces."""

Sender = Callable[[str, Any], Any]
"""Takes an argument's name and value, and returns what psycopg sends, or None for nothing.

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
    with suppress(RecursionError):  # it takes more of the stack than _check_json()
        if _is_json(value):
            return
    try:
        _check_json(path, value)
    except RecursionError:
        raise InvalidValueError(f"{path} is nested too deeply", hint="Store it as text, or flatten it.") from None


def _is_text(value: object) -> bool:
    """Whether PostgreSQL can store a value as text, as ``_text`` would say; it says no more, in a third of the time."""
    try:
        return type(value) is str and "\0" not in value and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def _text(name: str, value: object) -> str:
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


def _sent_whole(name: str, value: object) -> str:
    text = _text(name, value)
    _check_length(name, text)
    return text


def _check_length(name: str, value: object) -> None:
    """Refuse a text beyond what any function takes. The database names the limits; sending it 100 MB takes seconds."""
    if isinstance(value, str) and len(value) > _FAR_TOO_LONG:
        raise LimitExceededError(
            f"{name}: has {len(value)} characters, which is more than any call takes",
            hint="Split it, or keep it with store_artifact(), which takes 200 MiB, and a reference here.",
        )


def _whole_number(name: str, value: object) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        _refuse_type(name, "a whole number", value, _as_number(int, name, value))
    if not -(2**63) <= value < 2**63:
        raise InvalidValueError(f"{name} is out of range", hint="No number of this API has more than 64 bits.")
    # psycopg would choose a type by the size of the number, and PostgreSQL takes no bigint for an int argument.
    return str(int(value))


def _number(name: str, value: object) -> str:
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        _refuse_type(name, "a number", value, _as_number(float, name, value))
    try:
        # PostgreSQL takes no double precision for a real argument; a text takes the type of the argument.
        return str(float(value))
    except OverflowError:
        raise InvalidValueError(f"{name} is out of range", hint="Pass a float.") from None


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        _refuse_type(name, "True or False", value)
    return value


def _time(name: str, value: object) -> datetime | str:
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


def _duration(name: str, value: object) -> timedelta:
    if not isinstance(value, timedelta):
        seconds = f"timedelta(seconds={name})"
        _refuse_type(name, "a timedelta", value, seconds if isinstance(value, (int, float)) else None)
    return value


def _uuid(name: str, value: object) -> UUID:
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            raise InvalidValueError(f"{name} is not a UUID", hint="Pass an id as the database gave it.") from None
    if not isinstance(value, UUID):
        _refuse_type(name, "a UUID", value)
    return value


def _texts(name: str, value: object) -> Texts:
    texts = Texts(_listed(name, "a list of texts", str, value))
    if not all(map(_is_text, texts)):
        for index, item in enumerate(texts):
            _text(f"{name}[{index}]", item)
    return texts


def _whole_numbers(name: str, value: object) -> str:
    # As a text, which takes the type of the argument: psycopg would choose one by the size of the largest number.
    listed = enumerate(_listed(name, "a list of whole numbers", int, value))
    return f"{{{','.join(_whole_number(f'{name}[{index}]', item) for index, item in listed)}}}"


def _uuids(name: str, value: object) -> list[UUID]:
    return [_uuid(f"{name}[{index}]", item) for index, item in enumerate(_listed(name, "a list of ids", UUID, value))]


def _blobs(name: str, value: object) -> Blobs:
    listed = _listed(name, "a list of bytes", bytes, value)
    for index, item in enumerate(listed):
        if not isinstance(item, bytes):
            _refuse_type(f"{name}[{index}]", "bytes", item)
    return Blobs(listed)


class Written(Jsonb):
    """An object whose owner checks and writes its JSON."""


def _object(name: str, value: object) -> Jsonb:
    if isinstance(value, Written):
        return value
    if not isinstance(value, Mapping):
        _refuse_type(name, "a dict", value, f"json.loads({name})" if isinstance(value, str) else None)
    check_json(name, value)
    return Jsonb(value, dumps=_dumps)


def _objects(name: str, value: object) -> Jsonb:
    for index, item in enumerate(_listed(name, "a list of dicts", Mapping, value)):
        path = f"{name}[{index}]"
        if not isinstance(item, Mapping):
            instead = f"{path}.model_dump()" if hasattr(item, "model_dump") else None
            if name == "messages" and isinstance(item, str):
                instead = f'{{"role": "user", "content": {path}}}'
            _refuse_type(path, "a dict", item, instead)
        _check_length(f"{path}.content", item.get("content"))
        if isinstance(item.get("created_at"), datetime):
            _time(f"{path}.created_at", item["created_at"])
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


DUMPERS: dict[type, type[Dumper]] = {Vector: VectorDumper, Texts: TextsDumper, Blobs: BlobsDumper}
"""How psycopg sends what senders return in types of their own."""


def _vector(name: str, value: Any) -> Vector:
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


_SENDERS: dict[object, Sender] = {
    str: _sent_whole,
    int: _whole_number,
    float: _number,
    bool: _flag,
    datetime: _time,
    timedelta: _duration,
    UUID | str: _uuid,
    Sequence[str]: _texts,
    Sequence[Role]: _texts,
    Sequence[Source]: _texts,
    Sequence[int]: _whole_numbers,
    Sequence[UUID | str]: _uuids,
    Sequence[bytes]: _blobs,
    Embedding: _vector,
    Mapping[str, Any]: _object,
    Sequence[Mapping[str, Any]]: _objects,
    LongText: _text,
}


def senders_of(method: Callable[..., Any]) -> dict[str, tuple[Sender, bool]]:
    """Return for each argument of a method, by its annotation, how to send a value, and whether one is required."""
    arguments = inspect.signature(method).parameters
    return {
        name: (
            _sender(hint, arguments[name].default),
            arguments[name].default is inspect.Parameter.empty,
        )
        for name, hint in get_type_hints(method).items()
        if name in arguments
    }


def _sender(hint: object, default: object) -> Sender:
    """Return how an argument of this type is sent; the choices of a Literal are texts, which the database checks."""
    takes_none, hint = NoneType in get_args(hint), _without_none(hint)
    kinds = get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)
    send = _sent_whole if any(get_origin(kind) is Literal for kind in kinds) else _SENDERS[hint]
    if default is inspect.Parameter.empty and takes_none:
        return lambda name, value: None if value is None else send(name, value)
    if default in (None, inspect.Parameter.empty):
        return send
    sent_default = send("default", default)

    def send_unless_default(name: str, value: object) -> Any:
        sent = send(name, value)
        return None if sent == sent_default else sent

    return send_unless_default


def _without_none(hint: Any) -> object:
    """Return e.g. ``str`` for ``str | None``."""
    if get_origin(hint) not in (UnionType, Union):
        return hint
    first, *others = (kind for kind in get_args(hint) if kind is not NoneType)
    for kind in others:
        first = first | kind
    return first


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


def _is_json(value: Any) -> bool:
    """Whether a value has only types that JSON has, and can be stored. What has others, ``_check_json`` looks at."""
    kind = type(value)
    if kind is str:
        return (value.isascii() and "\0" not in value) or _is_text(value)
    if kind is dict:
        return not any(type(key) is not str or not _is_json(key) or not _is_json(item) for key, item in value.items())
    if kind is list:
        return all(map(_is_json, value))
    return value is None or kind is int or kind is bool or (kind is float and math.isfinite(value))


def _check_json(path: str, value: object) -> None:
    # What is most common comes first: whether something is a Mapping costs more than all the other questions.
    if value is None or isinstance(value, int):
        return
    if isinstance(value, str):
        _text(path, value)
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
            _check_json(f"{path}.{_text(f'a key of {path}', key)}", item)
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
