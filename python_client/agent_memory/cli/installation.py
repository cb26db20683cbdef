"""The commands that install agent_memory, check an installation, and show a demonstration."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import psycopg
import typer
from rich.table import Table
from rich.text import Text

from ..client import Memory
from ..errors import NotInstalledError
from ..install import create_roles, one_statement, roles_file, sql_file
from ..install import install as install_into
from ..source import named_database
from ..types import Check
from .console import Dsn, connected, connected_to_nodes
from .printing import AsJson, console, plain, print_json
from .status import OWN_WORKER

Roles = Annotated[
    bool,
    typer.Option(
        "--roles",
        help="Only create the roles memory_app, memory_tenant, ..., where the owner may not; needs CREATEROLE.",
    ),
]
_DEGRADED = "degraded: "
"""How the detail of a check begins that is ok, although answers are worse than they could be."""
_MODEL = "embedding model"
_RUNNER = "in-database runner"
Print = Annotated[bool, typer.Option("--print", help="Print the SQL instead of running it.")]


def install(roles: Roles = False, print_only: Print = False, dsn: Dsn = None) -> None:
    """Install agent_memory into a database, or upgrade it."""
    if print_only:
        typer.echo(roles_file() if roles else sql_file(), nl=False)
        return
    with connected(dsn) as connection:
        if roles:
            create_roles(connection)
            console.print("The roles are there. Now the owner of schema memory runs: agent-memory install")
            return
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
        _print_checks(memory.admin.doctor())


def sql() -> None:
    """Print the installation, which is also the upgrade, as one statement that runs in a migration's transaction."""
    typer.echo(one_statement(), nl=False)


def demo() -> None:
    """See it work: a temporary server, a long conversation, and what is remembered of it. Changes nothing of yours."""
    from ..demo import run as run_demo

    run_demo(console)


def doctor(as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Check an installation; status 1 when something is broken."""
    with connected_to_nodes(dsn) as connections:
        connection = connections.nodes.first
        checks = connections.memory.admin.doctor()
        if named_database(dsn) is None:
            from .local_model import HELP, unable

            better = {_RUNNER: OWN_WORKER}
            if (reason := unable(connection)) is not None:
                better[_MODEL] = f"{_DEGRADED}{reason}. {HELP}"
            checks = [replace(check, detail=better.get(check.check_name, check.detail)) for check in checks]
    if as_json:
        for check in checks:
            print_json(check)
    else:
        _print_checks(checks)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def _installed_version(connection: psycopg.Connection[Any]) -> str | None:
    try:
        return Memory(connection).version()
    except NotInstalledError:
        return None


def _print_checks(checks: list[Check]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for check in checks:
        mark = Text("broken", style="red")
        if check.ok:
            is_less = check.detail.startswith(_DEGRADED)
            mark = Text("degraded", style="yellow") if is_less else Text("ok", style="green")
        table.add_row(mark, plain(check.check_name), plain(check.detail.removeprefix(_DEGRADED)))
    console.print(table)
