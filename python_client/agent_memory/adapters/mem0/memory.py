"""The classes of mem0: Memory, whose calls block, and AsyncMemory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import wraps
from typing import Any

from ... import client
from ...calls import AsyncWorkerProtocol, WorkerProtocol
from ...jobs.background import is_done_in_loop, is_done_in_thread
from ...types import UserRecord
from ..clients import blocking, finished
from .calls import MOST, Calls


class AsyncMemory(Calls):
    """The asynchronous class of mem0.

    Args:
        memory: the client; None opens one as ``agent_memory.AsyncMemory()`` does.
        user_id: whose memories are meant where a call does not say so. Ids of memories then do not name the user.
        wait_seconds: how long ``add`` waits for an extraction.
    """

    _client_type = client.AsyncMemory

    def __init__(
        self, memory: client.AsyncMemory | None = None, user_id: str | None = None, *, wait_seconds: float = 60
    ) -> None:
        self._client = self._memory = memory or client.AsyncMemory()
        self._user_id = user_id
        self._wait_seconds = wait_seconds

    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def _protocol(self) -> AsyncWorkerProtocol:
        return AsyncWorkerProtocol(self._client.caller)

    async def _users(self, offset: int) -> list[UserRecord]:
        return await self._client.admin.list_users(row_limit=MOST, row_offset=offset)

    async def _wait(self, end: Future[None], seconds: float) -> None:
        await is_done_in_loop(end, seconds)


def _blocking(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Memory, *arguments: Any, **options: Any) -> Any:
        return finished(method(self, *arguments, **options))

    return call


class Memory(Calls):
    """The class of mem0.

    Args:
        memory: the client; None opens one as ``agent_memory.Memory()`` does.
        user_id: whose memories are meant where a call does not say so. Ids of memories then do not name the user.
        wait_seconds: how long ``add`` waits for an extraction.
    """

    _client_type = client.Memory

    def __init__(
        self, memory: client.Memory | None = None, user_id: str | None = None, *, wait_seconds: float = 60
    ) -> None:
        self._client = memory or client.Memory()
        self._memory = blocking(self._client)
        self._user_id = user_id
        self._wait_seconds = wait_seconds

    add = _blocking(Calls.add)
    search = _blocking(Calls.search)
    get_all = _blocking(Calls.get_all)
    get = _blocking(Calls.get)
    update = _blocking(Calls.update)
    delete = _blocking(Calls.delete)
    delete_all = _blocking(Calls.delete_all)
    reset = _blocking(Calls.reset)
    history = _blocking(Calls.history)

    def _loop(self) -> None:
        return None

    def _protocol(self) -> WorkerProtocol:
        return WorkerProtocol(self._client.caller)

    async def _users(self, offset: int) -> list[UserRecord]:
        return self._client.admin.list_users(row_limit=MOST, row_offset=offset)

    async def _wait(self, end: Future[None], seconds: float) -> None:
        is_done_in_thread(end, seconds)
