"""The commands that install agent_memory, check an installation, and show a demonstration."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any

import psycopg
import typer
from rich.table import Table
from rich.text import Text

from ..client import Memory
from ..errors import InvalidValueError, NotInstalledError, PermissionDeniedError
from ..install import create_roles, one_statement, roles_file, sql_file
from ..install import install as install_into
from ..schema import named_schema
from ..source import named_database
from ..types import Check
from ..uninstall import uninstall as uninstall_from
from .console import Dsn, confirm_for_good, connected, connected_to_nodes
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
_ADDONS = "select memory._addons()"
_MODEL = "embedding model"
_RUNNER = "in-database runner"
Core = Annotated[bool, typer.Option("--core", help="Without the add-ons; a later installation adds what is missing.")]
Print = Annotated[bool, typer.Option("--print", help="Print the SQL instead of running it.")]


def install(roles: Roles = False, core: Core = False, print_only: Print = False, dsn: Dsn = None) -> None:
    """Install agent_memory into a database, or upgrade it."""
    if print_only:
        typer.echo(roles_file() if roles else sql_file(core=core), nl=False)
        return
    with connected(dsn) as connection:
        if roles:
            create_roles(connection)
            console.print(f"The roles are there. Now the owner of schema {named_schema()} runs: agent-memory install")
            return
        before = _installed(connection)
        said: list[str] = []
        connection.add_notice_handler(lambda notice: said.append(notice.message_detail or ""))
        with console.status("installing ..."):
            install_into(connection, core=core)
        after = _installed(connection)
        version, addons = after or ("", [])
        if before is None:
            done = f"Installed agent_memory {version}."
        elif before == after:
            done = f"agent_memory {version} is current already."
        elif before[0] == version:
            done = f"Added to agent_memory {version}: {', '.join(addons)}."
        else:
            done = f"Upgraded agent_memory from {before[0]} to {version}."
        console.print(done, *([] if addons else ["It is the core alone."]))
        console.print(*filter(None, said), sep="\n", markup=False)
        _print_checks(Memory(connection).admin.doctor())


def sql(
    checksum: Annotated[
        bool, typer.Option("--checksum", help="Print the SHA-256 of the install file, that of install --print.")
    ] = False,
    core: Core = False,
) -> None:
    """Print the installation, which is also the upgrade, as one statement that runs in a migration's transaction."""
    if checksum:
        typer.echo(sha256(sql_file(core=core)).hexdigest())
    else:
        typer.echo(one_statement(core=core), nl=False)


def uninstall(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would go.")] = False,
    dsn: Dsn = None,
) -> None:
    """Remove agent_memory from a database: its schema with all that is stored, schedules, roles and extensions."""
    if named_database(dsn) is None:
        raise InvalidValueError(
            "dsn: this removes agent_memory from a database of a server",
            hint="Name the database with --dsn. To remove an embedded store, end its processes and delete its folder.",
        )
    with connected(dsn) as connection:
        for part in uninstall_from(connection, dry_run=True):
            console.print(f"{'goes' if part.stays is None else 'stays'}:", plain(part.what), soft_wrap=True)
            console.print("      ", plain(part.stays or part.statement), soft_wrap=True)
        if dry_run:
            return
        if not yes:
            confirm_for_good(f"Remove agent_memory from database {connection.info.dbname}?")
        uninstall_from(connection)
        console.print(f"Database {connection.info.dbname} has no agent_memory any more.")


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


def _installed(connection: psycopg.Connection[Any]) -> tuple[str, list[str]] | None:
    """Return the version that a database has, and its add-ons; None too where the role may not know it."""
    try:
        version = Memory(connection).version()
        [addons] = connection.execute(_ADDONS).fetchone() or [[]]
    except (
        NotInstalledError,
        PermissionDeniedError,
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedFunction,
    ):
        return None
    return version, addons


def _print_checks(checks: list[Check]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for check in checks:
        mark = Text("broken", style="red")
        if check.ok:
            is_less = check.detail.startswith(_DEGRADED)
            mark = Text("degraded", style="yellow") if is_less else Text("ok", style="green")
        table.add_row(mark, plain(check.check_name), plain(check.detail.removeprefix(_DEGRADED)))
    console.print(table)
