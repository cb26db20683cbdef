"""A buffer: messages and memories that are collected without a server, and pushed in one call."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timezone
from itertools import groupby
from types import TracebackType
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from ... import _hooks
from ..._text import counted
from ...buffered import BufferedItem, Pushed
from ...calls import AsyncCaller, Function, Notices, async_carrying, async_translated, functions
from ...calls.arguments import as_json
from ...calls.statements import statement
from ...choices import OnConflict, Role
from ...errors import AgentMemoryError, NotInstalledError, PermissionDeniedError, RetryableError
from ...jobs.background import call_in_loop, sleep_in_loop
from ..spool import Spool, Spooled

logger = logging.getLogger("agent_memory")

_BATCH_ITEMS = 10_000
"""Items of one transaction, which locks their threads: others who write to these wait about a second."""
_BATCH_SIZE = 16 << 20
"""Characters of one transaction, and so of what this process holds in memory."""
_ATTEMPTS = 5
"""How often a transaction is tried that concurrent work gets in the way of."""
_RESULTS = {"add_message": "seq", "add_messages": "seq", "add_memory": "memory_id", "add_memories": "memory_id"}
"""The functions that a push calls, and the column of their results that is null where nothing was stored."""

_OF_A_MESSAGE = ("role", "content", "metadata", "created_at", "idempotency_key")
"""The arguments of ``add_message`` that ``add_messages`` takes for each message."""
_OF_ALL = ("user_id", "on_conflict")
"""The arguments of ``add_memory`` that ``add_memories`` takes once for all."""
_OF_THE_SERVER = {"08", "25", "3F", "40", "53", "55", "57", "58"}
"""Classes of SQLSTATEs that do not tell of what was sent: no connection, a standby, a full disk, a server that ends."""

_Call = tuple[str, dict[str, Any]]


class _Attempt:
    """What one transaction is to store, and what became of it."""

    def __init__(self, items: list[Spooled]) -> None:
        self.items = items
        self.begin()

    def begin(self) -> None:
        """Forget what an earlier transaction did, which was rolled back."""
        self.stored = {"message": 0, "memory": 0}
        self.errors: dict[int, str] = {}


class AsyncBuffer:
    """Messages and memories that wait to be stored. It is made by ``buffer()`` of a client.

    Collecting needs no server. ``push()`` stores everything in order, and what is stored leaves the buffer. A message
    gets the time at which it was added, and each item what makes it unique, so a push that was broken off, that another
    process does at the same time, or that is done twice with copies of the file stores once.

    At the end of ``with`` the buffer is pushed and closed. If what it holds would be lost otherwise, an error there is
    raised, and the buffer stays open, as it does in memory within a transaction of the caller's, which may be rolled
    back. If it is on disk, the error is logged by ``agent_memory``.

    Args:
        caller: the connections of the client that pushes.
        path: a file that keeps the items until they are pushed, also if this process is killed; None keeps them in
            memory only. Processes may share it. Beside it are two files whose names go on with -wal and -shm while it
            is in use.
    """

    def __init__(self, caller: AsyncCaller, path: str | os.PathLike[str] | None = None) -> None:
        self._caller = caller
        self._spool = Spool(path)
        self._one_push_at_a_time = asyncio.Lock()

    async def add_message(
        self,
        user_id: str,
        thread_id: str,
        role: Role | str,
        content: str | None,
        agent_id: str | None = "default",
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> int:
        """Collect a message, with the arguments of the client's ``add_message``, and return its number in the buffer.

        Raises InvalidValueError for an argument of a wrong type. What else the database refuses, ``push`` reports.
        """
        given = _given(functions.ADD_MESSAGE, locals())
        message = {name: given.pop(name) for name in _OF_A_MESSAGE if name in given}
        [number] = await call_in_loop(self._spool.add, [_message(given, message)])
        return number

    async def add_messages(
        self, user_id: str, thread_id: str, messages: Sequence[Mapping[str, Any]], agent_id: str | None = "default"
    ) -> list[int]:
        """Collect OpenAI chat messages, as the client's ``add_messages`` takes them, and return their numbers."""
        given = _given(functions.ADD_MESSAGES, locals())
        return await call_in_loop(self._spool.add, [_message(given, message) for message in given.pop("messages")])

    async def add_memory(
        self,
        user_id: str,
        content: str,
        memory_type: str | None = "fact",
        agent_id: str | None = "default",
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = 1.0,
        importance: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        embedding_text: str | None = None,
        source: str | None = "user",
        on_conflict: OnConflict | None = "ignore",
        memory_id: UUID | str | None = None,
        subject: str | None = None,
        attribute: str | None = None,
        replaces: Sequence[UUID | str] | None = None,
    ) -> int:
        """Collect a memory, with the arguments of the client's ``add_memory``, and return its number in the buffer.

        Raises InvalidValueError for an argument of a wrong type. What else the database refuses, ``push`` reports.
        """
        given = _given(functions.ADD_MEMORY, locals())
        [number] = await call_in_loop(self._spool.add, [("memory", {"memory_id": str(_new_id()), **given})])
        return number

    async def push(self) -> Pushed:
        """Store what was collected before this call, and remove what is stored.

        The order within each thread is kept, and that of memories within each agent. A push is a transaction of its
        own, one for each 10,000 items or 16 MiB. What the database refuses keeps nothing else from being stored; it
        stays in the buffer, and the next push tries it again.

        Raises:
            NotConnectedError, psycopg.OperationalError: the server is out of reach or stops. What was not stored stays.
            NotInstalledError, PermissionDeniedError: the database or the role lacks a function that the push calls.
            RetryableError: concurrent work got in the way five times.
            AgentMemoryError: the buffer's file cannot be read or written, or the buffer is closed.
        """
        messages, memories, expired, failed, is_committed = 0, 0, 0, [], True
        async with self._one_push_at_a_time:
            after, until = 0, await call_in_loop(self._spool.newest)
            while batch := await call_in_loop(self._spool.batch, after, until, _BATCH_ITEMS, _BATCH_SIZE):
                after = batch[-1].item_id
                for caller, items in (await self._by_node(batch)).items():
                    attempt = _Attempt(
                        [item for item in items if item.kind == "message" or not _is_over(item.arguments)]
                    )
                    is_committed = await self._store(caller, attempt) and is_committed
                    messages, memories = messages + attempt.stored["message"], memories + attempt.stored["memory"]
                    expired += len(items) - len(attempt.items)
                    failed += [
                        BufferedItem(item.item_id, item.kind, item.arguments, attempt.errors[item.item_id])
                        for item in attempt.items
                        if item.item_id in attempt.errors
                    ]
                    done = [item.item_id for item in items if item.item_id not in attempt.errors]
                    await call_in_loop(self._spool.settle, done if is_committed else [], attempt.errors)
        return Pushed(messages, memories, expired, failed, is_committed)

    async def items(self) -> list[BufferedItem]:
        """Return what the buffer holds, oldest first."""
        return await call_in_loop(self._spool.items)

    async def remove(self, item_id: int) -> bool:
        """Remove an item, such as one that the database refuses, and return whether the buffer had it."""
        return await call_in_loop(self._spool.remove, item_id)

    async def close(self) -> None:
        """Close the buffer without a push. What is on disk stays there; what is in memory only is lost."""
        if self._spool.path is None and not self._spool.is_closed and (lost := len(self._spool)):
            logger.warning("a buffer in memory was closed with %s not pushed", counted(lost, "item"))
        await call_in_loop(self._spool.close)

    def __len__(self) -> int:
        return len(self._spool)

    def __bool__(self) -> bool:
        return True  # also without items

    async def __aenter__(self) -> AsyncBuffer:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._spool.is_closed:
            return
        is_kept = self._spool.path is not None
        try:
            pushed = await self.push()
            if not is_kept and not pushed.is_committed:
                return  # whoever rolls the transaction back can push again
            if pushed.failed:
                first = pushed.failed[0]
                raise AgentMemoryError(
                    f"the database refused {counted(len(pushed.failed), 'item')} of the buffer, first a {first.kind}:"
                    f" {first.error}",
                    hint="The refused items are in items(); push() tries them again, remove() gives one up.",
                )
        except (AgentMemoryError, psycopg.Error) as error:
            if not is_kept and exc_value is None:
                raise
            logger.error("the buffer in %s was not pushed whole: %s", self._spool.path or "memory", error)
            if not is_kept:
                return
        await self.close()

    async def _by_node(self, items: list[Spooled]) -> dict[AsyncCaller, list[Spooled]]:
        """Return the items by the node that serves their users; with a single server all together."""
        by_node: dict[AsyncCaller, list[Spooled]] = {}
        for number, item in enumerate(items):
            caller = await self._caller.of(item.arguments["user_id"], is_fresh=number == 0)
            by_node.setdefault(caller, []).append(item)
        return by_node

    async def _store(self, caller: AsyncCaller, attempt: _Attempt) -> bool:
        """Store what the database takes, in one transaction; return whether it is committed."""
        notices = Notices(caller.warned)
        async with caller.borrowed(notices) as connection:
            is_own = connection.info.transaction_status == TransactionStatus.IDLE
            for number in range(_ATTEMPTS):
                attempt.begin()
                try:
                    async with async_translated(connection, schema=self._caller.schema), connection.transaction():
                        await self._store_some(connection, attempt, attempt.items)
                    break
                except RetryableError:
                    if not is_own or number == _ATTEMPTS - 1:
                        raise
                    await sleep_in_loop(random.uniform(0, 0.1) * (number + 1))
        notices.warn()
        return is_own

    async def _store_some(self, connection: AsyncConnection[Any], attempt: _Attempt, items: list[Spooled]) -> None:
        """Store items; if one is refused, each half of them by itself, until the refused ones stand alone."""
        if not items:
            return
        try:
            async with async_translated(connection, schema=self._caller.schema), connection.transaction():
                await self._caller.send_token(connection)
                traceparent = None if _hooks.traceparent is None else _hooks.traceparent(connection.info)
                async with async_carrying(connection, traceparent):
                    stored = await self._call(connection, list(_calls(items)))
        except (AgentMemoryError, psycopg.Error) as error:
            if not _is_of_an_item(error):
                raise
            if len(items) == 1:
                said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
                attempt.errors[items[0].item_id] = said or str(error)
                return
            half = len(items) // 2
            await self._store_some(connection, attempt, items[:half])
            await self._store_some(connection, attempt, items[half:])
        else:
            for kind, number in stored.items():
                attempt.stored[kind] += number

    async def _call(self, connection: AsyncConnection[Any], calls: list[_Call]) -> dict[str, int]:
        """Call functions, without waiting for one before the next is sent, and count what is stored."""
        cursors: list[tuple[str, AsyncCursor[Any]]] = []
        refused: psycopg.Error | None = None
        is_pipelined = len(calls) > 1 and psycopg.capabilities.has_pipeline()
        try:
            async with connection.pipeline() if is_pipelined else nullcontext():
                try:
                    for function, arguments in calls:
                        named = tuple(arguments)
                        query = statement(f"select {_RESULTS[function]} from", function, named, self._caller.schema)
                        cursors.append((function, cursor := AsyncCursor(connection)))
                        await cursor.execute(query, arguments)
                except psycopg.Error as error:
                    refused = error  # psycopg would log a warning if it left the pipeline with an error
        except psycopg.errors.PipelineAborted as error:  # said of the calls that follow a refused one
            refused = refused or error
        if refused is not None:
            raise refused
        stored = {"message": 0, "memory": 0}
        for function, cursor in cursors:
            kind = "memory" if function in ("add_memory", "add_memories") else "message"
            stored[kind] += sum(1 for [result] in await cursor.fetchall() if result is not None)
        return stored


def _given(function: Function[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check arguments as the client's method of this function does, and return what they say as JSON has it."""
    return {name: as_json(value) for name, value in function.sendable(arguments).items()}


def _message(given: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the item of a message, with a time and a key if it has none."""
    of_its_own = {name: value for name, value in message.items() if value is not None}
    added = {"created_at": datetime.now(timezone.utc).isoformat(), "idempotency_key": str(_new_id())}
    return "message", {**given, "message": {**added, **of_its_own}}


def _new_id() -> UUID:
    """Return a UUID of version 7, as the database makes them: new ones stand together in its indexes."""
    milliseconds, noise = time.time_ns() // 1_000_000, uuid4().int
    return UUID(int=milliseconds << 80 | 7 << 76 | (noise >> 64 & 0xFFF) << 64 | noise & (1 << 64) - 1)


def _is_over(arguments: Mapping[str, Any]) -> bool:
    """Whether a memory has expired."""
    expires_at = arguments.get("expires_at")
    return expires_at not in (None, "infinity") and datetime.fromisoformat(expires_at) <= datetime.now(timezone.utc)


def _calls(items: Sequence[Spooled]) -> Iterator[_Call]:
    """Yield the calls that store items: one for all messages of a thread and agent, one for all memories of a user.

    Threads and agents come in the order in which everybody locks them.
    """
    messages = [item.arguments for item in items if item.kind == "message"]
    messages.sort(key=lambda given: (given["user_id"], given["thread_id"]))
    for (user_id, thread_id, agent_id, expires_at), run in groupby(messages, key=_destination):
        required = {"user_id": user_id, "thread_id": thread_id} | ({"agent_id": agent_id} if agent_id else {})
        if expires_at is None:
            yield "add_messages", {**required, "messages": Jsonb([given["message"] for given in run])}
        else:
            for given in run:
                yield "add_message", _sendable({**required, **given["message"], "expires_at": expires_at})
    memories = [item.arguments for item in items if item.kind == "memory"]
    memories.sort(key=lambda given: (given["user_id"], given.get("agent_id", "")))
    for (user_id, on_conflict), together in groupby(
        memories, key=lambda given: (given["user_id"], given.get("on_conflict"))
    ):
        of_user = list(together)
        if len(of_user) == 1:  # whose error names no place in a list
            yield "add_memory", _sendable(of_user[0])
            continue
        common = {"user_id": user_id} | ({"on_conflict": on_conflict} if on_conflict else {})
        listed = [{name: value for name, value in given.items() if name not in _OF_ALL} for given in of_user]
        yield "add_memories", {**common, "memories": Jsonb(listed)}


def _destination(given: Mapping[str, Any]) -> tuple[str, str, str | None, str | None]:
    return given["user_id"], given["thread_id"], given.get("agent_id"), given.get("expires_at")


def _sendable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Jsonb(value) if name == "metadata" else value for name, value in arguments.items()}


def _is_of_an_item(error: AgentMemoryError | psycopg.Error) -> bool:
    """Whether one of the items that were sent is the reason, so that others can be stored without that item."""
    if isinstance(error, PermissionDeniedError):
        # The function itself says so, because the user is another one's; without a context the role may not call it.
        return isinstance(error.__cause__, psycopg.Error) and error.__cause__.diag.context is not None
    if isinstance(error, (RetryableError, NotInstalledError)):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.DataError)
    return error.sqlstate[:2] not in _OF_THE_SERVER
