"""The command that opens the page."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from typing import Annotated, Any

import typer

from ..server.settings import PORT, Settings, keys_of_environment
from .console import Dsn
from .serve import listen, say_where


def ui(
    dsn: Dsn = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    edit: Annotated[bool, typer.Option("--edit", help="Let the page change memories and jobs.")] = False,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Open a page that shows what is stored, and what a model would see, until Ctrl-C.

    The page is served on this machine only; without a connection string the embedded store of this user is started.
    """
    keys: dict[str, Any] = keys_of_environment()
    settings = Settings(**keys, port=port)

    def announce(url: str) -> None:
        say_where(url, settings)
        if browser and _has_screen():
            # In a thread, because some browsers answer only when they are closed.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    listen(dsn, settings, announce, may_edit=edit)


def _has_screen() -> bool:
    """Tell whether a browser has a window: one in the terminal would get in the way of what is printed there."""
    named = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform == "darwin" or os.name == "nt" or any(os.environ.get(name) for name in named)
