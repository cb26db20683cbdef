"""The commands that list, forget, export and import users."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from psycopg.rows import dict_row

from .._text import counted
from .._users import USERS
from ..client import Memory
from ..errors import InvalidValueError, LimitExceededError
from .console import Dsn, Group, User, connected, opened, standard_input
from .printing import AsJson, Limit, Offset, moment, plain, print_json, print_line, print_page, stderr

users = typer.Typer(cls=Group, help="List, forget, export and import users.")

_PAGE = 1000
Reason = Annotated[str | None, typer.Option(help="Kept with the receipt.", show_default=False)]


@users.command("list")
def list_(
    search: Annotated[str, typer.Option(help="Only ids with this text in them.", show_default="all")] = "",
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List the users that something is stored about, the last heard of first."""
    with connected(dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
        values = {"search": search, "limit": limit or 50, "offset": offset or 0}
        found = cursor.execute(USERS, values).fetchall()
    print_page(
        "users",
        ("user", "threads", "messages", "memories", "last heard of"),
        found,
        lambda row: (
            row["user_id"],
            row["thread_count"],
            row["message_count"],
            row["memory_count"],
            moment(row["last_at"]),
        ),
        offset,
        as_json,
        right=("threads", "messages", "memories"),
    )


@users.command()
def forget(
    user_id: User,
    reason: Reason = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Remove everything about a user for good, and print the receipt."""
    with opened(dsn) as memory:
        if not yes:
            typer.confirm(f"This cannot be undone. Forget all of {user_id}?", abort=True, err=True)
        receipt = memory.forget_user(user_id, reason)
    if as_json:
        print_json(receipt)
        return
    for table, rows in sorted(receipt["tables"].items()):
        print_line(f"{table}: {rows}")
    print_line(f"Forgotten: {counted(sum(receipt['tables'].values()), 'row')}. Receipt {receipt['receipt_id']}.")


@users.command()
def export(
    user_id: User,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", show_default="stdout", help="Where to write.")] = None,
    dsn: Dsn = None,
) -> None:
    """Write everything about a user as JSON, see docs/export.schema.json, however much that is.

    "agent-memory export" writes only the messages and memories, for other programs to read.
    """
    with connected(dsn) as connection, connection.transaction():
        # All parts of one moment.
        connection.execute("set transaction isolation level repeatable read")
        pages = _pages(Memory(connection), user_id)
        if file is None:
            rows = _write(user_id, pages, sys.stdout)
        else:
            with file.open("w", encoding="utf-8") as output:
                rows = _write(user_id, pages, output)
    stderr.print(plain(f"Exported {counted(rows, 'row')} of {user_id}."), soft_wrap=True)


@users.command("import")
def import_(
    user_id: User,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="What export wrote; - is stdin.")],
    lift_tombstones: Annotated[
        bool, typer.Option("--lift-tombstones", help="Also what was forgotten here; for administrators.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Store a user that "agent-memory users export" has written, where nothing is stored of that user."""
    content = b"".join(standard_input()) if str(file) == "-" else file.read_bytes()
    try:
        export = json.loads(content)
    except ValueError as error:
        hint = "Pass what agent-memory users export has written; agent-memory import reads other formats."
        raise InvalidValueError(f"{file} is not JSON: {error}", hint=hint) from None
    with opened(dsn) as memory:
        counts = memory.import_user(user_id, export, lift_tombstones)
    if as_json:
        print_json(counts)
        return
    left_out = counts.pop("left_out")
    for kind, rows in counts.items():
        if rows:
            print_line(f"{kind}: {rows}")
    print_line(f"Imported {counted(sum(counts.values()), 'row')} of {user_id}.")
    if left_out:
        print_line(f"{counted(left_out, 'row')} were forgotten here before and stay out; see --lift-tombstones.")


def _pages(memory: Memory, user_id: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the rows of each kind in parts, smaller ones where the rows are large."""
    kinds = [kind for kind, rows in memory.export_user(user_id, max_rows=1).items() if isinstance(rows, list)]
    for kind in kinds:
        done, size = 0, _PAGE
        for _ in count():
            try:
                rows = memory.export_user(user_id, [kind], done, size)[kind]
            except LimitExceededError:
                if size == 1:
                    raise
                size = max(1, size // 10)
                continue
            yield kind, rows
            done += len(rows)
            if len(rows) < size:
                break


def _write(user_id: str, pages: Iterator[tuple[str, list[dict[str, Any]]]], output: TextIO) -> int:
    """Write the object row by row, and return how many rows it has."""
    head = {"format": "agent_memory user", "format_version": 1, "user_id": user_id}
    output.write(json.dumps(head, ensure_ascii=False)[:-1])
    written, open_kind = 0, None
    for kind, rows in pages:
        if kind != open_kind:
            output.write("]" if open_kind else "")
            output.write(f', "{kind}": [')
        for number, row in enumerate(rows):
            output.write("" if kind != open_kind and number == 0 else ",")
            output.write("\n" + json.dumps(row, ensure_ascii=False))
            written += 1
        open_kind = kind
    output.write("]}\n")
    return written
