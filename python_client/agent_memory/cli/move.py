"""The command that moves users from one database to another."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from .._text import counted
from ..embedded import open_store
from ..errors import InvalidValueError, NotFoundError
from ..move import MovedUser
from ..move import move as move_users
from ..schema import SCHEMA
from .console import Dsn, connected
from .printing import console, plain, stderr


def move(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="DSN|FOLDER", help="The target; the default is --dsn."),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="DSN|FOLDER", help="The source; the default is --dsn."),
    ] = None,
    user: Annotated[list[str] | None, typer.Option(help="Only this user; may be given several times.")] = None,
    dsn: Dsn = None,
) -> None:
    """Copy users with all they have to another database, compared row by row; run again, it goes on where it ended.

    The source stays as it is. Status 1 when a user could not be moved, or changed meanwhile.
    """
    if to is None and from_ is None:
        raise InvalidValueError(
            "move needs --to or --from", hint='Run, for example: agent-memory move --to "postgresql://user@host/app"'
        )
    outcomes: Counter[str] = Counter()
    tables: Counter[str] = Counter()
    with ExitStack() as stack:
        if from_ is not None and _is_folder(from_) and not Path(from_).expanduser().is_dir():
            raise NotFoundError(
                f"there is no store {from_}", hint="Name the folder of a store, or a connection string."
            )
        source = stack.enter_context(_connected(stack, dsn, from_))
        target = stack.enter_context(_connected(stack, dsn, to))
        bar = stack.enter_context(_bar())
        task = bar.add_task("looking at both databases", total=None)

        def report(user_id: str, table: str, done: int, total: int) -> None:
            bar.update(task, description=f"{user_id}: {table}", completed=done, total=total)

        for result in move_users(source, target, user or None, report):
            if result.user_id == "":
                _print_settings(result)
                continue
            outcomes[result.outcome] += 1
            if result.outcome == "moved":
                tables.update({name: number for name, (number, _) in result.contents.items()})
            _print_user(result)
    for name, number in sorted(tables.items()):
        console.print(plain(f"  {name}: {counted(number, 'row')}, the same on both sides"), soft_wrap=True)
    console.print(
        plain(
            f"{counted(outcomes['moved'], 'user')} moved, {outcomes['present']} there already,"
            f" {outcomes['refused']} refused, {outcomes['changed']} changed meanwhile. The source is as it was."
        ),
        soft_wrap=True,
    )
    if outcomes["refused"] or outcomes["changed"]:
        raise typer.Exit(1)


def _connected(stack: ExitStack, dsn: str | None, place: str | None) -> AbstractContextManager[Connection[Any]]:
    """Connect to the database of --dsn, or to a place: a connection string, or an embedded store, which is opened."""
    if place is not None and _is_folder(place):
        return connected(stack.enter_context(open_store(place)).conninfo, schema=SCHEMA)
    return connected(dsn if place is None else place)


def _is_folder(place: str) -> bool:
    """Tell a folder from a connection string."""
    if "://" in place or "=" in place:
        return False
    if "/" in place or Path(place).is_dir():
        return True
    raise InvalidValueError(
        f"{place} is neither a connection string nor the path of a folder",
        hint=f"Write postgresql://{place}/app, or ./{place} for a folder.",
    )


def _bar() -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)


def _print_settings(result: MovedUser) -> None:
    added = ", ".join(f"{number} of {name}" for name, (number, _) in sorted(result.contents.items()))
    console.print(plain(f"Settings that the target lacked: {added or 'none'}."), soft_wrap=True)


def _print_user(result: MovedUser) -> None:
    """Print one line for a user; the checksum sums up those of the tables, which tell the rows in any order."""
    if result.problem is not None:
        stderr.print(plain(f"{result.outcome} {result.user_id}: {result.problem}", style="red"), soft_wrap=True)
        return
    checksum = sum(int(of_table) for _, of_table in result.contents.values()) % 2**64
    rows, tables = counted(result.rows, "row"), counted(len(result.contents), "table")
    console.print(
        plain(f"{result.outcome} {result.user_id}: {rows} in {tables}, checksum {checksum:016x}"), soft_wrap=True
    )
