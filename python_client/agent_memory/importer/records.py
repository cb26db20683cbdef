"""The records of all formats: messages, memories, and bad records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from .._text import storable
from ..calls.arguments import check_json
from ..errors import AgentMemoryError, InvalidValueError


class ImportFileError(AgentMemoryError):
    """A record cannot be imported; the message names the file and the place."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as ``add_messages`` takes it, or without a thread a memory as ``add_memories`` takes it.

    Attributes:
        place: where it stands in the file.
        user_id: whose it is.
        thread_id: the thread of a message; None for a memory.
        given: the message or the memory.
    """

    place: str
    user_id: str
    thread_id: str | None
    given: dict[str, Any]


Record = Incoming | ImportFileError


@dataclass(frozen=True, slots=True)
class Source:
    """The file, and the caller's values for records that lack them.

    Attributes:
        path: what errors call the file.
        user_id: the user of records that name none.
        thread_id: the thread of messages that name none.
    """

    path: str
    user_id: str | None
    thread_id: str

    def bad(self, place: str, problem: str, hint: str | None = None) -> ImportFileError:
        """Return the error for a record that cannot be read."""
        return ImportFileError(f"{self.path}, {place}: {problem}", hint=hint)

    def no_user(self, place: str) -> ImportFileError:
        """Return the error for a record that names no user where the caller has named none."""
        return self.bad(place, "no user_id", "Name the user of records that name none with --user.")

    def message(self, place: str, user_id: str, thread_id: str, message: dict[str, Any]) -> Record:
        """Return a message, or the error when it holds what the database cannot store."""
        try:
            check_json("message", message)
        except InvalidValueError as error:
            return self.bad(place, error.message, error.hint)
        return Incoming(place, user_id, thread_id, message)


def shown(path: Path | str) -> str:
    """Return how errors name a file or a database: without the user, the password and the options."""
    return re.sub(r"://[^@/]*@", "://", str(path).partition("?")[0]) if "://" in str(path) else str(path)


def repaired(value: Any) -> Any:
    """Return a value of another program's export with all its texts storable; who gets an export cannot mend it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {repaired(key): repaired(item) for key, item in value.items()}
    if isinstance(value, list):
        return [repaired(item) for item in value]
    return value


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have a value: most are null or empty lists."""
    return {key: value for key, value in values.items() if value is not None and value not in ("", [], {})}


def time_of(value: object) -> datetime | None:
    """Read a time: seconds since 1970, or ISO 8601, which is UTC where it names no zone. None for none."""
    if value is None or value == "":
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, timezone.utc)
        except (OverflowError, OSError) as error:
            raise ValueError(f"{value} is no time: {error}") from None
    if isinstance(value, str):
        # Python 3.10 reads neither "Z" nor fractions other than of 3 or 6 digits.
        try:
            time = TypeAdapter(datetime).validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{value!r}: {error.errors(include_url=False)[0]['msg']}") from None
        return time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
    raise ValueError(f"{value!r} is no time")


def with_times(records: Iterator[Record]) -> Iterator[Record]:
    """Yield the messages of a conversation; those without a time get that of the message before."""
    latest: datetime | None = None
    for record in records:
        if isinstance(record, Incoming):
            latest = record.given.get("created_at") or latest
            if latest is not None:
                record.given["created_at"] = latest
        yield record
