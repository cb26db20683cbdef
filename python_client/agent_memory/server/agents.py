"""The five endpoints under /api/v1/agents/{id}/memories, as document B writes them.

An agent's memories are those of one user: the user of the token, for the administrator the one that ``user_id`` in the
query names, else ``default``.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timezone
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from ..client import AsyncMemory
from ..errors import AgentMemoryError, NotFoundError
from ..types import MemoryRecord
from .access import DEFAULT_USER, caller_of
from .extraction import extract

_PATH = "/api/v1/agents/{id:path}/memories"
_TAGS: list[str | Enum] = ["agents"]
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


_OfUser = Annotated[OfUser, Query()]
_Id = Annotated[str, Path(min_length=1)]


class NewMemory(BaseModel):
    """A memory to store."""

    model_config = ConfigDict(extra="forbid", strict=True)
    memory_type: str
    content: str
    metadata: dict[str, Any] | None = None
    embedding_text: str | None = None
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = None


class Conversation(BaseModel):
    """Messages as chat APIs have them."""

    model_config = ConfigDict(extra="forbid", strict=True)
    messages: list[dict[str, Any]]


class AgentMemory(BaseModel):
    """A memory of an agent."""

    model_config = ConfigDict(from_attributes=True)
    id: UUID = Field(validation_alias="memory_id")
    agent_id: str
    memory_type: str
    content: str
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


class Fact(BaseModel):
    """A memory that was extracted."""

    model_config = ConfigDict(from_attributes=True)
    id: UUID = Field(validation_alias="memory_id")
    memory_type: str
    content: str


class Answer(BaseModel):
    """An answer, which says that the call has succeeded."""

    success: Literal[True] = True


class Stored(Answer):
    """The answer after storing; ``memory`` is null where the agent's policy keeps none."""

    memory: AgentMemory | None


class Listed(Answer):
    """A page of memories; ``total`` is the number of all that match."""

    memories: list[AgentMemory]
    total: int
    count: int


class Deleted(Answer):
    """The answer after deleting."""

    deleted: str


class Summarized(Answer):
    """What was extracted."""

    extracted: int
    facts: list[Fact]


class CleanedUp(Answer):
    """The answer after cleaning up."""

    message: str


def add_endpoints(router: APIRouter, memory: AsyncMemory) -> None:
    """Add the endpoints."""
    cleanup: asyncio.Task[Any] | None = None

    @router.post(_PATH, tags=_TAGS)
    async def store_memory(request: Request, id: _Id, query: _OfUser, body: NewMemory) -> Stored:
        """Store a memory of an agent. The same content again replaces the rest of that memory."""
        user_id = _user(request, query)
        added = await memory.add_memory(
            user_id,
            body.content,
            body.memory_type,
            id,
            metadata=body.metadata,
            expires_at=body.expires_at,
            embedding_text=body.embedding_text,
            on_conflict="replace",  # what is sent comes back, also where the same content is there already
        )
        if added.memory_id is None:
            return Stored(memory=None)
        try:
            return Stored(memory=_shown(await memory.get_memory(user_id, added.memory_id)))
        except NotFoundError:  # it has expired already, or the agent is at its limit and keeps what matters more
            now = datetime.now(timezone.utc)
            times = {"created_at": now, "updated_at": now}
            given = body.model_dump() | {"metadata": body.metadata or {}}
            return Stored(memory=_shown({"memory_id": added.memory_id, "agent_id": id, **given, **times}))

    @router.get(_PATH, tags=_TAGS)
    async def list_agent_memories(request: Request, id: _Id, query: Annotated[Listing, Query()]) -> Listed:
        """List the memories of an agent, newest first, by type and by a text in content or embedding_text."""
        user_id = _user(request, query)
        filters: dict[str, Any] = {"agent_id": id, "memory_type": query.type, "search": query.search}
        try:
            found = await memory.list_memories(user_id, **filters, row_limit=query.limit, row_offset=query.offset)
            is_beyond = not found and query.offset
            total = await memory.count_memories(user_id, **filters) if is_beyond else 0
        except AgentMemoryError as error:
            for name, shown in (("row_limit", "limit"), ("row_offset", "offset"), ("memory_type", "type")):
                error.message = error.message.replace(name, shown)
            raise
        return Listed(
            memories=[_shown(each) for each in found],
            total=found[0].total_count if found else total,
            count=len(found),
        )

    @router.delete(_PATH + "/{memory_id}", tags=_TAGS)
    async def delete_agent_memory(request: Request, id: _Id, memory_id: _Id, query: _OfUser) -> Deleted:
        """Delete a memory of an agent."""
        user_id = _user(request, query)
        with suppress(ValueError, NotFoundError):  # what is no UUID is the id of no memory
            record = await memory.get_memory(user_id, UUID(memory_id))
            if record.agent_id == id and await memory.delete_memory(user_id, record.memory_id):
                return Deleted(deleted=memory_id)
        raise NotFoundError("id: the agent has no such memory", hint="List the memories of the agent for their ids.")

    @router.post(_PATH + "/summarize", tags=_TAGS)
    async def summarize_conversation(request: Request, id: _Id, query: _OfUser, body: Conversation) -> Summarized:
        """Extract facts and preferences from messages, and wait for them. The messages are not kept."""
        found = await extract(memory, _user(request, query), id, body.messages)
        facts = [Fact.model_validate(each) for each in found]
        return Summarized(extracted=len(facts), facts=facts)

    @router.post(_PATH + "/cleanup", tags=_TAGS)
    async def clean_up_memories(request: Request, id: _Id, query: _OfUser) -> CleanedUp:  # noqa: ARG001 - of any agent
        """Remove what has expired. It is invisible before, too; limits are kept with each write."""
        # Calls that come while one is under way wait for its end, so that many of them cost no more than one. Whose
        # memories were meant does not matter: what is removed is what nobody can see any more.
        nonlocal cleanup
        _user(request, query)
        if cleanup is None or cleanup.done():
            cleanup = asyncio.create_task(memory.admin.sweep(_SWEPT))
        await asyncio.shield(cleanup)
        return CleanedUp(message="Cleanup completed")


def _user(request: Request, query: OfUser) -> str:
    user_id = caller_of(request).user(query.user_id, DEFAULT_USER)
    assert user_id is not None  # there is a default
    return user_id


def _shown(memory: MemoryRecord | dict[str, Any]) -> AgentMemory:
    return AgentMemory.model_validate(memory)
