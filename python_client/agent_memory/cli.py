"""The command ``agent-memory``."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import ExitStack
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import psycopg
import typer
from rich.table import Table
from rich.text import Text

from . import _administration
from ._artifacts import artifacts
from ._console import Commands, Dsn, User, connected, console, log_to_stderr, stderr
from ._documents import documents
from ._progress import progress
from ._sync import Memory
from ._text import counted
from .demo import run as run_demo
from .errors import NotInstalledError
from .importer import import_file
from .install import install as install_into
from .types import Check
from .worker import Worker, WorkerCounts

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.print(f"agent-memory {version('pg-agent-memory')}")
        raise typer.Exit


# How the database ends a notice that somebody who has set up no embedding model need not read at each search.
_WITHOUT_MODEL = "no embedding model is active"


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Agent memory inside PostgreSQL."""


@app.command()
def install(dsn: Dsn = "") -> None:
    """Install agent_memory into a database, or upgrade it."""
    with connected(dsn) as connection:
        before = _installed_version(connection)
        with console.status("installing ..."):
            install_into(connection)
        memory = Memory(connection)
        after = memory.version()
        if before is None:
            console.print(f"Installed agent_memory {after}.")
        elif before == after:
            console.print(f"agent_memory {after} is current already.")
        else:
            console.print(f"Upgraded agent_memory from {before} to {after}.")
        _print_checks(memory.doctor())


@app.command()
def demo() -> None:
    """See it work: a temporary server, a long conversation, and what is remembered of it. Changes nothing of yours."""
    run_demo(console)


@app.command()
def worker(
    dsn: Dsn = "",
    once: Annotated[bool, typer.Option("--once", help="Stop when no job is left to claim.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Model calls at the same time.")] = 10,
    poll_interval: Annotated[float, typer.Option(min=0.01, help="Seconds between looks into an empty queue.")] = 1.0,
    lease: Annotated[
        float, typer.Option(min=1, help="Seconds after which the job of a worker that died is run again.")
    ] = 300.0,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that calls under way get to finish after SIGTERM.")
    ] = 0.5,
    listen: Annotated[
        bool, typer.Option("--listen", help="Look into the queue at once after: notify agent_memory_jobs.")
    ] = False,
    health_file: Annotated[
        Path | None, typer.Option(help='A file to keep current for "agent-memory health".', show_default=False)
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log a line for each job.")] = False,
) -> None:
    """Run queued model work beside the server until SIGTERM or SIGINT."""
    # Somebody who waits at a terminal sees a bar, everybody else a line about the progress now and then.
    waited_for = once and stderr.is_terminal
    level = logging.DEBUG if verbose else logging.WARNING if waited_for else logging.INFO
    log_to_stderr("%(asctime)s %(levelname)s %(message)s", level)
    with ExitStack() as stack:
        report = stack.enter_context(progress(stderr, "running jobs")) if waited_for else None
        runner = Worker(
            dsn,
            concurrency=concurrency,
            poll_interval=poll_interval,
            lease=timedelta(seconds=lease),
            grace=grace,
            listen=listen,
            health_file=health_file,
            on_settled=report and (lambda counts, total: report(counts.settled, total)),
        )
        counts = asyncio.run(_work(runner, once=once))
    for line in runner.report():
        console.print(Text(line), soft_wrap=True)
    if once and counts.failed:
        raise typer.Exit(1)


@app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="Chat as JSON Lines or JSON, or LoCoMo.")
    ],
    user_id: Annotated[str | None, typer.Option(help="The user of messages that name none.")] = None,
    thread_id: Annotated[
        str | None, typer.Option(help="The thread of messages that name none; the file's name by default.")
    ] = None,
    dsn: Dsn = "",
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


@app.command()
def context(
    user_id: User,
    thread_id: Annotated[str, typer.Argument(metavar="THREAD", show_default=False, help="The id of the thread.")],
    query: Annotated[str | None, typer.Option(help="What the next answer is about.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The budget; the policy's by default.")] = None,
    dsn: Dsn = "",
) -> None:
    """Show the context that a model would get for a thread."""
    _show_notes()
    with connected(dsn) as connection:
        parts = Memory(connection).get_context(user_id, thread_id, query=query, max_tokens=max_tokens)
    for part in parts:
        _print_entry(f"{part.role} · {part.source} · {counted(part.token_count, 'token')}", part.content)
    if not parts:
        console.print(Text(f'Nothing is stored for user "{user_id}", thread "{thread_id}".'), soft_wrap=True)


@app.command()
def search(
    user_id: User,
    query: Annotated[str, typer.Argument(metavar="QUERY", show_default=False, help="What to look for.")],
    limit: Annotated[int | None, typer.Option(min=1, help="How many results at most.", show_default="10")] = None,
    sources: Annotated[
        str | None,
        typer.Option(help="Where to look, separated by commas.", show_default="memory,summary,document"),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="By words and meaning (hybrid), meaning alone (vector) or words alone (keyword).",
            show_default="hybrid, or keyword without an embedding model",
        ),
    ] = None,
    dsn: Dsn = "",
) -> None:
    """Search what is remembered about a user."""
    _show_notes(expects_model=mode is not None)
    with connected(dsn) as connection:
        results = Memory(connection).search(
            user_id, query, mode=mode, sources=None if sources is None else sources.split(","), top_k=limit
        )
    for result in results:
        where = result.thread_id or (result.details or {}).get("title")
        heading = (f"{result.score:.2f}", result.source, where, f"{result.created_at:%Y-%m-%d}")
        _print_entry(" · ".join(filter(None, heading)), result.content)
    if not results:
        console.print("Nothing found.")


@app.command()
def doctor(dsn: Dsn = "") -> None:
    """Check an installation; status 1 when something needs attention."""
    with connected(dsn) as connection:
        checks = Memory(connection).doctor()
    _print_checks(checks)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


app.add_typer(documents, name="documents")
app.add_typer(artifacts, name="artifacts")
app.add_typer(_administration.prompts, name="prompt")
app.command()(_administration.usage)
app.command()(_administration.health)


def _installed_version(connection: psycopg.Connection[Any]) -> str | None:
    try:
        return Memory(connection).version()
    except NotInstalledError:
        return None


async def _work(worker: Worker, *, once: bool) -> WorkerCounts:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    return await worker.run(once=once)


def _show_notes(*, expects_model: bool = False) -> None:
    """Show the notices of the database; that there is no embedding model only to those who count on one."""
    log_to_stderr("Note: %(message)s")
    shown: set[str] = set()

    def is_new(note: logging.LogRecord) -> bool:
        text = note.getMessage()
        if text in shown or (text.endswith(_WITHOUT_MODEL) and not expects_model):
            return False
        shown.add(text)
        return True

    logging.getLogger("agent_memory").addFilter(is_new)


def _print_entry(heading: str, content: str) -> None:
    console.print(Text(heading, style="bold cyan"), soft_wrap=True)
    console.print(Text(content), soft_wrap=True)
    console.print()


def _print_checks(checks: list[Check]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for check in checks:
        mark = Text("ok", style="green") if check.ok else Text("look", style="yellow")
        table.add_row(mark, Text(check.check_name), Text(check.detail))
    console.print(table)


if __name__ == "__main__":
    app(prog_name="agent-memory")
