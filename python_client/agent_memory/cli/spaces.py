"""The commands for spaces, the memory that users share."""

from __future__ import annotations

from typing import Annotated

import typer

from .._text import counted
from ..choices import SpaceAccess
from .console import Dsn, Group, User, confirm_for_good, opened
from .printing import AsJson, moment, print_json, print_line, print_table

spaces = typer.Typer(cls=Group, help="List, create, grant, revoke and delete spaces, the memory that users share.")

Space = Annotated[
    str, typer.Argument(metavar="SPACE", show_default=False, help='The name of the space, without "space:".')
]


@spaces.command("list")
def list_(
    user_id: Annotated[
        str | None,
        typer.Argument(metavar="USER", show_default="all spaces", help="Only those that are granted to this user."),
    ] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List the spaces."""
    with opened(dsn) as memory:
        found = memory.list_spaces(user_id)
    if as_json:
        for row in found:
            print_json(row)
    elif not found:
        print_line("No spaces.")
    else:
        print_table(
            ("space", "title", "access", "members", "memories", "created"),
            [
                (row.space, row.title, row.access, row.member_count, row.memory_count, moment(row.created_at))
                for row in found
            ],
            right=("members", "memories"),
        )


@spaces.command()
def create(
    space: Space,
    title: Annotated[str | None, typer.Option(help="What people call it.", show_default=False)] = None,
    dsn: Dsn = None,
) -> None:
    """Create a space. It is written under the user "space:SPACE"."""
    with opened(dsn) as memory:
        memory.admin.create_space(space, title)
    print_line(f"Created {space}. Users reach it when it is granted: agent-memory spaces grant {space} USER")


@spaces.command()
def grant(
    space: Space,
    user_id: User,
    access: Annotated[SpaceAccess, typer.Argument(metavar="ACCESS", help="read, or write to read and write.")] = "read",
    dsn: Dsn = None,
) -> None:
    """Let a user read a space, or write it too; the last grant counts."""
    with opened(dsn) as memory:
        memory.admin.grant_space(space, user_id, access)
    print_line(f"{user_id} may {'read and write' if access == 'write' else 'read'} {space}.")


@spaces.command()
def revoke(space: Space, user_id: User, dsn: Dsn = None) -> None:
    """Take back what a user may do in a space."""
    with opened(dsn) as memory:
        had_any = memory.admin.revoke_space(space, user_id)
    print_line(f"{user_id} may not read {space} any more." if had_any else f"{user_id} had no grant of {space}.")


@spaces.command()
def delete(
    space: Space,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Delete a space with everything in it for good, and print the receipt."""
    with opened(dsn) as memory:
        if not yes:
            confirm_for_good(f"Delete {space} and all that is in it?")
        receipt = memory.admin.delete_space(space)
    if as_json:
        print_json(receipt)
        return
    deleted = counted(sum(receipt["tables"].values()), "row")
    print_line(f"Deleted {space}: {deleted}. Receipt {receipt['receipt_id']}.")
