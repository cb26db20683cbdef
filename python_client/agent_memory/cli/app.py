"""The command ``agent-memory``, made of the commands of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.main import get_group

from .console import Commands
from .printing import console

# Help shows the commands under these headings. Each command is the object of that name in that module.
PANELS = {
    "Start here": {
        "install": "installation:install",
        "demo": "installation:demo",
        "import": "transfer:import_",
        "hooks": "hooks:hooks",
    },
    "What is remembered": {
        "ui": "ui:ui",
        "messages": "threads:messages",
        "search": "conversations:search",
        "context": "conversations:context",
        "export": "transfer:export",
        "users": "users:users",
        "threads": "threads:threads",
        "memories": "memories:memories",
        "quarantine": "quarantine:quarantine",
        "documents": "documents:documents",
        "artifacts": "artifacts:artifacts",
    },
    "Administration": {
        "status": "status:status",
        "doctor": "installation:doctor",
        "grant": "grant:grant",
        "sql": "installation:sql",
        "uninstall": "installation:uninstall",
        "worker": "worker:worker",
        "serve": "serve:serve",
        "mcp": "mcp:mcp",
        "sweep": "sweep:sweep",
        "move": "move:move",
        "health": "worker:health",
        "jobs": "jobs:jobs",
        "models": "models:models",
        "policy": "policy:policy",
        "prompt": "prompts:prompts",
        "cluster": "cluster:cluster",
    },
}
_PLACES = {name: (panel, place) for panel, places in PANELS.items() for name, place in places.items()}


class _Imported(Mapping[str, Any]):
    """The commands by name. Each is imported when somebody asks for it: all of them take a tenth of a second."""

    def __getitem__(self, name: str) -> Any:
        panel, place = _PLACES[name]
        return _imported(name, panel, *place.split(":"))

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


@cache
def _imported(name: str, panel: str, module: str, attribute: str) -> Any:
    """Make a command or a group of commands, as Typer makes it in an application without others."""
    found = getattr(import_module(f".{module}", __package__), attribute)
    alone = typer.Typer()
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name, rich_help_panel=panel)
    else:
        alone.command(name, rich_help_panel=panel)(found)
    return get_group(alone).commands[name]


class _AllCommands(Commands):
    """The commands of the table above."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = _Imported()


app = typer.Typer(
    cls=_AllCommands,
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
