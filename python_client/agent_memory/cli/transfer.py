"""The commands that bring conversations and memories in and out."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .._progress import progress
from .._text import counted
from ..choices import ImportFormat
from ..client import Memory
from ..client.user_files import begun
from ..types import MemoryRecord, Message
from .console import Dsn, Force, User, connected_to_nodes, opened, standard_input
from .printing import AsJson, console, plain, print_json, print_line, stderr

if TYPE_CHECKING:
    from ..importer import ImportFileError

_SHOWN = 20
"""The command names this many bad records at most, because a file of another format would fill the screen."""
_PAGE = 1000
_OPENAI_MEMBERS = ("name", "tool_calls", "tool_call_id", "refusal", "function_call", "audio", "annotations")
_MEMORY_MEMBERS = (
    "memory_type",
    "agent_id",
    "thread_id",
    "metadata",
    "tags",
    "confidence",
    "importance",
    "source",
    "valid_from",
    "valid_to",
    "expires_at",
    "created_at",
)

Row = TypeVar("Row")


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


def export(
    user_id: User,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to write; else to stdout.")] = None,
    force: Force = False,
    dsn: Dsn = None,
) -> None:
    """Write the messages and memories of a user as JSON Lines, which "agent-memory import" reads.

    A file can be read by this user only.
    """
    records = 0
    with opened(dsn) as memory, begun(file or sys.stdout, overwrite=force) as output:
        for row in _exported(memory, user_id):
            print_json(row, output)
            records += 1
    stderr.print(plain(f"Exported {counted(records, 'record')} of {user_id}."), soft_wrap=True)


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


def _exported(memory: Memory, user_id: str) -> Iterator[dict[str, Any]]:
    """Yield the messages of each thread, oldest first, and then the memories."""
    for thread in _all(lambda offset: memory.list_threads(user_id, _PAGE, offset)):
        newest = memory.get_messages(user_id, thread.thread_id, 1, whole=True)
        for after in range(-1, newest[0].seq if newest else -1, _PAGE):
            for message in memory.get_messages(
                user_id, thread.thread_id, after_seq=after, before_seq=after + _PAGE + 1, whole=True
            ):
                yield _message_line(thread.thread_id, message)
    for record in _all(lambda offset: memory.list_memories(user_id, row_limit=_PAGE, row_offset=offset)):
        yield _memory_line(record)


def _all(page_at: Callable[[int], list[Row]]) -> Iterator[Row]:
    """Yield the rows of all pages."""
    for offset in count(0, _PAGE):
        page = page_at(offset)
        yield from page
        if len(page) < _PAGE:
            return


def _message_line(thread_id: str, message: Message) -> dict[str, Any]:
    """Return a message as the import reads it: with OpenAI's members where OpenAI has them."""
    metadata = dict(message.metadata)
    openai = {name: metadata.pop(name) for name in _OPENAI_MEMBERS if name in metadata}
    line = {"role": message.role, "content": message.content, **openai, "thread_id": thread_id}
    return line | {"created_at": message.created_at} | ({"metadata": metadata} if metadata else {})


def _memory_line(record: MemoryRecord) -> dict[str, Any]:
    line = {"memory": record.content} | {name: getattr(record, name) for name in _MEMORY_MEMBERS}
    return {name: value for name, value in line.items() if value not in (None, [], {})}
