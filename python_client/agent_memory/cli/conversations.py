"""The commands that show the context of a thread, and search."""

from __future__ import annotations

import logging
import warnings
from typing import Annotated, cast

import typer

from .._text import counted
from ..choices import Mode, Source
from ..client import Memory
from ..errors import DegradedWarning
from ..types import ContextPart, SearchResult
from .console import Agent, Dsn, Thread, User, connected, log_to_stderr
from .printing import AsJson, plain, print_entries, print_entry, print_json, print_line, print_table, stderr

_WITHOUT_MODEL = "01AM1"


def context(
    user_id: User,
    thread_id: Thread,
    query: Annotated[str | None, typer.Option(help="The subject of the next answer.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The budget; the policy's by default.")] = None,
    agent: Agent = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Show the context that a model would get for a thread, and the tokens of each part."""
    _show_notes()
    with connected(dsn, user_id) as connection:
        memory = Memory(connection)
        # A context says nothing of that, because each turn of a conversation would be told.
        if connection.execute("select from memory.query_to_embed(%s, 'x')", [user_id]).fetchone() is None:
            memory.caller.warn_degraded(
                "comparing words only, no embedding model is active",
                "Run: agent-memory models local",
                sqlstate=_WITHOUT_MODEL,
            )
        parts = memory.get_context(user_id, thread_id, query=query, agent_id=agent, max_tokens=max_tokens)
    if as_json:
        for part in parts:
            print_json(part)
    elif parts:
        _print_context(parts)
    else:
        print_line(f'Nothing is stored for user "{user_id}", thread "{thread_id}".')


def search(
    user_id: User,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    limit: Annotated[int | None, typer.Option(min=1, help="The most results to show.", show_default="10")] = None,
    sources: Annotated[
        str | None,
        typer.Option(help="Sources to search, separated by commas.", show_default="memory,message,document,summary"),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            help="Compare words and meaning (hybrid), meaning alone (vector) or words alone (keyword).",
            show_default="hybrid, or keyword without an embedding model",
        ),
    ] = None,
    agent: Agent = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Search a user's memories, messages, documents and summaries."""
    _show_notes()
    with connected(dsn, user_id) as connection:
        results = Memory(connection).search(
            user_id, query, mode=mode, sources=_sources(sources), agent_id=agent, top_k=limit
        )
    print_entries(results, _entry, "Nothing found.", as_json)


def _entry(found: SearchResult) -> tuple[tuple[str | None, ...], str]:
    where = found.thread_id or (found.details or {}).get("title")
    day = f"{found.valid_from or found.created_at:%Y-%m-%d}"
    return (f"{found.score:.2f}", found.source, where, day), found.content


def _print_context(parts: list[ContextPart]) -> None:
    """Print the parts of a context, and how many tokens each source has of it."""
    tokens: dict[str, int] = {}
    for part in parts:
        print_entry(f"{part.role} · {part.source} · {counted(part.token_count, 'token')}", part.content)
        tokens[part.source] = tokens.get(part.source, 0) + part.token_count
    total = sum(tokens.values())
    rows = [(source, number, f"{number / max(total, 1):.0%}") for source, number in tokens.items()]
    print_table(("source", "tokens", "share"), [*rows, ("total", total, "")], right=("tokens", "share"))


def _show_notes() -> None:
    """Show what degrades answers, each cause once in a command."""
    log_to_stderr("Note: %(message)s", logging.WARNING)
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            stderr.print(plain(f"Note: {message}"), soft_wrap=True)

    warnings.simplefilter("always", DegradedWarning)
    warnings.showwarning = show


def _sources(names: str | None) -> list[Source] | None:
    """Split what may be any words; the database says which it knows."""
    return None if names is None else [cast(Source, name.strip()) for name in names.split(",")]
