"""What the commands share: where they print, how they name a database, user and file, and how errors look."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import psycopg
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from ..client import translated
from ..embedded import open_store
from ..errors import AgentMemoryError, DegradedWarning, InvalidValueError, connecting
from ..source import named_database
from ..types import Artifact, Document

Listed = TypeVar("Listed", Artifact, Document)

console = Console(highlight=False)
if not console.is_terminal:
    # Output to a file or to another program is not wrapped.
    console.soft_wrap, console.width = True, 10_000
stderr = Console(stderr=True, highlight=False)


class Commands(TyperGroup):
    """Reports the expected kinds of errors in one line and ends with status 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with warnings.catch_warnings():
                # The log has the same text, and commands that search print the log as notes.
                warnings.simplefilter("ignore", DegradedWarning)
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of stdout has enough, which is no error to report
        except (AgentMemoryError, psycopg.Error, OSError) as error:
            message, hint = _explained(error)
            stderr.print(Text(f"Error: {message}", style="red"), soft_wrap=True)
            if hint:
                stderr.print(Text(f"Hint: {hint}"), soft_wrap=True)
            raise typer.Exit(1) from error


def _explained(error: AgentMemoryError | psycopg.Error | OSError) -> tuple[str, str | None]:
    if isinstance(error, AgentMemoryError):
        return error.message, error.hint
    if isinstance(error, psycopg.Error) and error.diag.message_primary is not None:
        return error.diag.message_primary, error.diag.message_hint
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}", None
    # Errors before there is a connection have no fields; the first of their lines says what is wrong.
    return str(error).partition("\n")[0], None


Dsn = Annotated[
    str | None,
    typer.Option(
        envvar="AGENT_MEMORY_DSN",
        show_default=False,
        help="Connection string; without one, the embedded PostgreSQL of this user. postgresql:// takes libpq's own "
        "environment (PGHOST, PGDATABASE, ...).",
    ),
]

User = Annotated[str, typer.Argument(metavar="USER", show_default=False, help="The id of the user.")]


@contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """Yield the connection string of the database that the command is about; an embedded one runs meanwhile."""
    named = named_database(dsn)
    if named is not None:
        yield named
        return
    unheard = [name for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE") if os.environ.get(name)]
    if unheard:
        stderr.print(f"Note: {' and '.join(unheard)} would be heard with --dsn postgresql://", soft_wrap=True)
    with open_store() as store:
        yield store.conninfo


@contextmanager
def connected(dsn: str | None) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection in autocommit mode, on which every error is raised as the client would."""
    with database(dsn) as conninfo:
        with connecting(conninfo):
            opened = psycopg.connect(conninfo, autocommit=True, application_name="agent-memory")
        with opened as connection, translated(connection):
            yield connection


class _StderrHandler(logging.Handler):
    """Prints records on the console of stderr, above a bar that is there."""

    def emit(self, record: logging.LogRecord) -> None:
        stderr.print(Text(self.format(record)), soft_wrap=True)


def log_to_stderr(layout: str, level: int = logging.INFO) -> None:
    """Show what this package logs."""
    logging.basicConfig(format=layout, handlers=[_StderrHandler()])
    logging.getLogger("agent_memory").setLevel(level)


def read_text(file: Path) -> str:
    """Return the text of a file, or of stdin for ``-``.

    Raises:
        InvalidValueError: it is not UTF-8.
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from None


def standard_input() -> Iterator[bytes]:
    """Yield stdin as it comes, a MiB at a time."""
    while block := sys.stdin.buffer.read(1 << 20):
        yield block


def print_page(
    kind: str,
    columns: Sequence[str],
    found: Sequence[Listed],
    cells: Callable[[Listed], Sequence[str]],
    offset: int | None,
) -> None:
    """Print one page of a list, and how many more there are after it; the first column is not wrapped."""
    if not found:
        console.print(f"No {kind}.")
        return
    table = Table(*columns, box=None, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for row in found:
        table.add_row(*map(Text, cells(row)))
    console.print(table)
    left = found[0].total_count - (offset or 0) - len(found)
    if left:
        console.print(f"... and {left} more")
