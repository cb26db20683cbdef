"""The command ``agent-memory``, made of the commands of this folder."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from .artifacts import artifacts
from .console import Commands, console
from .conversations import context, import_, search
from .documents import documents
from .installation import demo, doctor, install
from .mcp import mcp
from .move import move
from .prompts import prompts
from .serve import serve
from .status import status
from .usage import usage
from .worker import health, worker

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


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Agent memory inside PostgreSQL."""


app.command()(install)
app.command()(demo)
app.command()(worker)
app.command()(serve)
app.command()(mcp)
app.command("import")(import_)
app.command()(context)
app.command()(search)
app.command()(doctor)
app.command()(status)
app.command()(move)
app.add_typer(documents, name="documents")
app.add_typer(artifacts, name="artifacts")
app.add_typer(prompts, name="prompt")
app.command()(usage)
app.command()(health)
