"""What code has to take care of that runs an event loop in the one thread of a PostgreSQL backend."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol

TURN_SECONDS = 0.1
"""How long the event loop runs before PostgreSQL is asked again whether to stop."""
CLOSING_SECONDS = 0.3
SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""Those that a backend handles. They wait while the event loop runs.

Threads that are started meanwhile, as asyncio does to look up a host name, inherit that for good: PostgreSQL's handlers
may run in the main thread only.
"""


class Plpy(Protocol):
    """What is used of the module that PL/Python gives to its functions."""

    SPIError: type[Exception]
    spiexceptions: Any

    def prepare(self, query: str, argtypes: Sequence[str]) -> Any:
        """Plan a statement."""

    def execute(self, query: Any, arguments: Sequence[object] = ...) -> Sequence[Mapping[str, Any]]:
        """Run a text or a plan; an error undoes this statement only."""

    def commit(self) -> None:
        """Commit, and begin the next transaction."""

    def notice(self, message: str) -> None:
        """Send a NOTICE to the client."""

    def error(self, message: str, *, hint: str, sqlstate: str) -> NoReturn:
        """Raise an error of PostgreSQL."""


@contextmanager
def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A new event loop, which is closed at the end, with its helper threads."""
    loop = asyncio.new_event_loop()
    try:
        yield loop
    finally:
        loop.close()
        # That told asyncio's helper threads to end. They need the interpreter to do so, which a backend keeps to itself
        # once the call has returned.
        for thread in threading.enumerate():
            if thread.name.startswith("asyncio_"):
                thread.join(TURN_SECONDS)
