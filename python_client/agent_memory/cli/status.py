"""The command that shows the state of an installation, and the commands that help."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import typer
from rich.table import Table

from .._text import counted
from ..errors import client_version, version_numbers
from ..source import named_database
from .console import Dsn, connected_to_nodes
from .printing import AsJson, console, plain, print_json

OWN_WORKER = "absent: a worker runs inside the programs that use the store"
"""What an embedded store says in place of memory.run_jobs()."""


def status(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Show versions, models, the queue and problems with what helps; status 1 when something is broken."""
    with connected_to_nodes(dsn) as connections:
        connection = connections.nodes.first
        state = connections.memory.admin.status() | _where(connection, dsn)
        if state["folder"] is not None:
            from .local_model import HELP, unable

            reason = unable(connection)
            if reason is not None:
                problem = {"name": "embedding model", "is_broken": False, "detail": reason, "help": HELP}
                state["problems"].append(problem)
    state["package_version"] = client_version()
    if state["version"] != state["package_version"]:
        state["problems"].insert(0, _other_version(state))
    if as_json:
        print_json(state)
    else:
        _print(state)
    if any(problem["is_broken"] for problem in state["problems"]):
        raise typer.Exit(1)


def _where(connection: psycopg.Connection[Any], dsn: str | None) -> dict[str, Any]:
    """Return what the connection tells, which has no password, and the folder of an embedded store."""
    info = connection.info
    folder = None
    if named_database(dsn) is None:
        from ..embedded.folder import resolved

        folder = str(resolved(None))
    return {"host": info.host, "port": info.port, "database": info.dbname, "user": info.user, "folder": folder}


def _other_version(state: dict[str, Any]) -> dict[str, Any]:
    older = version_numbers(state["version"]) < version_numbers(state["package_version"])
    return {
        "name": "version",
        "is_broken": True,
        "detail": f"the database has agent_memory {state['version']}, this package is {state['package_version']}",
        "help": "Run: agent-memory install" if older else "Run: pip install --upgrade pg-agent-memory",
    }


def _print(state: dict[str, Any]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for name, text in _lines(state):
        table.add_row(plain(name, style="bold"), plain(text))
    console.print(table)
    if not state["problems"]:
        console.print(plain("Nothing needs attention.", style="green"))
    for problem in state["problems"]:
        mark = plain("broken  ", style="red") if problem["is_broken"] else plain("degraded", style="yellow")
        console.print(mark + plain(f" {problem['name']}: {problem['detail']}"), soft_wrap=True)
        console.print(plain(f"         {problem['help']}"), soft_wrap=True)


def _lines(state: dict[str, Any]) -> list[tuple[str, str]]:
    queue, embedded, is_embedded = state["queue"], state["embedded"], state["folder"] is not None
    where = f"database {state['database']} on {state['host']}:{state['port']}, as {state['user']}"
    runner = 'absent: "agent-memory worker" runs beside the server'
    if is_embedded:
        where, runner = f"embedded in {state['folder']}, runs while it is used", OWN_WORKER
    lines = [("server", f"PostgreSQL {state['server_version']}, {where}")]
    if "nodes" in state:
        lines.append(("nodes", ", ".join(state["nodes"])))
    lines += [
        ("agent_memory", f"{state['version']} in the database, {state['package_version']} here"),
        ("add-ons", ", ".join(state["addons"]) or 'none, this is the core: "agent-memory install" adds them'),
        ("pgvector", state["pgvector"] or "missing"),
        ("PL/Python", "call memory.run_jobs() works" if state["has_runner"] else runner),
    ]
    for model in state["models"]:
        works = "not called yet" if model["last_called_at"] is None else f"last called {_ago(model['last_called_at'])}"
        if model["last_error"]:
            works = f"failed: {model['last_error']}"
        what = f"provider {model['provider']}, {model['model']}"
        if (model["kind"], model["provider"]) == ("chat", "local"):
            what = "built-in rules, no key"
        lines.append((f"{model['kind']} model", f"{model['name']} ({what}), {works}"))
    if embedded is not None:
        about = "about " if embedded["is_estimate"] else ""
        lines.append(("embedded", f"{about}{embedded['done']:,} of {counted(embedded['total'], 'text')}"))
    if state["expiring"]["unread"]:
        least = "at least " if state["expiring"]["is_estimate"] else ""
        lines.append(("unread", f"{least}{counted(state['expiring']['unread'], 'message')} will expire within a day"))
    due = f"{queue['due']:,} due"
    if queue["due"]:
        due += f", the oldest for {timedelta(seconds=queue['oldest_due_seconds'])}"
    workers = [f"{worker['worker']} ({_ago(worker['last_seen_at'])})" for worker in queue["workers"][:3]]
    return [
        *lines,
        ("queue", f"{queue['pending']:,} waiting ({due}), {queue['running']:,} running, {queue['dead']:,} dead"),
        ("jobs last done by", ", ".join(workers) or "nobody yet"),
    ]


def _ago(moment: str) -> str:
    age = datetime.now(timezone.utc) - datetime.fromisoformat(moment)
    return f"{timedelta(seconds=max(0, round(age.total_seconds())))} ago"
