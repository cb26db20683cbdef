"""The socket that a server listens on."""

from __future__ import annotations

import socket

from .settings import Settings


def listening_socket(settings: Settings) -> socket.socket:
    """Return a socket that accepts connections from now on, before anybody is told the port.

    Raises:
        OSError: the address cannot be listened on.
    """
    [(family, *_, address), *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, error.strerror, f"{settings.host}:{settings.port}") from None
    return listening


def url_of(listening: socket.socket) -> str:
    """Return the URL at which a socket is reached."""
    address, port = listening.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
