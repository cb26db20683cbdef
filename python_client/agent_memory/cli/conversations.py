"""The commands for conversations: import them, show the context of a thread, and search."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.text import Text

from .._progress import progress
from .._text import counted
from ..client import Memory
from ..importer import import_file
from ..types import Mode, Source
from .console import Dsn, User, connected, console, log_to_stderr

_WITHOUT_MODEL = "01AM1"
"""A notice which people who have set up no embedding model need not read at each search."""


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="Chat as JSON Lines or JSON, or LoCoMo.")
    ],
    user_id: Annotated[str | None, typer.Option(help="The user of messages that name none.")] = None,
    thread_id: Annotated[
        str | None, typer.Option(help="The thread of messages that name none; the file's name by default.")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Import conversations from a file: all of it, or nothing when something is wrong."""
    with connected(dsn) as connection, progress(console, "importing messages") as report:
        last = None
        for last in import_file(connection, file, user_id=user_id, thread_id=thread_id):
            report(last.done, last.total)
    if last is None:
        console.print("The file holds no messages.")
        return
    where = f"{counted(last.threads, 'thread')} of {counted(last.users, 'user')}"
    before = f"; {last.done - last.new} stored already" if last.new < last.done else ""
    console.print(f"Imported {counted(last.new, 'message')} into {where}{before}.")
    if last.new:
        console.print("Messages expire after the policy's time (7 days by default).")
        console.print('Queued model work: run "agent-memory worker --once".')


def context(
    user_id: User,
    thread_id: Annotated[str, typer.Argument(metavar="THREAD", show_default=False, help="The id of the thread.")],
    query: Annotated[str | None, typer.Option(help="What the next answer is about.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The budget; the policy's by default.")] = None,
    dsn: Dsn = None,
) -> None:
    """Show the context that a model would get for a thread."""
    _show_notes()
    with connected(dsn) as connection:
        parts = Memory(connection).get_context(user_id, thread_id, query=query, max_tokens=max_tokens)
    for part in parts:
        _print_entry(f"{part.role} · {part.source} · {counted(part.token_count, 'token')}", part.content)
    if not parts:
        console.print(Text(f'Nothing is stored for user "{user_id}", thread "{thread_id}".'), soft_wrap=True)


def search(
    user_id: User,
    query: Annotated[str, typer.Argument(metavar="QUERY", show_default=False, help="What to look for.")],
    limit: Annotated[int | None, typer.Option(min=1, help="How many results at most.", show_default="10")] = None,
    sources: Annotated[
        str | None,
        typer.Option(help="Where to look, separated by commas.", show_default="memory,message,document,summary"),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            help="By words and meaning (hybrid), meaning alone (vector) or words alone (keyword).",
            show_default="hybrid, or keyword without an embedding model",
        ),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Search what is remembered about a user."""
    _show_notes(expects_model=mode is not None)
    with connected(dsn) as connection:
        results = Memory(connection).search(user_id, query, mode=mode, sources=_sources(sources), top_k=limit)
    for result in results:
        where = result.thread_id or (result.details or {}).get("title")
        heading = (f"{result.score:.2f}", result.source, where, f"{result.valid_from or result.created_at:%Y-%m-%d}")
        _print_entry(" · ".join(filter(None, heading)), result.content)
    if not results:
        console.print("Nothing found.")


def _sources(names: str | None) -> list[Source] | None:
    """Split what may be any words; the database says which it knows."""
    return None if names is None else [cast(Source, name.strip()) for name in names.split(",")]


def _show_notes(*, expects_model: bool = False) -> None:
    """Show the notices of the database, and only to those who expect a model that no embedding model is active."""
    log_to_stderr("Note: %(message)s")
    shown: set[str] = set()

    def is_new(note: logging.LogRecord) -> bool:
        text = note.getMessage()
        if text in shown or (not expects_model and getattr(note, "sqlstate", None) == _WITHOUT_MODEL):
            return False
        shown.add(text)
        return True

    logging.getLogger("agent_memory").addFilter(is_new)


def _print_entry(heading: str, content: str) -> None:
    console.print(Text(heading, style="bold cyan"), soft_wrap=True)
    console.print(Text(content), soft_wrap=True)
    console.print()
