"""The commands for detail memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._text import harmless
from ..errors import NotFoundError
from .console import Dsn, Group, User, check_stored, opened, standard_input
from .printing import AsJson, Limit, Offset, console, print_page

artifacts = typer.Typer(
    cls=Group, no_args_is_help=True, help="Keep, list, show and delete long texts that placeholders stand for."
)
Key = Annotated[str, typer.Argument(metavar="KEY", help="The key, or the whole placeholder.")]


@artifacts.command()
def store(
    user_id: User,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A text file; - is stdin.")],
    description: Annotated[
        str | None, typer.Option(help="A description in one line.", show_default="made of the content")
    ] = None,
    key: Annotated[str | None, typer.Option(help="What to name it.", show_default="made of the description")] = None,
    dsn: Dsn = None,
) -> None:
    """Keep a long text, and print its placeholder."""
    content = standard_input() if str(file) == "-" else file
    with opened(dsn) as memory:
        stored = memory.store_artifact(user_id, content, description, key)
    check_stored(stored.memory_ref)
    typer.echo(stored.memory_ref)


@artifacts.command()
def show(
    user_id: User,
    key: Key,
    from_line: Annotated[int | None, typer.Option(min=1, help="The line to begin with.", show_default="1")] = None,
    max_lines: Annotated[int | None, typer.Option(min=1, help="The most lines to show.")] = None,
    grep: Annotated[
        str | None, typer.Option(help="Show only lines that hold all these words.", show_default="all lines")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Print the content of an artifact, or a part of it."""
    with opened(dsn) as memory:
        if from_line is None and max_lines is None and grep is None:
            for piece in memory.artifact_pieces(user_id, key):
                _echo(piece)
            return
        part = memory.retrieve_artifact(user_id, key, from_line=from_line, max_lines=max_lines, grep=grep)
    _echo(part if grep is None or not part else f"{part}\n")


@artifacts.command("list")
def list_(user_id: User, limit: Limit = None, offset: Offset = None, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """List artifacts, newest first."""
    with opened(dsn) as memory:
        found = memory.list_artifacts(user_id, row_limit=limit, row_offset=offset)
    print_page(
        "artifacts",
        ("key", "created", "type", "tokens", "description"),
        found,
        lambda row: (row.key, f"{row.created_at:%Y-%m-%d}", row.artifact_type, str(row.token_count), row.description),
        offset,
        as_json,
    )


@artifacts.command()
def delete(user_id: User, key: Key, dsn: Dsn = None) -> None:
    """Delete an artifact."""
    with opened(dsn) as memory:
        if not memory.delete_artifact(user_id, key):
            raise NotFoundError(
                f'user "{user_id}" has no artifact {key}', hint=f"Run: agent-memory artifacts list {user_id}"
            )
    typer.echo(f"Deleted {key}.")


def _echo(text: str) -> None:
    """Print a content: a file gets it as it was stored, colours and all, a terminal gets what it does not obey."""
    typer.echo(harmless(text) if console.is_terminal else text, nl=False, color=True)
