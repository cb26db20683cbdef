"""The command that brings conversations and memories in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._progress import progress
from .._text import counted
from ..choices import ImportFormat
from .console import Dsn, connected_to_nodes, standard_input
from .printing import AsJson, console, plain, print_json, print_line, stderr

if TYPE_CHECKING:
    from ..importer import ImportFileError

_SHOWN = 20
"""The command names this many bad records at most, because a file of another format would fill the screen."""


def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An export or its ZIP, chat as JSON Lines or JSON, checkpoints of LangGraph; - is stdin.",
        ),
    ],
    user_id: Annotated[
        str | None, typer.Option("--user", "--user-id", help="The user of records that name none.")
    ] = None,
    thread_id: Annotated[
        str | None,
        typer.Option(
            "--thread", "--thread-id", help="The thread of messages that name none.", show_default="the file's name"
        ),
    ] = None,
    format: Annotated[ImportFormat | None, typer.Option(help="What the file is.", show_default="found out")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing, and say what would be stored.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Store nothing when a record is bad.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Import conversations and memories; records that were imported before stay as they are.

    Records that cannot be imported are named and left out: then the status is 1.
    """
    from ..importer import import_file

    bad = 0

    def report_bad(error: ImportFileError) -> None:
        nonlocal bad
        bad += 1
        if bad <= _SHOWN:
            stderr.print(plain(f"Left out: {error.message}", "red"), soft_wrap=True)
            if bad == 1 and error.hint:
                stderr.print(plain(f"Hint: {error.hint}"), soft_wrap=True)

    counts = dict.fromkeys(("messages", "memories", "stored_before", "threads", "users"), 0)
    with _named(file) as path, connected_to_nodes(dsn) as connections, progress(stderr, "importing") as report:
        for step in import_file(
            connections.nodes.first,
            path,
            user_id=user_id,
            thread_id=thread_id,
            format=format,
            on_bad=None if strict else report_bad,
            dry_run=dry_run,
            connection_of=connections.nodes.of,
        ):
            report(step.done, step.total)
            counts = {
                "messages": step.new - step.memories,
                "memories": step.memories,
                "stored_before": step.done - step.new,
                "threads": step.threads,
                "users": step.users,
            }
    if bad > _SHOWN:
        stderr.print(f"... and {bad - _SHOWN} more left out", soft_wrap=True)
    if as_json:
        print_json({"dry_run": dry_run, "bad": bad, **counts})
    else:
        _print_outcome(counts, dry_run)
    if bad:
        raise typer.Exit(1)


@contextmanager
def _named(file: str) -> Iterator[Path | str]:
    """Yield a path or connection string; stdin, which can be read once only, as a file."""
    if file != "-":
        yield file if "://" in file else Path(file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as copy:
            for block in standard_input():
                copy.write(block)
        yield path


def _print_outcome(counts: dict[str, int], dry_run: bool) -> None:
    messages, memories, before = counts["messages"], counts["memories"], counts["stored_before"]
    what = [counted(messages, "message")] if messages or not memories else []
    what += [counted(memories, "memory", "memories")] if memories else []
    where = f"{counted(counts['threads'], 'thread')} of {counted(counts['users'], 'user')}"
    also = f"; {before} stored already" if before else ""
    print_line(f"{'Would import' if dry_run else 'Imported'} {' and '.join(what)} into {where}{also}.")
    if messages and not dry_run:
        console.print("Messages expire after the policy's time (7 days by default).")
        console.print('Queued model work: run "agent-memory worker --once".')
