"""LlamaIndex: a block of its Memory, for messages that no longer fit into the short-term memory."""

from __future__ import annotations

from typing import Any

from pydantic import Field, PrivateAttr

from ..chat_messages import Part
from ..client import AsyncMemory, Memory
from ..types import Context
from .clients import asynchronous, needs

with needs("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock

_ROLES = {
    MessageRole.FUNCTION: "tool",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}


class AgentMemoryBlock(BaseMemoryBlock[str]):
    """A memory block: ``Memory.from_defaults(memory_blocks=[AgentMemoryBlock(memory=..., user_id="ana")])``.

    Messages that leave LlamaIndex's short-term memory are stored in a thread, as a whole, where facts are learned from
    them. The block shows the model memories of the user, what was said before about the newest question, the newest of
    these messages, and summaries of what does not fit.

    Attributes:
        memory: the client, asynchronous or not.
        user_id: whose conversation it is.
        thread_id: the thread; None is the ``session_id`` of LlamaIndex's memory.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
        max_tokens: the most that the block shows; None takes the policy's ``context.max_tokens``.
    """

    name: str = "agent_memory"
    description: str | None = "Memories of the user and of this conversation."
    memory: AsyncMemory | Memory = Field(exclude=True, repr=False)
    user_id: str
    thread_id: str | None = None
    agent_id: str | None = None
    max_tokens: int | None = None
    _client: AsyncMemory = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Take either client."""
        super().model_post_init(context)
        self._client = asynchronous(self.memory)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the text of the block for the newest question, or "".

        Raises:
            ValueError: neither the block nor LlamaIndex's memory names a thread.
            psycopg.Error: the database fails.
        """
        asked = [message.content for message in messages or [] if message.role == MessageRole.USER and message.content]
        parts = await self._client.get_context(
            self.user_id,
            self._thread(block_kwargs.get("session_id")),
            query=asked[-1] if asked else None,
            agent_id=self.agent_id,
            max_tokens=self.max_tokens,
        )
        return _shown(parts)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store messages; those of one call are stored all or none."""
        threads: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            thread_id = self._thread(message.additional_kwargs.get("session_id"))
            threads.setdefault(thread_id, []).append(from_llama_index(message))
        for thread_id, stored in threads.items():
            await self._client.add_messages(self.user_id, thread_id, stored, agent_id=self.agent_id)

    def _thread(self, session_id: str | None) -> str:
        thread_id = self.thread_id or session_id
        if thread_id is None:
            raise ValueError(
                "name the thread: AgentMemoryBlock(thread_id=...), or Memory.from_defaults(session_id=...)"
            )
        return thread_id


def from_llama_index(message: ChatMessage) -> dict[str, Any]:
    """Return a message as ``add_messages`` takes it; its metadata has all that ``to_llama_index`` needs."""
    dumped = message.model_dump(mode="json")
    text = message.content or ""
    texts = [block for block in dumped["blocks"] if block.get("block_type") == "text"]
    if len(texts) == 1:
        texts[0]["text"] = None  # stands in the content
    extras = {name: value for name, value in dumped["additional_kwargs"].items() if name != "session_id"}
    kept = {"role": dumped["role"], "blocks": dumped["blocks"], "additional_kwargs": extras}
    stored = {"role": _ROLES.get(message.role, message.role.value), "content": text}
    calls = [call for call in extras.get("tool_calls", []) if isinstance(call, dict) and "function" in call]
    said = {"tool_calls": calls, "tool_call_id": extras.get("tool_call_id")}
    return {**stored, **{name: value for name, value in said.items() if value}, "metadata": {"llama_index": kept}}


def to_llama_index(part: Part) -> ChatMessage:
    """Return the message of LlamaIndex that was stored, or one with its text and role if somebody else has stored it.

    Args:
        part: a stored message, or a part of a context.
    """
    kept = part.metadata.get("llama_index")
    if kept is None:
        return ChatMessage(part.content, role=MessageRole(part.role))
    blocks = [
        {**block, "text": part.content} if block.get("block_type") == "text" and block.get("text") is None else block
        for block in kept["blocks"]
    ]
    return ChatMessage.model_validate({**kept, "blocks": blocks})


def _shown(parts: Context) -> str:
    """The text of a block for a context: the messages of the thread come last, with their speakers."""
    recalled = [part.content for part in parts if part.source != "message"]
    said = [f"{part.role}: {part.content}" for part in parts if part.source == "message" and part.content]
    return "\n\n".join([*recalled, "\n".join(said)] if said else recalled)
