"""The command that serves HTTP."""

from __future__ import annotations

import logging
from typing import Annotated

import typer
from rich.text import Text

from ..server import check_packages
from ..server.settings import (
    GRACE,
    HOST,
    MAX_BODY_MIB,
    MAX_IMPORT_MIB,
    MIB,
    POOL_SIZE,
    PORT,
    RATE_LIMIT,
    Settings,
    keys_of_environment,
)
from .console import Dsn, log_to_stderr
from .printing import console


def serve(
    dsn: Dsn = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    pool_size: Annotated[int, typer.Option(min=1, help="Connections to the database.")] = POOL_SIZE,
    max_body: Annotated[int, typer.Option(min=0, help="MiB of a request; 0 for any number.")] = MAX_BODY_MIB,
    max_import: Annotated[int, typer.Option(min=0, help="MiB of an import; 0 for any number.")] = MAX_IMPORT_MIB,
    rate_limit: Annotated[
        int, typer.Option(min=0, help="Requests a minute of one user's tokens; 0 for any number.")
    ] = RATE_LIMIT,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that requests under way get to end after SIGTERM.")
    ] = GRACE,
) -> None:
    """Serve HTTP until SIGTERM or SIGINT; /openapi.json describes the endpoints.

    Who may call is said by the environment: AGENT_MEMORY_API_KEY is the administrator's key; AGENT_MEMORY_JWT_SECRET
    (HS256) or AGENT_MEMORY_JWKS_URL check tokens whose sub is the user. With none of them, only programs of this
    machine are served.
    """
    check_packages()
    from ..server.serve import serve as run

    log_to_stderr("%(asctime)s %(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)  # what the client says of each call, callers read in its answer
    settings = Settings(
        **keys_of_environment(),
        host=host,
        port=port,
        pool_size=pool_size,
        max_body=max_body * MIB or None,
        max_import=max_import * MIB or None,
        rate_limit=rate_limit or None,
        grace=grace,
    )

    def announce(url: str) -> None:
        who = "no key and no tokens, so for programs of this machine only" if settings.is_open else "with access checks"
        console.print(Text(f"Listening on {url} ({who})."), soft_wrap=True)

    run(dsn, settings, announce)
