"""The event loop of a PostgreSQL backend, which has one thread; its signals; the connections kept between calls."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from agent_memory_models import Models

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
"""The signals that a backend handles. They wait while the event loop runs.

Threads that start meanwhile, such as asyncio's for looking up a host name, keep these signals blocked for good:
PostgreSQL's handlers may run in the main thread only.
"""


class Plpy(Protocol):
    """The part of PL/Python's module plpy that this package uses."""

    Error: type[Exception]
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


class _Kept:
    """An event loop, and the models whose jobs run in it."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.models = Models(may_download=False)
        self._thread_names = f"agent_memory {name}"
        self._renew_executor()

    def _renew_executor(self) -> None:
        self._executor = ThreadPoolExecutor(thread_name_prefix=self._thread_names)
        self.loop.set_default_executor(self._executor)

    def end_threads(self) -> None:
        """End the threads that look up host names: a backend keeps the interpreter to itself between calls."""
        if threads := [each for each in threading.enumerate() if each.name.startswith(self._thread_names)]:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._renew_executor()
            for thread in threads:
                thread.join(TURN_SECONDS)

    def close(self) -> None:
        """Cancel running calls, and close the connections and the loop."""
        ending = asyncio.all_tasks(self.loop)
        for task in ending:
            task.cancel()
        drive(self.loop, asyncio.wait({*ending, self.loop.create_task(self.models.close())}, timeout=CLOSING_SECONDS))
        self.end_threads()
        self.loop.close()


_kept: dict[str, _Kept] = {}


@contextmanager
def kept_models(name: str) -> Iterator[tuple[asyncio.AbstractEventLoop, Models]]:
    """The event loop and the models that are kept under a name from one call to the next of a PostgreSQL session.

    Building them takes 50 ms, mostly to read the certificates that TLS connections are checked against. They hold open
    connections, but no key. When the body raises, for example because the statement is cancelled, they are closed: a
    connection may be in the middle of a reply.
    """
    kept = _kept.get(name) or _kept.setdefault(name, _Kept(name))
    try:
        yield kept.loop, kept.models
    except BaseException:
        _kept.pop(name, None)
        kept.close()
        raise
    kept.end_threads()


def close_kept_models() -> None:
    """Close everything that is kept. memory._load_models() calls this before it loads other sources."""
    while _kept:
        _, kept = _kept.popitem()
        kept.close()


def drive(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, object]) -> None:
    """Run the event loop while the backend's signals wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        loop.run_until_complete(coroutine)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
