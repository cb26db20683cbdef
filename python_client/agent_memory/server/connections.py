"""Limits the connections of a server, and the time in which somebody sends a request.

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

logger = logging.getLogger("agent_memory.server.connections")

_MOST = 2000
"""Connections, where the system allows as many; a connection takes about 30 KB."""
_FILES = resource.RLIMIT_NOFILE
_MOST_FILES = 8192
_HEADER_SECONDS = 20.0
"""Within which a new connection, or one on which a request has begun, has sent all headers of a request."""
_MOST_UNREAD = 1 << 16
"""Bytes that complete no headers and bring no body: long headers, the trailers of a body, extensions of its chunks."""
_BODY_SECONDS = 20.0
_SLOWEST = 500
"""Bytes a second that a body has to bring, on an average of ``_BODY_SECONDS``."""


def set_limits() -> int:
    """Raise the limit of open files where the system allows that, and return how many may wait for being accepted.

    asyncio accepts as many in each turn of its loop, and one that is too many is closed only in the third turn after.
    So four times as many, and those that are open, must fit into the limit together with the files of the server.
    """
    soft, hard = (_MOST_FILES if of == resource.RLIM_INFINITY else of for of in resource.getrlimit(_FILES))
    if soft < min(hard, _MOST_FILES):
        soft = min(hard, _MOST_FILES)
        resource.setrlimit(_FILES, (soft, resource.getrlimit(_FILES)[1]))
    Connection.most = min(_MOST, soft // 2)
    return soft // 16


class _OnceAMinute(logging.Filter):
    """Lets each kind of line pass once a minute: a flood of bad requests is to be seen, and must not fill the disk."""

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
    """Have the lines about bad and too many connections written once a minute. Each failure of a request is written."""
    for name in (logger.name, "uvicorn.error"):
        logging.getLogger(name).addFilter(_OnceAMinute())


class Connection(HttpToolsProtocol):
    """A connection on which each request has to arrive in time.

    If there are too many, the connection that has waited longest without a complete request is closed.
    """

    most = _MOST
    _waiting: ClassVar[dict[Connection, None]] = {}
    """Connections without a complete request, also idle ones. Complete headers move a connection to the end."""
    _deadline: asyncio.TimerHandle | None = None
    _received = 0
    """Bytes of the headers or of the body, since the deadline was set."""
    _unread = 0
    """Bytes since headers or a part of a body were last complete."""
    _is_in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, in place of another connection if there are too many."""
        super().connection_made(transport)
        self._expect(_HEADER_SECONDS)
        self._waiting[self] = None
        if len(self.connections) > self.most:
            logger.warning("more than %d connections: those that wait longest for their request are closed", self.most)
            next(iter(self._waiting))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._waiting.pop(self, None)
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless what arrives is neither a request nor its body."""
        self._received += len(data)
        self._unread += len(data)
        super().data_received(data)
        if self._unread > _MOST_UNREAD:
            logger.warning("headers or trailers of more than %d KiB: the connection is closed", _MOST_UNREAD >> 10)
            self._give_up()
        elif self._deadline is None and not self._is_answering() and not self.transport.is_closing():
            # Data has ended uvicorn's wait of an idle connection, and began no request: an empty line between two
            # requests, or the rest of a body after an answer that did not wait for the body.
            self._expect(self.timeout_keep_alive)

    def on_message_begin(self) -> None:
        """Expect headers."""
        super().on_message_begin()
        self._is_in_body, self._received, self._unread = False, 0, 0
        self._expect(_HEADER_SECONDS)

    def on_headers_complete(self) -> None:
        """Expect a body."""
        self._is_in_body, self._received, self._unread = True, 0, 0
        self._waiting.pop(self, None)
        self._waiting[self] = None
        self._expect(_BODY_SECONDS)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Expect more."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expect nothing until there is an answer."""
        self._is_in_body, self._unread = False, 0
        if self._is_answering():
            self._waiting.pop(self, None)
        self._expect(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Be idle, unless the next request has arrived already; uvicorn closes connections that stay idle."""
        if not self._is_answering():
            self._waiting[self] = None
        super().on_response_complete()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        is_slow = self._received < _BODY_SECONDS * _SLOWEST if self._is_in_body else not self._is_answering()
        if is_slow and not self.flow.read_paused:
            logger.warning("requests that do not arrive: their connections are closed")
            self._give_up()
        else:
            self._received = 0
            self._expect(_BODY_SECONDS)

    def _give_up(self) -> None:
        self._waiting.pop(self, None)
        self._expect(None)
        self.transport.abort()
