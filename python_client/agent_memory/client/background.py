"""The thread that asks models for the clients of this process: an event loop, started by the first use.

Both clients use it, so that a model is loaded once, connections to providers are shared, and the event loop of an
application never waits for a model that runs in this process.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from agent_memory_models import Models

Value = TypeVar("Value")


class _Background:
    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.models = Models()
        threading.Thread(target=self.loop.run_forever, name="agent_memory models", daemon=True).start()


_lock = threading.Lock()
_started: _Background | None = None


def _background() -> _Background:
    global _started
    with _lock:
        # A forked process has a copy of the object, but not the thread.
        if _started is None or _started.pid != os.getpid():
            _started = _Background()
        return _started


def models() -> Models:
    """What runs jobs in the thread. Its coroutines must be given to `submit`."""
    return _background().models


def submit(coroutine: Coroutine[Any, Any, Value]) -> Future[Value]:
    """Begin a coroutine in the thread; cancelling the future cancels the coroutine."""
    return asyncio.run_coroutine_threadsafe(coroutine, _background().loop)
