"""The command that makes a login role a member of a role of agent_memory."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from psycopg.sql import SQL, Identifier

from .console import Dsn, connected
from .printing import print_line

Kind = Annotated[
    Literal["app", "worker", "reader", "admin"],
    typer.Argument(metavar="app|worker|reader|admin", help="What the login role is to do."),
]


def grant(
    kind: Kind,
    login: Annotated[str, typer.Argument(metavar="LOGIN", help="The login role.")],
    dsn: Dsn = None,
) -> None:
    """Make a login role a member of memory_app or another one, whatever that is named in this database."""
    with connected(dsn) as connection:
        [role] = connection.execute("select memory._role_name(%s)", [kind]).fetchone() or [""]
        connection.execute(SQL("grant {} to {}").format(Identifier(role), Identifier(login)))
        print_line(f"{login} is a member of {role} of database {connection.info.dbname}.")
