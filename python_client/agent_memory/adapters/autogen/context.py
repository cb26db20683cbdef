"""A thread as the context of the model of an AutoGen agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ...chat_messages import message_of, sendable
from ...choices import Source
from ...client import AsyncMemory, Memory
from ...types import SearchResult
from ..clients import asynchronous, needs
from .messages import from_autogen, to_autogen

with needs("autogen"):
    from autogen_core import Component
    from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
    from autogen_core.models import LLMMessage

MemoryItem = SearchResult
"""A result of ``MemoryContext.search``."""

SOURCES: tuple[Source, ...] = ("memory", "artifact", "message", "summary", "document")


class MemoryContextConfig(BaseModel):
    """A context in AutoGen's configuration, without the client."""

    user_id: str
    thread_id: str
    agent_id: str | None = None
    max_tokens: int | None = None


class MemoryContext(ChatCompletionContext, Component[MemoryContextConfig]):
    """The context of an agent's model: a thread of messages, and the long texts that they name.

    ``add_message`` stores a message. Where its text is long, the database keeps it as an artifact and puts a
    placeholder, ``[MemoryRef: key - description - n tokens]``, in its place. ``get_messages`` returns what fits into
    ``max_tokens``: memories of the user, what was said before about the newest question, the newest messages, and
    summaries of what does not fit. Texts behind placeholders are shown where the question needs them and they fit.

    Args:
        memory: the client, asynchronous or not.
        user_id: whose conversation it is.
        thread_id: the thread.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
        max_tokens: the most that ``get_messages`` returns; None takes the policy's ``context.max_tokens``.
        initial_messages: are stored when the context is first used, if the thread is empty.
    """

    component_config_schema = MemoryContextConfig
    component_provider_override = "agent_memory.adapters.autogen.MemoryContext"

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: str,
        thread_id: str,
        agent_id: str | None = None,
        *,
        max_tokens: int | None = None,
        initial_messages: list[LLMMessage] | None = None,
    ) -> None:
        super().__init__(initial_messages)
        self._memory = asynchronous(memory)
        self._user_id = user_id
        self._thread_id = thread_id
        self._agent_id = agent_id
        self._max_tokens = max_tokens

    async def add_message(self, message: LLMMessage) -> None:
        """Store a message; a long one gives way to a placeholder, as the policy's ``artifacts`` say."""
        await self._begin()
        await self._add([message])

    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages for the model."""
        await self._begin()
        parts = await self._memory.get_context(
            self._user_id, self._thread_id, agent_id=self._agent_id, max_tokens=self._max_tokens
        )
        return to_autogen(sendable(parts))

    async def clear(self) -> None:
        """Hide the messages of the thread; stored texts and memories stay."""
        self._messages = []
        await self._memory.clear_thread(self._user_id, self._thread_id)

    async def save_state(self) -> Mapping[str, Any]:
        """Return all messages of the thread."""
        await self._begin()
        return ChatCompletionContextState(messages=await self._all()).model_dump()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Make the thread hold the messages of a state; one that holds them already stays as it is."""
        self._messages = []
        messages = ChatCompletionContextState.model_validate(state).messages
        if messages != await self._all():
            await self.clear()
            await self._add(messages)

    async def store(
        self,
        content: str,
        description: str | None = None,
        type: str = "command_output",
        *,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Keep a text outside of the context, and return its key.

        Args:
            content: the text, up to 200 MiB.
            description: the description in the placeholder; None has it made from the text.
            type: what it is.
            key: its key; None has one made.
            metadata: further facts about it, such as the command.
        """
        stored = await self._memory.store_artifact(
            self._user_id,
            content,
            description=description,
            key=key,
            artifact_type=type,
            agent_id=self._agent_id,
            thread_id=self._thread_id,
            metadata=metadata,
        )
        return stored.key or ""

    async def retrieve(self, memory_key: str) -> str:
        """Return a text by its key or placeholder.

        Raises:
            NotFoundError: the user has no such text.
        """
        return await self._memory.retrieve_artifact(self._user_id, memory_key)

    async def search(self, query: str, limit: int = 10) -> list[MemoryItem]:
        """Search all that is stored of the user, by meaning and words, the best first; ``id`` of a text is its key."""
        return await self._memory.search(self._user_id, query, sources=SOURCES, top_k=limit)

    async def _begin(self) -> None:
        """Store the initial messages if the thread is empty."""
        initial, self._messages = self._messages, []
        if initial and not await self._memory.get_messages(self._user_id, self._thread_id, recent_k=1, whole=True):
            await self._add(initial)

    async def _add(self, messages: Sequence[LLMMessage]) -> None:
        stored = [said for message in messages for said in from_autogen(message)]
        if stored:
            await self._memory.add_messages(self._user_id, self._thread_id, stored, agent_id=self._agent_id)

    async def _all(self) -> list[LLMMessage]:
        messages = await self._memory.get_messages(self._user_id, self._thread_id, whole=True)
        return to_autogen((message, message_of(message)) for message in messages)

    def _to_config(self) -> MemoryContextConfig:
        return MemoryContextConfig(
            user_id=self._user_id, thread_id=self._thread_id, agent_id=self._agent_id, max_tokens=self._max_tokens
        )

    @classmethod
    def _from_config(cls, config: MemoryContextConfig) -> MemoryContext:
        """Make a context on the database of AGENT_MEMORY_DSN, or else the embedded one."""
        return cls(AsyncMemory(), **config.model_dump())
