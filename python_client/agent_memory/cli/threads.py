"""The commands that show and delete threads and their messages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import psycopg
import typer

from .._text import counted
from ..choices import Fate
from ..client import Memory
from ..errors import NotFoundError
from ..types import Message
from .console import Agent, Dsn, Group, Thread, User, confirm_for_good, connected, opened
from .printing import (
    AsJson,
    Limit,
    Offset,
    console,
    moment,
    print_entries,
    print_entry,
    print_json,
    print_line,
    print_page,
)

threads = typer.Typer(cls=Group, no_args_is_help=True, help="List, show, clear and delete the threads of a user.")


@threads.command("list")
def list_(user_id: User, limit: Limit = None, offset: Offset = None, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """List threads, most recently used first; messages are all that were said, active those that models see."""
    with connected(dsn, user_id) as connection:
        found = Memory(connection).list_threads(user_id, limit, offset)
        said = _said(connection, user_id, [thread.thread_id for thread in found])
    if as_json:
        for row in found:
            counts = {"message_count": said.get(row.thread_id), "active_count": row.message_count}
            print_json(asdict(row) | counts)
        return
    print_page(
        "threads",
        ("thread", "messages", "active", "tokens", "first", "last"),
        found,
        lambda row: (
            row.thread_id,
            said.get(row.thread_id),
            row.message_count,
            row.active_tokens,
            moment(row.first_at),
            moment(row.last_at),
        ),
        offset,
        right=("messages", "active", "tokens"),
    )


@threads.command()
def show(user_id: User, thread_id: Thread, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Show the summary of a thread."""
    with opened(dsn) as memory:
        summary = memory.get_thread_summary(user_id, thread_id)
        if summary is None and not memory.get_messages(user_id, thread_id, recent_k=1, include_inactive=True):
            raise _no_thread(user_id, thread_id)
    if as_json:
        print_json(summary)
    elif summary is None:
        console.print("No summary yet.")
    else:
        made = f"{summary.kind} summary · messages {summary.start_seq} to {summary.end_seq} · "
        print_entry(made + moment(summary.created_at), summary.summary)


@threads.command()
def clear(user_id: User, thread_id: Thread, dsn: Dsn = None) -> None:
    """Hide the messages of a thread; "agent-memory messages --all" still shows them until they expire."""
    with opened(dsn) as memory:
        number = memory.clear_thread(user_id, thread_id)
    print_line(f"Cleared {counted(number, 'message')} of {thread_id}.")


@threads.command()
def delete(
    user_id: User,
    thread_id: Thread,
    memories: Annotated[Fate, typer.Option(help="Keep or forget the memories that were stated in it.")] = "keep",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dsn: Dsn = None,
) -> None:
    """Delete a thread for good, with the memories that were drawn from it alone."""
    with opened(dsn) as memory:
        if not memory.get_messages(user_id, thread_id, recent_k=1, include_inactive=True):
            raise _no_thread(user_id, thread_id)
        if not yes:
            confirm_for_good("Delete the thread?")
        number = memory.delete_thread(user_id, thread_id, memories)
    print_line(f"Deleted {thread_id} with {counted(number, 'message')}.")


def messages(
    user_id: User,
    thread_id: Thread,
    limit: Annotated[int | None, typer.Option(min=1, help="The most messages to show, from the newest.")] = None,
    before: Annotated[int | None, typer.Option(help="Only before this number.")] = None,
    agent: Agent = None,
    include_inactive: Annotated[bool, typer.Option("--all", help="Also show cleared and compressed messages.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Show the messages of a thread, oldest first."""
    with opened(dsn) as memory:
        found = memory.get_messages(
            user_id,
            thread_id,
            recent_k=limit or 50,
            before_seq=before,
            agent_id=agent,
            include_inactive=include_inactive,
        )
    print_entries(found, _entry, "No messages.", as_json)


def _entry(message: Message) -> tuple[tuple[str | None, ...], str]:
    speaker = message.metadata.get("name")
    away = None if message.is_active else "put away"
    when = moment(message.created_at)
    return (f"#{message.seq}", message.role, speaker and str(speaker), when, away), message.content


def _said(connection: psycopg.Connection[Any], user_id: str, threads: list[str]) -> dict[str, int]:
    """Return how many messages each thread has had, in any state; nothing for a role that may not."""
    query = "select thread_id, next_seq from memory.thread_stats where user_id = %s and thread_id = any(%s)"
    try:
        return dict(connection.execute(query, [user_id, threads]).fetchall())
    except psycopg.errors.InsufficientPrivilege:
        return {}


def _no_thread(user_id: str, thread_id: str) -> NotFoundError:
    return NotFoundError(
        f'user "{user_id}" has no thread "{thread_id}"', hint=f"Run: agent-memory threads list {user_id}"
    )
