"""The SQL function that a method calls, made of the method's signature: how to send its arguments and read its rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property, wraps
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints, overload

from psycopg import AsyncCursor, Cursor
from psycopg.pq import Format
from psycopg.rows import RowMaker

from .arguments import senders_of
from .rows import column_names, record_maker

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Rows = Sequence[Any]
Reader = Callable[[Rows], Any]
"""Makes what a method returns of the rows."""
Keys = Literal["needed", "wanted"]
"""Whether a function needs a key of secrets, or does without where the role may not mask one."""
Method = TypeVar("Method", bound=Callable[..., Any])
Step = Callable[[Any, dict[str, Any]], Any]
"""Changes the arguments of a call, by name, before they are sent; takes the object of the method, too."""


class Function:
    """The SQL function that has the name and the arguments of a method.

    An optional argument that is None, or the default that the signature shows, is not sent: the function's own default
    applies, which is the same, and an older database need not know the argument.

    Args:
        method: its annotations say how arguments are sent and what the rows become.
        keys: whether the call passes the keys of secrets in this process's environment.
    """

    def __init__(self, method: Callable[..., Any], keys: Keys | None = None) -> None:
        self.name = method.__name__
        self.keys = keys
        self._method = method

    @cached_property
    def _signature(self) -> inspect.Signature:
        parameters = [*inspect.signature(self._method).parameters.values()][1:]
        return inspect.Signature(parameters)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._signature.parameters)

    @cached_property
    def _senders(self) -> Mapping[str, Any]:
        return senders_of(self._method)

    @cached_property
    def _required(self) -> set[str]:
        return {name for name, (_, is_required) in self._senders.items() if is_required}

    @cached_property
    def _reading(self) -> tuple[Any, Reader]:
        return _reader(get_type_hints(self._method)["return"])

    @cached_property
    def verb(self) -> LiteralString:
        """How a statement begins: one value needs no store of rows, which took 10,000 instructions of a call."""
        hint = get_type_hints(self._method)["return"]
        return "select * from" if self._reading[0] is not None or get_origin(hint) is list else "select"

    @cached_property
    def format(self) -> Format:
        """How results come: in binary where the rows have bytes, which as text are hexadecimal.

        To load a state of 700 bytes took 113 in place of 154 µs of the client's CPU and 157 in place of 203 of the
        server's (2026-11).
        """
        row_type = self._reading[0]
        has_bytes = row_type is not None and any("bytes" in str(field.type) for field in fields(row_type))
        return Format.BINARY if has_bytes else Format.TEXT

    def read(self, rows: Rows) -> Any:
        """Return what the method returns, made of the rows of ``row_factory``."""
        return self._reading[1](rows)

    def row_factory(self, cursor: AsyncCursor[Any] | Cursor[Any]) -> RowMaker[Any]:
        """Have psycopg make the rows at once: a tuple beside each row doubles the work of Python's collector."""
        row_type = self._reading[0]
        return tuple if row_type is None or cursor.pgresult is None else record_maker(row_type, column_names(cursor))

    def given(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name.

        Raises:
            TypeError: the signature does not take them.
        """
        given = {**dict(zip(self._names, arguments, strict=False)), **named}
        is_bound = len(given) == len(arguments) + len(named)
        if not (is_bound and self._required <= given.keys() <= self._senders.keys()):
            try:
                self._signature.bind(*arguments, **named)
            except TypeError as error:
                raise TypeError(f"{self.name}(): {error}") from None
        return given

    def sendable(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is sent of the arguments, in the order of the signature.

        Raises:
            InvalidValueError: an argument is of another type than the signature says, or holds something that
                PostgreSQL cannot store.
        """
        arguments = {}
        for name, (send, is_required) in self._senders.items():
            if name in given and (is_required or given[name] is not None):
                sent = send(name, given[name])
                if is_required or sent is not None:
                    arguments[name] = sent
        return arguments


def _reader(hint: Any) -> tuple[Any, Reader]:
    """Return the dataclass of the rows, None for tuples, and how the result is made of all rows."""
    if hint is NoneType:
        return None, lambda _rows: None
    if inspect.isclass(hint) and issubclass(hint, list) and hint is not list:  # a class of lists, such as Context
        return get_args(hint.__orig_bases__[0])[0], hint  # type: ignore[attr-defined]
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if get_origin(hint) is list:
        return (kinds[0], lambda rows: rows) if is_dataclass(kinds[0]) else (None, _column)
    is_nullable = NoneType in get_args(hint)
    row_type = kinds[0] if is_nullable else hint
    if not is_dataclass(row_type):
        return None, lambda rows: rows[0][0]
    return row_type, lambda rows: None if is_nullable and not rows else rows[0]


def _column(rows: Rows) -> list[Any]:
    """Return the values of the rows, or the one array that they are."""
    values = [value for row in rows for value in row]
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


@overload
def sql_function(method: Method, /) -> Method: ...
@overload
def sql_function(*, before: Step | None = None, keys: Keys | None = None) -> Callable[[Method], Method]: ...
def sql_function(method: Any = None, /, *, before: Step | None = None, keys: Keys | None = None) -> Any:
    """Give a method its body: a call of the SQL function that has the method's name and arguments.

    Args:
        method: a method of ``AsyncMethods`` or ``SyncMethods``; its annotations say what types its arguments and its
            result have.
        before: changes the arguments first.
        keys: whether the call passes keys of secrets; see ``Function``.
    """
    if method is None:
        return lambda method: _with_body(method, Function(method, keys), before)
    return _with_body(method, Function(method, keys), before)


def _with_body(method: Callable[..., Any], function: Function, before: Step | None) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        given = function.given(arguments, named)
        if before is not None:
            before(self, given)
        return self.caller.call(function, given)

    @wraps(method)
    async def call_async(self: Any, *arguments: Any, **named: Any) -> Any:
        given = function.given(arguments, named)
        if before is not None:
            await before(self, given)
        return await self.caller.call(function, given)

    return call_async if inspect.iscoroutinefunction(method) else call
