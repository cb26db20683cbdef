"""The commands that give coding assistants a memory."""

from __future__ import annotations

import getpass
import os
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from psycopg import Connection

from ..calls import translated
from ..embedded import open_store
from ..errors import InvalidValueError
from ..hooks import settings
from ..hooks.assistants import ASSISTANTS
from ..hooks.place import mask_credentials
from ..schema import SCHEMA, cursors_in, named_schema
from ..source import named_database
from .console import Dsn, Group, connected
from .printing import console, plain

hooks = typer.Typer(cls=Group, no_args_is_help=True, help="Give Claude Code, Codex and Gemini CLI a memory.")

Name = Enum("Name", {name: name for name in ASSISTANTS})  # type: ignore[misc]  # Typer wants an Enum for choices
Assistant = Annotated[Name, typer.Argument(metavar="|".join(ASSISTANTS))]


@hooks.command()
def install(
    assistant: Assistant,
    user: Annotated[
        str | None, typer.Option("--user", "--user-id", help="Whose memory it is.", show_default="your login name")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="The folder of an embedded store.", show_default="the one of this user"),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Have an assistant keep its sessions, and begin each one with what is remembered about the folder.

    The hooks stand in the assistant's own settings, and everything else there stays. They use the database or the store
    that is named here, whatever the assistant's environment says. Credentials in messages are stored as marks.
    """
    chosen = ASSISTANTS[assistant.value]
    user = user if user is not None else getpass.getuser()
    if not user.strip():
        raise InvalidValueError("--user: must not be empty", hint="Name the user whose memory it is.")
    if store is not None and dsn == os.environ.get("AGENT_MEMORY_DSN"):
        dsn = None  # the option is nearer than the environment
    database = named_database(dsn) if store is None else dsn
    if store is not None and database is not None:
        raise InvalidValueError("--store: names an embedded store, but --dsn names a database", hint="Name one.")
    memory = {"user": user}
    if database is not None:
        memory["dsn"] = database
        if (schema := named_schema()) != SCHEMA:
            memory["schema"] = schema
        with connected(database, user) as connection:
            _prepare(connection, user)
    else:
        with open_store(store) as opened:
            memory["store"] = str(opened.folder)
            with (
                Connection.connect(opened.conninfo, autocommit=True, cursor_factory=cursors_in(SCHEMA)) as connection,
                translated(connection),
            ):
                _prepare(connection, user)
    file = settings.install(chosen, memory)
    console.print(plain(f"{chosen.title} now has a memory, that of {user}: see the hooks in {file}"), soft_wrap=True)
    for line in (chosen.note, f"To undo: agent-memory hooks remove {chosen.name}"):
        if line:
            console.print(plain(line), soft_wrap=True)


@hooks.command()
def remove(assistant: Assistant) -> None:
    """Take the hooks out of an assistant's settings. What is remembered stays."""
    chosen = ASSISTANTS[assistant.value]
    file = settings.remove(chosen)
    said = f"Removed the hooks from {file}" if file is not None else f"{chosen.title} has no hooks of agent-memory."
    console.print(plain(said), soft_wrap=True)


def _prepare(connection: Connection, user: str) -> None:
    with connection.transaction():
        mask_credentials(connection, user)
