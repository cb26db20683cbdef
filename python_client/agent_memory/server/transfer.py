"""Import and export of conversations as lines of JSON, a message each, in any number."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import StreamingResponse

from .._nodes import node_connections
from ..calls import translated
from ..client import AsyncMemory
from ..errors import InvalidValueError
from ..importer import ImportFileError, Limits, import_file
from ..types import Message, Thread
from .access import caller_of
from .bodies import MAX_VALUES
from .endpoint import JSON, LINES, check_type
from .problems import ProblemError
from .settings import MIB

IMPORT_PATH = "/v1/import"
_PAGE = 500
"""Messages, or threads, that an export reads at a time."""
_LONGEST_LINE = 32 * MIB
_PATIENCE = 900.0
"""Seconds that an import may take."""
_importers = ThreadPoolExecutor(4, "agent_memory import")
"""Threads of their own: an import may take minutes, and what else is done in threads must not wait for it."""


class Import(BaseModel):
    """Whose messages those are that name no user, and of which thread those that name none."""

    model_config = ConfigDict(extra="forbid")
    user_id: str | None = None
    thread_id: str = "import"


class Export(BaseModel):
    """Whose messages, and of which thread only."""

    model_config = ConfigDict(extra="forbid")
    user_id: str | None = None
    thread_id: str | None = None


@dataclass(frozen=True)
class Imported:
    """The counts of an import: ``new`` of the ``messages`` in the body were not stored before."""

    messages: int
    new: int
    users: int
    threads: int


def add_endpoints(router: APIRouter, memory: AsyncMemory, conninfo: Callable[[], str]) -> None:
    """Add the endpoints of import and export.

    Args:
        router: where they are added.
        memory: reads what is exported.
        conninfo: returns the connection string; an import is one transaction on a connection of its own.
    """
    message = {"type": "object", "required": ["role", "content"]}
    lines = {LINES: {"schema": {"type": "string"}}}
    content = {**lines, JSON: {"schema": {"type": "array", "items": message}}}

    @router.post(IMPORT_PATH, tags=["transfer"], openapi_extra={"requestBody": {"required": True, "content": content}})
    async def import_conversations(request: Request, query: Annotated[Import, Query()]) -> Imported:
        """Import conversations from lines of JSON, each a message or a conversation.

        All of them are imported, or nothing where something is wrong. The format is that of agent-memory import. What
        was imported before is not stored again.
        """
        check_type(request, LINES, "application/jsonl", JSON)
        user_id = caller_of(request).user(query.user_id)
        with tempfile.NamedTemporaryFile(prefix="agent-memory-import-", suffix=".jsonl") as file:
            async for part in request.stream():
                await asyncio.to_thread(file.write, part)
            file.flush()
            only = caller_of(request).user_id
            work = partial(_import, conninfo, file, user_id, query.thread_id, only)
            return await asyncio.get_running_loop().run_in_executor(_importers, work)

    @router.get(
        "/v1/export",
        tags=["transfer"],
        response_class=StreamingResponse,
        responses={200: {"description": "Lines of JSON", "content": lines}},
    )
    async def export_conversations(request: Request, query: Annotated[Export, Query()]) -> StreamingResponse:
        """Export the messages of a user as lines of JSON, thread by thread, in the format of /v1/import."""
        user_id = caller_of(request).user(query.user_id)
        if user_id is None:
            raise ProblemError(
                422, "user_id: is missing", hint="Name the user in the query: ?user_id=", argument="user_id"
            )
        lines = _lines(memory, user_id, query.thread_id)
        first = await anext(lines, b"")  # what the database refuses is refused before the answer begins
        return StreamingResponse(_chained(first, lines), media_type=LINES)


def _import(
    conninfo: Callable[[], str], file: IO[bytes], user_id: str | None, thread_id: str, only: str | None
) -> Imported:
    with node_connections(conninfo(), "agent-memory serve") as nodes:
        try:
            with translated(nodes.first):
                steps = import_file(
                    nodes.first,
                    Path(file.name),
                    user_id=user_id,
                    thread_id=thread_id,
                    format="chat",
                    only_user=only,
                    limits=Limits(MAX_VALUES, _LONGEST_LINE, time.monotonic() + _PATIENCE),
                    connection_of=nodes.of,
                )
                last = next(iter(deque(steps, maxlen=1)), None)
        except (ImportFileError, InvalidValueError) as error:  # it names the file, which only this process knows
            if file.name not in error.message:
                raise
            message = error.message.replace(f"{file.name}, ", "").replace(file.name, "the body")
            raise ProblemError(422, message, hint=error.hint, sqlstate="22023") from error
    if last is None:
        return Imported(0, 0, 0, 0)
    return Imported(last.done, last.new, last.users, last.threads)


async def _chained(first: bytes, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for each in lines:
        yield each


async def _lines(memory: AsyncMemory, user_id: str, thread_id: str | None) -> AsyncIterator[bytes]:
    """Yield the messages of a user in pages, so that nobody holds more than one page."""
    names = [thread_id] if thread_id is not None else [thread.thread_id for thread in await _threads(memory, user_id)]
    for name in names:
        newest = await memory.get_messages(user_id, name, recent_k=1, whole=True)
        after = -1
        while newest and after < newest[0].seq:
            page = await memory.get_messages(user_id, name, after_seq=after, before_seq=after + _PAGE + 1, whole=True)
            after += _PAGE
            if page:
                yield b"".join(_line(user_id, name, message) for message in page)


async def _threads(memory: AsyncMemory, user_id: str) -> list[Thread]:
    """Return all threads of a user, the one used last first."""
    threads: dict[str, Thread] = {}
    while page := await memory.list_threads(user_id, _PAGE, len(threads)):
        known = len(threads)
        threads |= {thread.thread_id: thread for thread in page}
        if len(page) < _PAGE or len(threads) == known:
            break
    return list(threads.values())


def _line(user_id: str, thread_id: str, message: Message) -> bytes:
    said: dict[str, Any] = {
        "user_id": user_id,
        "thread_id": thread_id,
        "role": message.role,
        "content": message.content,
        "created_at": None if message.created_at is None else message.created_at.isoformat(),
        "metadata": message.metadata,
    }
    return json.dumps(said, ensure_ascii=False).encode() + b"\n"
