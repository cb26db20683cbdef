"""How many connections a server has, and how long somebody may take to send a request.

A connection that sends nothing, half a request, or a byte now and then costs its sender nothing. Requests that have
arrived are not limited here: they wait for the pool of the database, or are turned away by the rate limit.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

logger = logging.getLogger("agent_memory.server")

_MOST = 2000
"""Connections, where the system allows as many; a connection takes about 30 KB."""
_FILES = resource.RLIMIT_NOFILE
_MOST_FILES = 8192
_HEADER_SECONDS = 20.0
"""Within which a new connection, or one on which a request has begun, has sent all headers of a request."""
_HEADER_BYTES = 1 << 16
_BODY_SECONDS = 20.0
_SLOWEST = 500
"""Bytes a second that a body has to bring, on an average of ``_BODY_SECONDS``."""


def set_limits() -> int:
    """Raise the limit of open files where the system allows that, and return how many may wait for being accepted.

    asyncio accepts as many at once, so those that wait and those that are open must fit into the limit together.
    """
    soft, hard = (_MOST_FILES if of == resource.RLIM_INFINITY else of for of in resource.getrlimit(_FILES))
    if soft < min(hard, _MOST_FILES):
        soft = min(hard, _MOST_FILES)
        resource.setrlimit(_FILES, (soft, resource.getrlimit(_FILES)[1]))
    Connection.most = min(_MOST, soft // 2)
    return min(2048, soft // 4)


class _OnceAMinute(logging.Filter):
    """Lets a line of the log pass once a minute: a flood of bad requests is to be seen, and must not fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a line is written."""
        if record.exc_info:
            return True
        now = time.monotonic()
        if now < self._next.get(record.msg, 0.0):
            return False
        self._next[record.msg] = now + 60.0
        return True


def log_once_a_minute() -> None:
    """Have the lines about bad and too many connections written once a minute."""
    for name in (logger.name, "uvicorn.error"):
        logging.getLogger(name).addFilter(_OnceAMinute())


class Connection(HttpToolsProtocol):
    """A connection on which each request has to arrive in time.

    Where there are too many connections, the one goes on which nobody has said for longest what he wants.
    """

    most = _MOST
    _silent: ClassVar[dict[Connection, None]] = {}
    """Connections without the headers of a request, and idle ones; the longest such one first."""
    _deadline: asyncio.TimerHandle | None = None
    _received = 0
    _has_headers = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, in place of another connection if there are too many."""
        super().connection_made(transport)
        self._expect(_HEADER_SECONDS)
        self._silent[self] = None
        if len(self.connections) > self.most:
            logger.warning("more than %d connections: those that say nothing for longest are closed", self.most)
            next(iter(self._silent))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._silent.pop(self, None)
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the headers are too long."""
        self._received += len(data)
        super().data_received(data)
        if not self._has_headers and self._received > _HEADER_BYTES:
            logger.warning("headers of more than %d KiB: the connection is closed", _HEADER_BYTES >> 10)
            self._give_up()

    def on_message_begin(self) -> None:
        """Expect headers."""
        super().on_message_begin()
        self._has_headers, self._received = False, 0
        self._expect(_HEADER_SECONDS)

    def on_headers_complete(self) -> None:
        """Expect a body."""
        self._has_headers, self._received = True, 0
        self._silent.pop(self, None)
        self._expect(_BODY_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect nothing until there is an answer."""
        self._expect(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Be idle; uvicorn closes connections that stay so."""
        self._silent[self] = None
        super().on_response_complete()

    def _expect(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        is_slow = self._received < _BODY_SECONDS * _SLOWEST if self._has_headers else not is_answering
        if is_slow and not self.flow.read_paused:
            logger.warning("requests that do not arrive: their connections are closed")
            self._give_up()
        else:
            self._received = 0
            self._expect(_BODY_SECONDS)

    def _give_up(self) -> None:
        self._silent.pop(self, None)
        self._expect(None)
        self.transport.abort()
