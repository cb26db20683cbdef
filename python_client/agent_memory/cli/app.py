"""The command ``agent-memory``, made of the commands of this folder."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from .artifacts import artifacts
from .cluster import cluster
from .console import Commands
from .conversations import context, search
from .documents import documents
from .hooks import hooks
from .installation import demo, doctor, install, sql
from .jobs import jobs
from .mcp import mcp
from .memories import memories
from .models import models
from .move import move
from .policy import policy
from .printing import console
from .prompts import prompts
from .quarantine import quarantine
from .serve import serve
from .shell import shell
from .spaces import spaces
from .status import status
from .sweep import sweep
from .threads import messages, threads
from .transfer import export, import_
from .ui import ui
from .usage import usage
from .users import users
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


START, LOOK, ADMINISTER = "Start here", "What is remembered", "Administration"

app.command(rich_help_panel=START)(install)
app.command(rich_help_panel=START)(demo)
app.command(rich_help_panel=START)(shell)
app.command("import", rich_help_panel=START)(import_)
app.add_typer(hooks, name="hooks", rich_help_panel=START)
app.command(rich_help_panel=LOOK)(ui)
app.add_typer(users, name="users", rich_help_panel=LOOK)
app.add_typer(spaces, name="spaces", rich_help_panel=LOOK)
app.add_typer(threads, name="threads", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(messages)
app.add_typer(memories, name="memories", rich_help_panel=LOOK)
app.add_typer(quarantine, name="quarantine", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(search)
app.command(rich_help_panel=LOOK)(context)
app.add_typer(documents, name="documents", rich_help_panel=LOOK)
app.add_typer(artifacts, name="artifacts", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(export)
app.command(rich_help_panel=ADMINISTER)(status)
app.command(rich_help_panel=ADMINISTER)(doctor)
app.command(rich_help_panel=ADMINISTER)(sql)
app.command(rich_help_panel=ADMINISTER)(worker)
app.command(rich_help_panel=ADMINISTER)(serve)
app.command(rich_help_panel=ADMINISTER)(mcp)
app.add_typer(jobs, name="jobs", rich_help_panel=ADMINISTER)
app.add_typer(models, name="models", rich_help_panel=ADMINISTER)
app.add_typer(policy, name="policy", rich_help_panel=ADMINISTER)
app.add_typer(prompts, name="prompt", rich_help_panel=ADMINISTER)
app.command(rich_help_panel=ADMINISTER)(usage)
app.command(rich_help_panel=ADMINISTER)(sweep)
app.command(rich_help_panel=ADMINISTER)(move)
app.add_typer(cluster, name="cluster", rich_help_panel=ADMINISTER)
app.command(rich_help_panel=ADMINISTER)(health)
