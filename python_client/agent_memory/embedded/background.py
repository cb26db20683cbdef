"""A worker in a thread of the process that uses a store, and beside it one that sweeps the store."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from typing import Any

import psycopg

from ..errors import AgentMemoryError
from ..schema import SCHEMA

logger = logging.getLogger("agent_memory.worker")
# Without this a warning of a program that has set up no logging would be printed.
logger.addHandler(logging.NullHandler())

_PAUSE = 5.0
"""Seconds before a worker that could not start tries again."""
_SWEEP_INTERVAL = 3600.0
"""Seconds between two sweeps. The first comes at the start: a program may run for seconds, once a week."""


class BackgroundWorker:
    """Runs queued jobs in a daemon thread with its own event loop and connections, from its making until ``stop()``.

    It sweeps, too: nobody sets up a scheduler for a folder, and ``sweep`` has read what jobs have not read yet.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._stopping = threading.Event()
        self._has_stopped = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_worker = lambda: None
        threading.Thread(target=self._run, name="agent-memory worker", daemon=True).start()
        threading.Thread(target=self._sweep, name="agent-memory sweep", daemon=True).start()

    def stop(self) -> None:
        """Tell the worker to finish or release its jobs; ``wait()`` waits until it has."""
        self._stopping.set()
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed already
                self._loop.call_soon_threadsafe(self._stop_worker)

    def wait(self, timeout: float) -> None:
        """Wait some seconds until the worker has released its unfinished jobs."""
        self._has_stopped.wait(timeout)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                asyncio.run(self._work())
            except (AgentMemoryError, psycopg.Error, OSError) as error:
                logger.warning("the worker in the background could not start: %s", error)
            except Exception:
                logger.exception("the worker in the background ended")
            self._stopping.wait(_PAUSE)
        self._has_stopped.set()

    async def _work(self) -> None:
        # Imported in the thread, so that nobody waits for it.
        from ..worker import Worker

        worker = Worker(self._conninfo, schema=SCHEMA)
        self._loop, self._stop_worker = asyncio.get_running_loop(), worker.stop
        if self._stopping.is_set():
            return
        await worker.run()
        # The event loop still waits for threads that compute or download something, which nobody else has to.
        self._has_stopped.set()

    def _sweep(self) -> None:
        # In a thread of its own, because psycopg warns of each statement that the end of an event loop cancels.
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True) as connection:
                    while not self._stopping.is_set() and any(_swept(connection).values()):
                        pass
            except psycopg.Error as error:
                logger.warning("the store could not be swept: %s", error)
            except Exception:
                logger.exception("sweeping the store failed")
            self._stopping.wait(_SWEEP_INTERVAL)


def _swept(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Sweep once, and return the counts by kind."""
    counts: dict[str, int]
    [counts] = connection.execute("select memory.sweep()").fetchone() or [{}]
    return counts
