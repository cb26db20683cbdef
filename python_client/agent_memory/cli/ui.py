"""The command that serves the page alone."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from ..server.settings import PORT, Settings, keys_of_environment
from .console import Dsn
from .printing import console
from .serve import listen


def ui(
    dsn: Dsn = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    edit: Annotated[bool, typer.Option("--edit", help="Let the page change memories and jobs.")] = False,
) -> None:
    """Serve a page that shows stored rows and the context that a model would see, until Ctrl-C.

    The page is served on this machine only, to browsers that open the address with the token that is printed; without
    a connection string the embedded store of this user is started.
    """
    keys: dict[str, Any] = keys_of_environment()
    settings = Settings(**keys, port=port)

    def announce(url: str) -> None:
        console.print(Text(f"Open {settings.entry(url)} in a browser. Ctrl-C ends it."), soft_wrap=True)

    listen(dsn, settings, announce, may_edit=edit)
