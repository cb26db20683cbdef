"""The five endpoints under /api/v1/agents/{id}/memories, as document B writes them.

An agent's memories are those of one user: the user of the token, for the administrator the one that ``user_id`` in the
query names, else ``default``.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from ..client import AsyncMemory
from ..errors import AgentMemoryError, NotFoundError
from ..types import MemoryRecord
from .access import DEFAULT_USER, caller_of
from .extraction import extract
from .operation import Operation

_PATH = "/api/v1/agents/{id:path}/memories"
_SWEPT = 1000
"""Rows of each kind that one cleanup removes; the nightly sweep removes the rest."""
_Int = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class OfUser(BaseModel):
    """Whose memories: for the administrator only."""

    model_config = ConfigDict(extra="forbid")
    user_id: str | None = None


class Listing(OfUser):
    """Which memories, and which page of them."""

    type: str | None = None
    search: str | None = None
    limit: _Int = 50
    offset: _Int = 0


class NewMemory(BaseModel):
    """A memory to store."""

    model_config = ConfigDict(extra="forbid", strict=True)
    memory_type: str
    content: str
    metadata: dict[str, Any] | None = None
    embedding_text: str | None = None
    expires_at: AwareDatetime | None = None


class Conversation(BaseModel):
    """Messages as chat APIs have them."""

    model_config = ConfigDict(extra="forbid", strict=True)
    messages: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class AgentMemory:
    """A memory of an agent."""

    id: UUID
    agent_id: str
    memory_type: str
    content: str
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A memory that was extracted."""

    id: UUID
    memory_type: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The answer after storing; ``memory`` is null where the agent's policy keeps none."""

    success: Literal[True] = True
    memory: AgentMemory | None


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A page of memories; ``total`` is the number of all that match."""

    success: Literal[True] = True
    memories: list[AgentMemory]
    total: int
    count: int


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """The answer after deleting."""

    success: Literal[True] = True
    deleted: str


@dataclass(frozen=True, kw_only=True)
class Summarized:
    """What was extracted."""

    success: Literal[True] = True
    extracted: int
    facts: list[Fact]


@dataclass(frozen=True, kw_only=True)
class CleanedUp:
    """The answer after cleaning up."""

    success: Literal[True] = True
    message: str


class Agents:
    """The endpoints.

    Args:
        memory: calls the database.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._cleanup: asyncio.Task[Any] | None = None

    def operations(self) -> list[Operation]:
        """Return the endpoints."""
        tag, of_user = "agents", OfUser
        return [
            Operation(
                "POST",
                _PATH,
                "store_memory",
                tag,
                "Store a memory of an agent. The same content again replaces the rest of that memory.",
                self._store,
                Stored,
                query=of_user,
                body=NewMemory,
                signature="memory_type, content; optionally metadata, embedding_text, expires_at",
            ),
            Operation(
                "GET",
                _PATH,
                "list_agent_memories",
                tag,
                "List the memories of an agent, newest first, by type and by a text in content or embedding_text.",
                self._list,
                Listed,
                query=Listing,
                signature="type, search, limit, offset, user_id",
            ),
            Operation(
                "DELETE",
                _PATH + "/{memory_id}",
                "delete_agent_memory",
                tag,
                "Delete a memory of an agent.",
                self._delete,
                Deleted,
                query=of_user,
                signature="user_id",
            ),
            Operation(
                "POST",
                _PATH + "/summarize",
                "summarize_conversation",
                tag,
                "Extract facts and preferences from messages, and wait for them. The messages are not kept.",
                self._summarize,
                Summarized,
                query=of_user,
                body=Conversation,
                signature="messages",
            ),
            Operation(
                "POST",
                _PATH + "/cleanup",
                "clean_up_memories",
                tag,
                "Remove what has expired. It is invisible before, too; limits are kept with each write.",
                self._clean_up,
                CleanedUp,
                query=of_user,
                signature="user_id",
            ),
        ]

    async def _store(self, request: Request, query: OfUser, body: NewMemory) -> Stored:
        user_id, agent_id = _user(request, query), request.path_params["id"]
        added = await self._memory.add_memory(
            user_id,
            body.content,
            body.memory_type,
            agent_id,
            metadata=body.metadata,
            expires_at=body.expires_at,
            embedding_text=body.embedding_text,
            on_conflict="replace",  # what is sent comes back, also where the same content is there already
        )
        if added.memory_id is None:
            return Stored(memory=None)
        try:
            return Stored(memory=_shown(await self._memory.get_memory(user_id, added.memory_id)))
        except NotFoundError:  # it has expired already, or the agent is at its limit and keeps what matters more
            now = datetime.now(timezone.utc)
            return Stored(
                memory=AgentMemory(
                    id=added.memory_id,
                    agent_id=agent_id,
                    memory_type=body.memory_type,
                    content=body.content,
                    metadata=body.metadata or {},
                    created_at=now,
                    updated_at=now,
                    expires_at=body.expires_at,
                )
            )

    async def _list(self, request: Request, query: Listing, _: None) -> Listed:
        user_id, agent_id = _user(request, query), request.path_params["id"]
        filters: dict[str, Any] = {"agent_id": agent_id, "memory_type": query.type, "search": query.search}
        try:
            found = await self._memory.list_memories(user_id, **filters, row_limit=query.limit, row_offset=query.offset)
            is_beyond = not found and query.offset
            total = await self._memory.count_memories(user_id, **filters) if is_beyond else 0
        except AgentMemoryError as error:
            for name, shown in (("row_limit", "limit"), ("row_offset", "offset"), ("memory_type", "type")):
                error.message = error.message.replace(name, shown)
            raise
        return Listed(
            memories=[_shown(each) for each in found],
            total=found[0].total_count if found else total,
            count=len(found),
        )

    async def _delete(self, request: Request, query: OfUser, _: None) -> Deleted:
        user_id, named = _user(request, query), request.path_params["memory_id"]
        with suppress(ValueError, NotFoundError):  # what is no UUID is the id of no memory
            memory_id = UUID(named)
            record = await self._memory.get_memory(user_id, memory_id)
            is_here = record.agent_id == request.path_params["id"]
            if is_here and await self._memory.delete_memory(user_id, memory_id):
                return Deleted(deleted=named)
        raise NotFoundError("id: the agent has no such memory", hint="List the memories of the agent for their ids.")

    async def _summarize(self, request: Request, query: OfUser, body: Conversation) -> Summarized:
        user_id, agent_id = _user(request, query), request.path_params["id"]
        found = await extract(self._memory, user_id, agent_id, body.messages)
        facts = [Fact(id=each.memory_id, memory_type=each.memory_type, content=each.content) for each in found]
        return Summarized(extracted=len(facts), facts=facts)

    async def _clean_up(self, request: Request, query: OfUser, _: None) -> CleanedUp:
        """Sweep; calls that come while one is under way wait for its end, so that many of them cost no more than one.

        Whose memories were meant does not matter: what is removed is what nobody can see any more.
        """
        _user(request, query)
        if self._cleanup is None or self._cleanup.done():
            self._cleanup = asyncio.create_task(self._memory.admin.sweep(_SWEPT))
        await asyncio.shield(self._cleanup)
        return CleanedUp(message="Cleanup completed")


def _user(request: Request, query: OfUser) -> str:
    user_id = caller_of(request).user(query.user_id, DEFAULT_USER)
    assert user_id is not None  # there is a default
    return user_id


def _shown(record: MemoryRecord) -> AgentMemory:
    return AgentMemory(
        id=record.memory_id,
        agent_id=record.agent_id,
        memory_type=record.memory_type,
        content=record.content,
        metadata=record.metadata,
        created_at=record.created_at,
        updated_at=record.updated_at,
        expires_at=record.expires_at,
    )
