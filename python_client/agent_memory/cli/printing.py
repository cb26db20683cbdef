"""Prints stored values: as text without effect on the terminal, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import IO, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._text import UNSAFE, harmless

Listed = TypeVar("Listed")

console = Console(highlight=False)
if not console.is_terminal:
    # Output to a file or to another program is not wrapped.
    console.soft_wrap, console.width = True, 10_000
stderr = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or for a list one object on each line.")]
Limit = Annotated[int | None, typer.Option(min=1, help="How many at most; 50 unless given.")]
Offset = Annotated[int | None, typer.Option(min=0, help="Rows to pass over.")]

_LONGEST_UNWRAPPED = 40
"""Half of a narrow terminal; an id may have 255 characters."""


def plain(text: object, style: str = "") -> Text:
    """Return a stored text for the console: without markup and control characters."""
    return Text(harmless(str(text)), style=style)


def one_line(text: object) -> str:
    """Return the text on one line, for a cell of a table."""
    return " ".join(str(text).split())


def moment(time: datetime | None, otherwise: str = "") -> str:
    """Format a time to the minute."""
    return otherwise if time is None else f"{time:%Y-%m-%d %H:%M}"


def print_json(value: object, file: IO[str] | None = None) -> None:
    """Print one JSON document on one line, on stdout unless to a file; times in ISO 8601, ids as text."""
    text = json.dumps(value, ensure_ascii=False, default=_as_json)
    typer.echo(UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text), file=file)


def print_line(text: str) -> None:
    """Print a sentence that may hold stored text."""
    console.print(plain(text), soft_wrap=True)


def print_entry(heading: str, content: str) -> None:
    """Print a text under a heading."""
    console.print(plain(heading, "bold cyan"), soft_wrap=True)
    console.print(plain(content), soft_wrap=True)
    console.print()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> None:
    """Print a table; the columns ``right`` are aligned there, and the first is not wrapped, for it is to be copied."""
    cells = [[plain("" if cell is None else one_line(cell)) for cell in row] for row in rows]
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=any(columns))
    for number, name in enumerate(columns):
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=number == 0 and all(len(row[0]) <= _LONGEST_UNWRAPPED for row in cells),
            overflow="fold",
        )
    for row in cells:
        table.add_row(*row)
    console.print(table)


def print_page(
    kind: str,
    columns: Sequence[str],
    found: Sequence[Listed],
    cells: Callable[[Listed], Sequence[object]],
    offset: int | None,
    as_json: bool = False,
    right: Sequence[str] = (),
) -> None:
    """Print one page of a list as a table, and how many more there are after it."""
    if as_json:
        for row in found:
            print_json(row)
    elif not found:
        console.print(f"No {kind}.")
    else:
        print_table(columns, map(cells, found), right)
        _print_rest(found, offset)


def print_entries(
    found: Sequence[Listed],
    entry: Callable[[Listed], tuple[Sequence[str | None], str]],
    nothing: str,
    as_json: bool,
    offset: int | None = None,
) -> None:
    """Print each text under its heading, whose parts may be missing; or say that there is none."""
    for row in found:
        if as_json:
            print_json(row)
        else:
            parts, content = entry(row)
            print_entry(" · ".join(filter(None, parts)), content)
    if not found and not as_json:
        print_line(nothing)
    elif found and not as_json and hasattr(found[0], "total_count"):
        _print_rest(found, offset)


def _print_rest(found: Sequence[Any], offset: int | None) -> None:
    """Say how many more rows there are after those of a page."""
    first = found[0]
    total = first["total_count"] if isinstance(first, Mapping) else first.total_count
    left = total - (offset or 0) - len(found)
    if left > 0:
        console.print(f"... and {left} more")


def _as_json(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else str(value)
