"""Long-term memories behind the protocol of autogen-core."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from pydantic import BaseModel

from ...client import AsyncMemory
from ...client import Memory as Client
from ..clients import asynchronous, needs
from .context import MemoryContext

with needs("autogen"):
    from autogen_core import CancellationToken, Component
    from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import SystemMessage

_TEXTS = (MemoryMimeType.TEXT, MemoryMimeType.MARKDOWN)
Value = TypeVar("Value")


class AgentMemoryConfig(BaseModel):
    """A memory in AutoGen's configuration, without the client."""

    user_id: str
    agent_id: str | None = None
    max_memories: int = 20


class AgentMemory(Memory, Component[AgentMemoryConfig]):
    """The memories of a user as a memory of autogen-core.

    ``update_context`` puts the memories that matter most to the newest message before it, as a system message. A
    ``MemoryContext`` shows them anyway, so nothing is added to one.

    Args:
        memory: the client, asynchronous or not. ``close`` leaves it open.
        user_id: whose memories they are.
        agent_id: the agent whose memories are read and written; None reads those of all agents.
        max_memories: how many are shown or found, at most.
    """

    component_config_schema = AgentMemoryConfig
    component_provider_override = "agent_memory.adapters.autogen.AgentMemory"

    def __init__(
        self, memory: AsyncMemory | Client, user_id: str, agent_id: str | None = None, *, max_memories: int = 20
    ) -> None:
        self._memory = asynchronous(memory)
        self._user_id = user_id
        self._agent_id = agent_id
        self._max_memories = max_memories

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add the memories that matter to the newest message, and return them."""
        messages = await model_context.get_messages()
        said = messages[-1].content if messages else None
        if not isinstance(said, str) or not said.strip():
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        found = await self.query(said)
        if not isinstance(model_context, MemoryContext):
            block = await self._memory.render_memories(
                self._user_id, agent_id=self._agent_id, query=said, max_memories=self._max_memories
            )
            if block:
                await model_context.add_message(SystemMessage(content=block))
        return UpdateContextResult(memories=found)

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return the memories that answer a query, the best first; metadata has their id and score.

        Args:
            query: a text, or content with a text.
            cancellation_token: cancels the search.
            **kwargs: further arguments of the client's ``search``, such as ``min_score``.
        """
        text = _text_of(query)[0] if isinstance(query, MemoryContent) else query
        options = {"top_k": self._max_memories, "agent_id": self._agent_id, "sources": ["memory"], **kwargs}
        if not text.strip():
            return MemoryQueryResult(results=[])
        found = await _cancellable(self._memory.search(self._user_id, text, **options), cancellation_token)
        return MemoryQueryResult(
            results=[_content(hit.content, {**hit.metadata, "id": hit.id, "score": hit.score}) for hit in found]
        )

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Store a memory.

        Raises:
            ValueError: the content is neither text nor JSON.
        """
        text, kind = _text_of(content)
        metadata = {**(content.metadata or {}), "autogen": kind}
        add = self._memory.add_memory(self._user_id, text, agent_id=self._agent_id, metadata=metadata)
        await _cancellable(add, cancellation_token)

    async def clear(self) -> None:
        """Delete the memories of ``add``; memories from conversations stay."""
        while rows := await self._memory.list_memories(
            self._user_id, agent_id=self._agent_id, filter={"autogen": {}}, row_limit=1000
        ):
            for row in rows:
                await self._memory.delete_memory(self._user_id, row.memory_id)

    async def close(self) -> None:
        """Do nothing: the client is the caller's."""

    def _to_config(self) -> AgentMemoryConfig:
        return AgentMemoryConfig(user_id=self._user_id, agent_id=self._agent_id, max_memories=self._max_memories)

    @classmethod
    def _from_config(cls, config: AgentMemoryConfig) -> AgentMemory:
        """Make a memory on the database of AGENT_MEMORY_DSN, or else the embedded one."""
        return cls(AsyncMemory(), **config.model_dump())


def _text_of(content: MemoryContent) -> tuple[str, dict[str, Any]]:
    """The stored text, and the metadata that make the content anew."""
    mime_type = MemoryMimeType(content.mime_type)
    if mime_type in _TEXTS and isinstance(content.content, str):
        return content.content, {"mime_type": mime_type.value}
    if mime_type is MemoryMimeType.JSON and isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False), {"mime_type": mime_type.value}
    raise ValueError(f"a memory holds a text, or a dict of type application/json, not {mime_type.value}")


def _content(text: str, metadata: dict[str, Any]) -> MemoryContent:
    mime_type = MemoryMimeType(metadata.pop("autogen", {}).get("mime_type", MemoryMimeType.TEXT))
    content = json.loads(text) if mime_type is MemoryMimeType.JSON else text
    return MemoryContent(content=content, mime_type=mime_type, metadata=metadata)


async def _cancellable(call: Coroutine[Any, Any, Value], token: CancellationToken | None) -> Value:
    task = asyncio.ensure_future(call)
    if token is not None:
        token.link_future(task)
    return await task
