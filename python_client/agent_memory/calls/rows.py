"""The rows of a result: how their values are loaded, and how they become dataclasses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, make_dataclass
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzBinaryLoader, TimestamptzLoader
from psycopg.types.json import JsonbBinaryLoader, JsonbLoader

from .._row import Row
from ..errors import NotInstalledError, client_version
from .arguments import DUMPERS

if TYPE_CHECKING:
    from psycopg import AsyncCursor, Cursor
    from psycopg.rows import RowMaker

_JSONB = psycopg.adapters.types["jsonb"].oid
_read_json = json.JSONDecoder().raw_decode


class _JsonLoader(Loader):
    """Loads what the server writes: UTF-8 without space around it, which ``json.loads`` looks for in each value.

    An empty object takes 0.5 in place of 2.0 microseconds, an eighth of psycopg's time for a message (2026-11).
    """

    def load(self, data: Buffer) -> Any:
        return _read_json(str(data, "utf-8"))[0]


class _BinaryJsonLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        return _read_json(str(data, "utf-8"), 1)[0]  # after the number of the format


class _TimeLoader(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime | None:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return None


class _BinaryTimeLoader(TimestamptzBinaryLoader):
    def load(self, data: Buffer) -> datetime | None:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return None


def adapt(adapters: AdaptersMap, kinds: Iterable[type]) -> None:
    """Have JSON loaded with a faster loader, unless the caller has chosen one, and arguments of these kinds dumped.

    A cursor has the adapters that its connection had when the cursor was made.
    """
    if adapters.get_loader(_JSONB, Format.TEXT) is _JsonLoader:  # the connection was adapted to all kinds
        return
    for usual, faster in ((JsonbLoader, _JsonLoader), (JsonbBinaryLoader, _BinaryJsonLoader)):
        if adapters.get_loader(_JSONB, usual.format) is usual:
            adapters.register_loader(_JSONB, faster)
    for kind in kinds:
        if kind in DUMPERS:
            adapters.register_dumper(kind, DUMPERS[kind])


def loaded_anew(cursor: AsyncCursor[Any] | Cursor[Any]) -> list[Any]:
    """Return the rows of a cursor. A time that datetime cannot hold, before the year 1 or after 9999, is None.

    psycopg's own loader raises DataError for such a time. It is written in C: with this one for all times, 1,000
    messages took 2.0 times as long as with psycopg alone, and take 1.3 times as long without (2026-11).
    """
    cursor.adapters.register_loader("timestamptz", _TimeLoader)
    cursor.adapters.register_loader("timestamptz", _BinaryTimeLoader)
    loading = Transformer(cursor)
    result = cursor.pgresult
    assert result is not None
    loading.set_pgresult(result)
    make_row: RowMaker[Any] = cursor.row_factory(cursor)  # type: ignore[arg-type]  # each takes a cursor of its kind
    return loading.load_rows(0, result.ntuples, make_row)


def column_names(cursor: AsyncCursor[Any] | Cursor[Any]) -> tuple[str, ...]:
    """Return the names of the columns of a cursor's rows. For one row ``description`` takes 10 µs longer (2026-11)."""
    result = cursor.pgresult
    assert result is not None
    return _decoded(*map(result.fname, range(result.nfields)))


@lru_cache(maxsize=512)
def _decoded(*names: bytes | None) -> tuple[str, ...]:
    return tuple([(name or b"").decode() for name in names])


@lru_cache(maxsize=512)
def record_maker(row_type: Any, columns: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    """Return how a row becomes a dataclass. A column that a newer database added is ignored.

    Raises:
        NotInstalledError: from the first row on, where a column is missing, because an older agent_memory is installed.
    """
    names = tuple(field.name for field in fields(row_type))
    if missing := [name for name in names if name not in columns]:

        def refuse(_: Sequence[Any]) -> Any:
            raise NotInstalledError(
                f"the agent_memory in this database is older than this client, {client_version()}:"
                f" a {row_type.__name__} lacks {', '.join(missing)}",
                hint="Run: agent-memory install",
            )

        return refuse

    # A frozen dataclass sets each field by a call. One that is not frozen, but otherwise the same, is filled in a fifth
    # of the time, and becomes the frozen one then.
    filled: Any = make_dataclass(row_type.__name__, names, bases=(Row,), slots=True, repr=False, eq=False)

    def of_all(row: Sequence[Any]) -> Any:
        record = filled(*row)
        record.__class__ = row_type
        return record

    if names == columns:
        return of_all
    wanted = itemgetter(*map(columns.index, names))
    return lambda row: of_all(wanted(row))
