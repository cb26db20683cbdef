"""The thread that asks models for the clients of this process: an event loop, started by the first use.

Both clients use it, so that a model is loaded once, connections to providers are shared, and the event loop of an
application never waits for a model that runs in this process.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from agent_memory_models import ModelError, Models

from .._extras import check_extra
from ..calls.forks import abandon

Value = TypeVar("Value")


class _Background:
    def __init__(self) -> None:
        check_extra("worker", "the work of models")
        self.loop = asyncio.new_event_loop()
        self.models = Models()
        threading.Thread(target=self.loop.run_forever, name="agent_memory models", daemon=True).start()
        atexit.register(self.close)

    def close(self) -> None:
        """Close the connections to providers at the end of the process."""
        with suppress(concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(self.models.close(), self.loop).result(1)


_lock = threading.Lock()
_started: _Background | None = None


def _background() -> _Background:
    global _started
    with _lock:
        if _started is None:
            _started = _Background()
        return _started


def _begin_anew() -> None:
    """Forget the thread of the process that this one was forked from, and a lock that it may have held."""
    global _lock, _started
    _lock = threading.Lock()
    if _started is not None:
        atexit.unregister(_started.close)
        abandon(_started)
        _started = None


os.register_at_fork(after_in_child=_begin_anew)


def models() -> Models:
    """What runs jobs in the thread. Its coroutines must be given to `submit`."""
    return _background().models


def submit(coroutine: Coroutine[Any, Any, Value]) -> Future[Value]:
    """Begin a coroutine in the thread; cancelling the future cancels the coroutine."""
    return asyncio.run_coroutine_threadsafe(coroutine, _background().loop)


def call_soon(action: Any) -> None:
    """Call a function in the thread."""
    _background().loop.call_soon_threadsafe(action)


async def answer_in_loop(future: Future[Value], seconds: float) -> Value:
    """Wait for a result without holding up the event loop. Raises ModelError after so many seconds, as it fails."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
    except asyncio.TimeoutError:
        raise ModelError(f"no answer from the model within {seconds:g} s") from None


def answer_in_thread(future: Future[Value], seconds: float) -> Value:
    """Do the same as ``answer_in_loop`` for a thread without an event loop."""
    try:
        return future.result(seconds)
    except concurrent.futures.TimeoutError:
        raise ModelError(f"no answer from the model within {seconds:g} s") from None
    finally:
        future.cancel()


async def is_done_in_loop(future: Future[Any], seconds: float) -> bool:
    """Wait at most so many seconds, and say whether the work is done; it goes on if not."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: object) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(done.wait(), seconds)
    return future.done()


def is_done_in_thread(future: Future[Any], seconds: float) -> bool:
    """Do the same as ``is_done_in_loop`` for a thread without an event loop."""
    concurrent.futures.wait({future}, timeout=seconds)
    return future.done()


async def sleep_in_loop(seconds: float) -> None:
    """Let other tasks of the event loop go on for so many seconds."""
    await asyncio.sleep(seconds)


def sleep_in_thread(seconds: float) -> None:
    """Sleep for so many seconds."""
    time.sleep(seconds)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of an asynchronous client."""
    return asyncio.get_running_loop()


def no_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the other client: none."""
    return None


async def call_in_loop(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function that may wait for a disk, without holding up the event loop."""
    return await asyncio.to_thread(function, *arguments)


def call_in_thread(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function."""
    return function(*arguments)
