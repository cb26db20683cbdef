"""Either client under one interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar, cast

from .._extras import needs as needs
from ..client import Admin, AsyncAdmin, AsyncMemory, Memory

Value = TypeVar("Value")


class _Threaded:
    """A blocking client whose methods are coroutines: each call runs in a thread, so that no event loop waits."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._memory, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            return await asyncio.to_thread(partial(method, *arguments, **options))

        return call


def asynchronous(memory: AsyncMemory | Memory) -> AsyncMemory:
    """Return the client if it is asynchronous, else one with the same methods as coroutines."""
    if isinstance(memory, AsyncMemory):
        return memory
    if isinstance(memory, Memory):
        return cast("AsyncMemory", _Threaded(memory))
    raise TypeError(f"memory must be a Memory or an AsyncMemory, not {type(memory).__name__}")


def threaded(admin: Admin) -> AsyncAdmin:
    """Return the functions of administrators of a blocking client as coroutines."""
    return cast("AsyncAdmin", _Threaded(admin))


class _Immediate:
    """A blocking client whose methods are coroutines that are done when they are first awaited; each is made once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._memory, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            return method(*arguments, **options)

        setattr(self, name, call)
        return call


def blocking(memory: AsyncMemory | Memory) -> AsyncMemory:
    """Return a client for coroutines that ``finished`` runs: so code for both kinds of calls is written once."""
    if not isinstance(memory, Memory):
        raise TypeError("calls that block need a Memory; with an AsyncMemory use the asynchronous ones")
    return cast("AsyncMemory", _Immediate(memory))


def finished(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine that waits for nothing, because its client is one of ``blocking``, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("Value", end.value)
    raise RuntimeError("the coroutine waits for something")


async def settled(change: Coroutine[Any, Any, Value]) -> Value:
    """Await a change to its end, also if the caller is cancelled meanwhile, and only then raise the cancellation.

    So a caller who undoes what was cancelled, or goes on with something else, knows that the change comes no more.
    """
    task = asyncio.ensure_future(change)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:  # noqa: PERF203  # the caller may be cancelled again
            cancellation = cancellation or error
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # asyncio logs an error that nobody has asked for
    raise cancellation
