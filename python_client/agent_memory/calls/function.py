"""A SQL function as the clients call it: how its arguments are sent, and what its rows become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from psycopg import AsyncCursor, Cursor
from psycopg.pq import Format
from psycopg.rows import RowMaker

from .arguments import Optional, Sender
from .rows import column_names, record_maker

if TYPE_CHECKING:
    from typing_extensions import LiteralString

T = TypeVar("T")
Rows = Sequence[Any]
Keys = Literal["needed", "wanted"]
"""Whether a function needs a key of secrets, or does without where the role may not mask one."""


@dataclass(frozen=True)
class Result(Generic[T]):
    """What a function returns.

    Attributes:
        read: makes it of the rows.
        row_type: the dataclass of a row; None for tuples.
        verb: how a statement begins: one value needs no store of rows, which took 10,000 instructions of a call.
        format: how values come: in binary where the rows have bytes, which as text are hexadecimal. To load a state of
            700 bytes took 113 in place of 154 µs of the client's CPU and 157 in place of 203 of the server's (2026-11).
    """

    read: Callable[[Rows], T]
    row_type: Any = None
    verb: LiteralString = "select * from"
    format: Format = Format.TEXT


NOTHING: Result[None] = Result(lambda _rows: None, verb="select")


def value(_kind: Callable[..., T]) -> Result[T]:
    """Describe one value."""
    return Result(lambda rows: rows[0][0], verb="select")


def value_or_none(_kind: type[T]) -> Result[T | None]:
    """Describe one value, or None."""
    return Result(lambda rows: rows[0][0], verb="select")


def values(_kind: type[T]) -> Result[list[T]]:
    """Describe a list of values: one of each row, or the array of the only one."""
    return Result(_column)


def row(kind: type[T]) -> Result[T]:
    """Describe one row."""
    return Result(lambda rows: rows[0], kind)


def row_or_none(kind: type[T], format: Format = Format.TEXT) -> Result[T | None]:
    """Describe one row, or no row."""
    return Result(lambda rows: rows[0] if rows else None, kind, format=format)


def rows(kind: type[T], format: Format = Format.TEXT) -> Result[list[T]]:
    """Describe any number of rows."""
    return Result(lambda found: [*found], kind, format=format)


def listed(kind: Callable[[Rows], T], row_type: type) -> Result[T]:
    """Describe rows that become an object of a class of lists."""
    return Result(kind, row_type)


def _column(found: Rows) -> list[Any]:
    flat = [value for row in found for value in row]
    return flat[0] if len(flat) == 1 and isinstance(flat[0], list) else flat


class Function(Generic[T]):
    """A SQL function. functions.py has all of them.

    Args:
        name: its name in the schema.
        result: what it returns.
        keys: whether a call passes the keys of secrets in this process's environment.
        arguments: how each argument is sent, in the order of the function's.
    """

    def __init__(
        self, name: str, result: Result[T], keys: Keys | None = None, /, **arguments: Sender | Optional
    ) -> None:
        self.name = name
        self.keys = keys
        self.verb = result.verb
        self.format = result.format
        self.read = result.read
        self._row_type = result.row_type
        self._required = {name: send for name, send in arguments.items() if not isinstance(send, Optional)}
        self._optional = {
            name: (each.send, None if each.default is None else each.send(name, each.default))
            for name, each in arguments.items()
            if isinstance(each, Optional)
        }

    def row_factory(self, cursor: AsyncCursor[Any] | Cursor[Any]) -> RowMaker[Any]:
        """Have psycopg make the rows at once: a tuple beside each row doubles the work of Python's collector."""
        if self._row_type is None or cursor.pgresult is None:
            return tuple
        return record_maker(self._row_type, column_names(cursor))

    def sendable(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is sent of the arguments of a call, which may have other names besides.

        Raises:
            InvalidValueError: an argument is of another type than the signature says, or holds something that
                PostgreSQL cannot store.
        """
        sent = {name: send(name, given[name]) for name, send in self._required.items()}
        for name, (send, default) in self._optional.items():
            if given.get(name) is not None and (argument := send(name, given[name])) != default:
                sent[name] = argument
        return sent
