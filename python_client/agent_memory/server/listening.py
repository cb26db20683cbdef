"""The socket that a server listens on, and how an application is served there."""

from __future__ import annotations

import resource
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from .. import _hooks
from .settings import Settings

_MOST = 2000
"""Connections, where the system allows as many; a further one is answered 503."""
_MOST_FILES = 8192
_LONGEST_HEADERS = 1 << 16
"""Bytes of the headers of a request, of the trailers of its body, or of the extensions of a chunk."""


def listening_socket(settings: Settings) -> socket.socket:
    """Return a socket that accepts connections from now on, before anybody is told the port."""
    [(family, *_, address), *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    # Named as TCP, so that asyncio switches Nagle's algorithm off: answers would wait 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, error.strerror, f"{settings.host}:{settings.port}") from None
    return listening


def url_of(listening: socket.socket) -> str:
    """Return the URL of a server that listens on a socket."""
    address, port = listening.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


async def serve_app(
    app: ASGIApp, listening: socket.socket, settings: Settings, announce: Callable[[str], None]
) -> None:
    """Serve an application until SIGTERM or SIGINT; requests under way get ``settings.grace`` seconds to end."""
    config = uvicorn.Config(
        app if _hooks.middleware is None else _hooks.middleware(app),
        http="h11",  # unlike httptools, it limits what comes before and between the parts of a body
        h11_max_incomplete_event_size=_LONGEST_HEADERS,
        limit_concurrency=most_connections(),
        log_level="warning",
        access_log=False,  # queries name users
        lifespan="off",
        ws="none",
        # Longer than clients keep idle connections, most for a minute: who closes first loses no request.
        timeout_keep_alive=75,
        server_header=False,
        timeout_graceful_shutdown=round(settings.grace),
    )
    announce(url_of(listening))
    # At its end uvicorn sends itself the signal again that ended it; the database is to be left first.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    await uvicorn.Server(config).serve([listening])


def most_connections() -> int:
    """Raise the limit of open files where the system allows that, and return how many connections may use half of them.

    The other half is for the database, for files of imports, and for connections that are to be told of the limit.
    """
    soft, hard = (
        _MOST_FILES if of == resource.RLIM_INFINITY else min(of, _MOST_FILES)
        for of in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return min(_MOST, hard // 2)
