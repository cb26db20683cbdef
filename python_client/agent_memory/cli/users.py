"""The commands that list, forget, merge, export and import users."""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .._text import counted
from .console import Dsn, Force, Group, User, confirm_for_good, opened
from .printing import AsJson, Limit, Offset, moment, plain, print_json, print_line, print_page, stderr

users = typer.Typer(cls=Group, help="List, forget, merge, export and import users.")

Reason = Annotated[str | None, typer.Option(help="Kept with the receipt.")]


@users.command("list")
def list_(
    search: Annotated[str, typer.Option(help="Only ids with this text in them.")] = "",
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List the users that something is stored about, the last heard of first."""
    with opened(dsn) as memory:
        found = [asdict(row) for row in memory.admin.list_users(search or None, limit or 50, offset or 0)]
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
            confirm_for_good(f"Forget all of {user_id}?")
        receipt = memory.forget_user(user_id, reason)
    if as_json:
        print_json(receipt)
        return
    for table, rows in sorted(receipt["tables"].items()):
        print_line(f"{table}: {rows}")
    if not receipt["tables"]:
        print_line(f"Nothing was stored about {user_id}: is the id right?")
    print_line(f"Forgotten: {counted(sum(receipt['tables'].values()), 'row')}. Receipt {receipt['receipt_id']}.")


@users.command()
def merge(
    from_user: Annotated[str, typer.Argument(metavar="FROM", help="The user who is merged.")],
    into_user: Annotated[str, typer.Argument(metavar="INTO", help="The user who gets everything.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Make everything of one user another one's; on another node of a cluster the first user is moved there before."""
    if not yes:
        confirm_for_good(f"Merge all of {from_user} into {into_user}?")
    with opened(dsn) as memory:
        merged = memory.admin.merge_users(from_user, into_user)
    if as_json:
        print_json(merged)
        return
    for what in ("threads", "artifacts", "secrets"):
        for former, new in merged[what].items():
            print_line(f"{what}: {former} is {new} now")
    print_line(f"Merged {counted(sum(merged['tables'].values()), 'row')} of {from_user} into {into_user}.")
    if merged["left_out"]:
        print_line(f"{counted(merged['left_out'], 'row')} were forgotten by {into_user} before and stay out.")


@users.command()
def export(
    user_id: User,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to write; else to stdout.")] = None,
    force: Force = False,
    dsn: Dsn = None,
) -> None:
    """Write everything about a user as JSON, see docs/export.schema.json, however much that is.

    "agent-memory export" writes only the messages and memories, for other programs to read. A file can be read by this
    user only.
    """
    with opened(dsn) as memory:
        rows = memory.export_user_to(user_id, file or sys.stdout, force)
    stderr.print(plain(f"Exported {counted(rows, 'row')} of {user_id}."), soft_wrap=True)


@users.command("import")
def import_(
    user_id: User,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of export; - is stdin.")],
    lift_tombstones: Annotated[
        bool, typer.Option("--lift-tombstones", help="Also import forgotten texts; for the owner of schema memory.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Store a user that "agent-memory users export" has written, or nothing if anything is stored of that user."""
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8") if str(file) == "-" else file
    with opened(dsn) as memory:
        counts = memory.admin.import_user_from(user_id, source, lift_tombstones)
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
