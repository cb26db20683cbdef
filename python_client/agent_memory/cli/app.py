"""The command ``agent-memory``, made of the commands of this folder."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer

from . import (
    artifacts,
    cluster,
    conversations,
    documents,
    grant,
    hooks,
    installation,
    jobs,
    mcp,
    memories,
    models,
    move,
    policy,
    prompts,
    quarantine,
    serve,
    status,
    sweep,
    threads,
    transfer,
    ui,
    users,
    worker,
)
from .console import Commands
from .printing import console

# Help shows the commands under these headings.
_COMMANDS: dict[str, dict[str, Any]] = {
    "Start here": {
        "install": installation.install,
        "demo": installation.demo,
        "import": transfer.import_,
        "hooks": hooks.hooks,
    },
    "What is remembered": {
        "ui": ui.ui,
        "messages": threads.messages,
        "search": conversations.search,
        "context": conversations.context,
        "export": transfer.export,
        "users": users.users,
        "threads": threads.threads,
        "memories": memories.memories,
        "quarantine": quarantine.quarantine,
        "documents": documents.documents,
        "artifacts": artifacts.artifacts,
    },
    "Administration": {
        "status": status.status,
        "doctor": installation.doctor,
        "grant": grant.grant,
        "sql": installation.sql,
        "uninstall": installation.uninstall,
        "worker": worker.worker,
        "serve": serve.serve,
        "mcp": mcp.mcp,
        "sweep": sweep.sweep,
        "move": move.move,
        "health": worker.health,
        "jobs": jobs.jobs,
        "models": models.models,
        "policy": policy.policy,
        "prompt": prompts.prompts,
        "cluster": cluster.cluster,
    },
}

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    pretty_exceptions_enable=False,
)
for panel, commands in _COMMANDS.items():
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(command)


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
