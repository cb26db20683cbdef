"""The command that opens the page."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from .._files import written
from ..server.settings import PORT, Settings, keys_of_environment
from .console import Dsn
from .printing import console
from .serve import listen

_PREFIX = "agent-memory-ui-"


def ui(
    dsn: Dsn = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    edit: Annotated[bool, typer.Option("--edit", help="Let the page change memories and jobs.")] = False,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Open a page that shows stored rows and the context that a model would see, until Ctrl-C.

    The page is served on this machine only, to browsers that open the address with the token that is printed; without
    a connection string the embedded store of this user is started.
    """
    keys: dict[str, Any] = keys_of_environment()
    settings = Settings(**keys, port=port)

    with ExitStack() as files:

        def announce(url: str) -> None:
            console.print(Text(f"Open {settings.entry(url)} in a browser. Ctrl-C ends it."), soft_wrap=True)
            if browser and _has_screen():
                # In a thread, because some browsers answer only when they are closed.
                address = files.enter_context(_leading_to(settings.entry(url))) if settings.is_keyless else url
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        listen(dsn, settings, announce, may_edit=edit)


@contextmanager
def _leading_to(address: str) -> Iterator[str]:
    """Yield the address of a file that leads a browser on: everybody here can read the arguments of a browser."""
    with _new_folder() as folder:
        file = Path(folder, "open.html")
        with written(file) as page:
            page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
        yield file.as_uri()


def _new_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder in the home folder, where this can be: a browser in a snap has a /tmp of its own.

    Its name does not begin with a dot, because such a browser reads no hidden files.
    """
    with suppress(OSError, RuntimeError):  # there is no home folder, or it is read only
        return tempfile.TemporaryDirectory(prefix=_PREFIX, dir=Path.home().resolve())
    return tempfile.TemporaryDirectory(prefix=_PREFIX)


def _has_screen() -> bool:
    """Tell whether a browser has a window: one in the terminal would get in the way of what is printed there."""
    named = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform == "darwin" or os.name == "nt" or any(os.environ.get(name) for name in named)
