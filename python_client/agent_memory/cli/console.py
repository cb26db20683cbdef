"""Functions that the commands share: names of databases, users and files, and the look of errors."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EADDRINUSE
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import psycopg
import typer
from psycopg.rows import dict_row
from typer.core import TyperGroup
from typer.main import get_command
from typing_extensions import LiteralString

from .._nodes import NodeConnections, node_connections
from .._text import pip_install
from ..calls import translated
from ..client import Memory
from ..embedded import open_store
from ..errors import AgentMemoryError, DegradedWarning, InvalidValueError, NotConnectedError
from ..schema import named_schema
from ..source import named_database
from .printing import plain, stderr


def export_telemetry() -> None:
    """Send traces and metrics to a collector, where the environment names one (docs/tracing.md)."""
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        try:
            from ..telemetry.exporting import export

            export()
        except ImportError as error:
            is_grpc = ".grpc" in (error.name or "")
            missing = "the exporter for gRPC" if is_grpc else "the extra otel"
            command = "pip install opentelemetry-exporter-otlp-proto-grpc" if is_grpc else pip_install("otel")
            logging.getLogger("agent_memory").warning(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and %s is missing. Run: %s", missing, command
            )


def _take_schema(ctx: typer.Context, schema: str | None) -> None:
    """Have all connections of a command, and the programs that it starts, use a schema, as the environment may say."""
    if schema is not None:
        before = os.environ.get("AGENT_MEMORY_SCHEMA", "")
        # Of the root, which is closed after a command whose other arguments are wrong as well.
        ctx.find_root().call_on_close(lambda: os.environ.update(AGENT_MEMORY_SCHEMA=before))
        os.environ["AGENT_MEMORY_SCHEMA"] = named_schema(schema)


@cache
def _schema_option() -> Any:
    """Return the option --schema, as Typer makes it."""
    alone = typer.Typer()

    @alone.command()
    def command(
        schema: Annotated[
            str | None,
            typer.Option(
                envvar="AGENT_MEMORY_SCHEMA",
                show_default="memory",
                help="The schema of the installation.",
                callback=_take_schema,
                expose_value=False,
            ),
        ] = None,
    ) -> None:
        pass

    return get_command(alone).params[0]


class _OfDatabase(TyperGroup):
    """Commands of which those that take a database take a schema as well."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command of the group."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            takes_database = cmd_name == "sql" or "dsn" in {param.name for param in command.params}
            if takes_database and _schema_option() not in command.params:
                command.params.append(_schema_option())
            paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
            command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return command


class Commands(_OfDatabase):
    """Reports the expected kinds of errors in one line and ends with status 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with warnings.catch_warnings():
                # Commands that search print them as notes.
                warnings.simplefilter("ignore", DegradedWarning)
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of stdout has enough, which is no error to report
        except (AgentMemoryError, psycopg.Error, OSError) as error:
            message, hint = _explained(error)
            stderr.print(plain(f"Error: {message}", "red"), soft_wrap=True)
            if hint:
                stderr.print(plain(f"Hint: {hint}"), soft_wrap=True)
            raise typer.Exit(1) from error


class Group(_OfDatabase):
    """Commands about one thing, of which ``list`` need not be named: "agent-memory threads ana" lists ana's threads."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert ``list`` where no command is named; without a word, say that a list is of a user."""
        if not args and "list" in self.commands and self.no_args_is_help and not ctx.resilient_parsing:
            ctx.fail(f"name a user: {ctx.command_path} ana")
        names = {*self.commands, *ctx.help_option_names}
        if "list" in self.commands and (args[0] not in names if args else not self.no_args_is_help):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def _explained(error: AgentMemoryError | psycopg.Error | OSError) -> tuple[str, str | None]:
    if isinstance(error, AgentMemoryError):
        return error.message, error.hint
    if isinstance(error, psycopg.Error) and error.diag.message_primary is not None:
        return error.diag.message_primary, error.diag.message_hint
    if isinstance(error, OSError) and error.strerror and error.filename:
        hint = "Another program listens there: name another port with --port." if error.errno == EADDRINUSE else None
        return f"{error.strerror}: {error.filename}", hint
    # Errors before there is a connection have no fields; the first of their lines says what is wrong.
    return str(error).partition("\n")[0], None


Dsn = Annotated[
    str | None,
    typer.Option(
        envvar="AGENT_MEMORY_DSN",
        help="Connection string; without one, the embedded PostgreSQL of this user. postgresql:// takes libpq's own "
        "environment (PGHOST, PGDATABASE, ...).",
    ),
]

Agent = Annotated[str | None, typer.Option("--agent", "--agent-id", help="Only this agent.")]

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="The id of the thread.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there already.")]
User = Annotated[str, typer.Argument(metavar="USER", help="The id of the user.")]


@contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """Yield the connection string of the database that the command is about; an embedded one runs meanwhile."""
    named = named_database(dsn)
    if named is not None:
        yield named
        return
    unheard = [name for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE") if os.environ.get(name)]
    if unheard:
        note = f"{' and '.join(unheard)} {'is' if len(unheard) == 1 else 'are'} ignored, this is the embedded store."
        stderr.print(f"Note: {note} For that server: --dsn postgresql://", soft_wrap=True)
    with open_store() as store:
        yield store.conninfo


@contextmanager
def opened(dsn: str | None) -> Iterator[Memory]:
    """Yield a client: on one connection, or where the database is a node of a cluster, on pools to all nodes."""
    with connected_to_nodes(dsn) as connections:
        yield connections.memory


@contextmanager
def connected(
    dsn: str | None, user_id: str | None = None, schema: str | None = None
) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection in autocommit mode, on which every error is raised as the client would.

    In a cluster the connection leads to the node of a user, or without one to the node that is named. The schema is
    that of the command, unless one is named.
    """
    with connected_to_nodes(dsn, schema) as connections:
        connection = connections.nodes.first if user_id is None else connections.nodes.of(user_id)
        with translated(connection):
            yield connection


@dataclass(frozen=True)
class Connections:
    """Connections of one command.

    Attributes:
        memory: a client that finds the node of each user.
        nodes: connections for statements.
    """

    memory: Memory
    nodes: NodeConnections

    def rows(
        self,
        statement: LiteralString,
        values: Mapping[str, Any],
        user_id: str | None = None,
        missing: dict[str, NotConnectedError] | None = None,
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement: of the node of a user, or without one those of all nodes put together."""
        rows = []
        for connection in self.nodes.all(missing) if user_id is None else [self.nodes.of(user_id)]:
            with translated(connection), connection.cursor(row_factory=dict_row) as cursor:
                rows += cursor.execute(statement, values).fetchall()
        return rows


@contextmanager
def connected_to_nodes(dsn: str | None, schema: str | None = None) -> Iterator[Connections]:
    """Yield connections to the database, and where that is a node of a cluster, to the other nodes when needed."""
    with database(dsn) as conninfo, node_connections(conninfo, schema=schema) as nodes, translated(nodes.first):
        if nodes.map is None:
            yield Connections(Memory(nodes.first), nodes)
        else:
            with Memory(conninfo) as memory:
                yield Connections(memory, nodes)


class _StderrHandler(logging.Handler):
    """Prints records on the console of stderr, above a bar that is there."""

    def emit(self, record: logging.LogRecord) -> None:
        stderr.print(plain(self.format(record)), soft_wrap=True)


def check_stored(stored: object) -> None:
    """Check that a client has stored something."""
    if stored is None:
        raise InvalidValueError(
            'nothing is stored: the agent has no resource "memory"',
            hint="Its policy says so: agent-memory policy show.",
        )


def confirm_for_good(question: str) -> None:
    """Ask before what cannot be undone; ends the command unless somebody agrees."""
    typer.confirm(f"This cannot be undone. {question}", abort=True, err=True)


def log_to_stderr(layout: str, level: int = logging.INFO) -> None:
    """Show the log of this package."""
    logging.basicConfig(format=layout, handlers=[_StderrHandler()])
    logging.getLogger("agent_memory").setLevel(level)


def read_text(file: Path) -> str:
    """Return the text of a file, or of stdin for ``-``."""
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from None


def standard_input() -> Iterator[bytes]:
    """Yield stdin as it comes, a MiB at a time."""
    while block := sys.stdin.buffer.read(1 << 20):
        yield block
