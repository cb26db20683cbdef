"""The commands for long-term memories."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone
from typing import Annotated, Any

import psycopg
import typer
from psycopg.rows import dict_row

from .._unread import UNREAD, why_no_memories
from ..client import Memory
from ..errors import NotFoundError
from ..types import MemoryRecord
from .console import Agent, Dsn, Group, User, check_stored, confirm_for_good, connected, opened
from .printing import AsJson, Limit, Offset, moment, print_entries, print_entry, print_json, print_line, print_table

memories = typer.Typer(
    cls=Group, no_args_is_help=True, help="List, show, add, change, delete and restore memories of a user."
)

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the memory.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")]
_UNREAD_THREADS = """
select thread_id from memory.thread_stats where user_id = %s and next_seq - 1 > extracted_seq order by thread_id
"""


@memories.command("list")
def list_(
    user_id: User,
    search: Annotated[str | None, typer.Option(help="Only with these words.")] = None,
    memory_type: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    agent: Agent = None,
    thread: Annotated[str | None, typer.Option(help="Only of this thread.")] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also list superseded memories.")] = False,
    quarantined: Annotated[bool, typer.Option("--quarantined", help="Also list memories in quarantine.")] = False,
    as_of: Annotated[datetime | None, typer.Option(help="Memories that held at that time, in UTC.")] = None,
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List memories, newest first."""
    with connected(dsn, user_id) as connection:
        found = Memory(connection).list_memories(
            user_id,
            agent_id=agent,
            memory_type=memory_type,
            search=search,
            tags_all=tag or None,
            row_limit=limit,
            row_offset=offset,
            as_of=as_of and as_of.replace(tzinfo=timezone.utc),
            include_superseded=superseded,
            include_quarantined=quarantined,
            thread_id=thread,
        )
        why = None if found else _why_none(connection, user_id)
    nothing = "No memories." if why is None else f"No memories. {why}"
    print_entries(found, lambda record: (_heading(record), record.content), nothing, as_json, offset)


@memories.command()
def show(user_id: User, memory_id: Id, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Show one memory with all there is about it, and its history. A deleted one has its history alone."""
    with opened(dsn) as memory:
        history = memory.get_memory_history(user_id, memory_id)
        try:
            record = memory.get_memory(user_id, memory_id)
        except NotFoundError:
            if not history:
                raise
            record = None
    if as_json:
        print_json({"memory": record, "history": history})
        return
    if record is not None:
        print_entry(" · ".join(filter(None, _heading(record))), record.content)
        print_table(("", ""), _facts(record))
    print_table(
        ("version", "when", "what", "by", "content"),
        ((each.version, moment(each.changed_at), each.operation, each.changed_by, each.content) for each in history),
    )


@memories.command()
def add(
    user_id: User,
    content: Annotated[str, typer.Argument(metavar="CONTENT", help="What to remember.")],
    memory_type: Annotated[str | None, typer.Option("--type", help="Of what type.", show_default="fact")] = None,
    tag: Tags = None,
    agent: Annotated[str | None, typer.Option("--agent", "--agent-id", help="Of which agent.")] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Remember something, and print its id. A memory that is stored already keeps its id."""
    with opened(dsn) as memory:
        added = memory.add_memory(user_id, content, memory_type, agent, tags=tag or None)
    check_stored(added.memory_id)
    if as_json:
        print_json(added)
    else:
        typer.echo(added.memory_id)


@memories.command()
def update(
    user_id: User,
    memory_id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")],
    tag: Tags = None,
    dsn: Dsn = None,
) -> None:
    """Change the text, and the tags if any are named; the history keeps the former version."""
    with opened(dsn) as memory:
        version = memory.update_memory(user_id, memory_id, text, tags=tag or None)
    print_line(f"{memory_id} is version {version} now.")


@memories.command()
def delete(user_id: User, memory_id: Id, dsn: Dsn = None) -> None:
    """Delete a memory; "agent-memory memories restore" brings it back until the next sweep."""
    with opened(dsn) as memory:
        if not memory.delete_memory(user_id, memory_id):
            raise NotFoundError(
                f'user "{user_id}" has no memory {memory_id}', hint=f"Run: agent-memory memories list {user_id}"
            )
    print_line(f"Deleted {memory_id}.")


@memories.command()
def forget(
    user_id: User,
    memory_id: Id,
    reason: Annotated[str | None, typer.Option(help="Kept with the receipt.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Remove a memory for good, with the messages that state it and all that was made of them."""
    with opened(dsn) as memory:
        content = memory.get_memory(user_id, memory_id).content
        if not yes:
            confirm_for_good(f'Forget "{content}"?')
        receipt = memory.forget_memory(user_id, memory_id, reason)
    if as_json:
        print_json(receipt)
        return
    for table, rows in sorted(receipt["tables"].items()):
        print_line(f"{table}: {rows}")
    print_line(f"Forgotten {memory_id}. Receipt {receipt['receipt_id']}.")


@memories.command()
def restore(
    user_id: User,
    memory_id: Id,
    version: Annotated[
        int | None, typer.Option(min=1, help="Which version.", show_default="the last one that was shown")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Undo a deletion, a supersede or later changes."""
    with opened(dsn) as memory:
        restored = memory.restore_memory(user_id, memory_id, version)
    print_line(f"{memory_id} is restored, as version {restored}.")


@memories.command()
def supersede(
    user_id: User,
    old_memory_id: Annotated[str, typer.Argument(metavar="OLD", help="The id of the memory to hide.")],
    new_memory_id: Annotated[str, typer.Argument(metavar="NEW", help="The id of the memory that holds instead.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "by hand",
    dsn: Dsn = None,
) -> None:
    """Let a memory take the place of another one."""
    with opened(dsn) as memory:
        memory.supersede_memory(user_id, old_memory_id, new_memory_id, reason)
    print_line(f"{new_memory_id} takes the place of {old_memory_id}.")


@memories.command()
def extract(
    user_id: User,
    thread_id: Annotated[
        str | None, typer.Argument(metavar="THREAD", show_default="each thread with unread messages")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Queue the extraction of memories from messages that are not read yet, without waiting for ten of them."""
    with connected(dsn, user_id) as connection:
        threads = [thread_id] if thread_id is not None else _unread_threads(connection, user_id)
        for thread in threads:
            job_id = Memory(connection).extract_memories(user_id, thread)
            print_line(f"Job {job_id} reads thread {thread}.")
    print_line("Where no worker runs: agent-memory worker --once" if threads else "All messages are read already.")


def _unread_threads(connection: psycopg.Connection[Any], user_id: str) -> list[str]:
    return [thread_id for (thread_id,) in connection.execute(_UNREAD_THREADS, [user_id]).fetchall()]


def _why_none(connection: psycopg.Connection[Any], user_id: str) -> str | None:
    """Return the reason why there are no memories, nothing for a role that may not read counters."""
    try:
        row = connection.cursor(row_factory=dict_row).execute(UNREAD, {"user": user_id}).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return None
    return why_no_memories(user_id, row or {"threads": 0})


def _heading(record: MemoryRecord) -> tuple[str | None, ...]:
    state = "in quarantine" if record.quarantined_at else "superseded" if record.superseded_by else None
    return str(record.memory_id), record.memory_type, moment(record.created_at), ", ".join(record.tags), state


def _facts(record: MemoryRecord) -> list[tuple[str, object]]:
    """Return the other columns of a memory that are not empty."""
    facts = asdict(record)
    for shown in ("memory_id", "memory_type", "content", "tags", "created_at", "total_count"):
        del facts[shown]
    return [
        (name.replace("_", " "), moment(value) if isinstance(value, datetime) else value)
        for name, value in facts.items()
        if value not in (None, [], {})
    ]
