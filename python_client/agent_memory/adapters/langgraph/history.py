"""The messages of a thread as messages of LangChain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ...chat_messages import Part, from_openai, function_of, message_of, sendable
from ...client import AsyncMemory, Memory
from ..clients import asynchronous, blocking, finished, needs

with needs("langgraph"):
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        convert_to_messages,
        convert_to_openai_messages,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.messages.tool import invalid_tool_call


class AgentMemoryHistory:
    """The messages of a thread as LangChain's, for nodes of a graph and chains; no checkpointer is needed.

    It has the methods of LangChain's ``BaseChatMessageHistory``, and ``context``. Messages come back as they were
    added, with their ids, tool calls, usage and parts; messages that others have stored in the thread come back, too.

    Args:
        memory: the client. With AsyncMemory only the asynchronous methods work.
        user_id: whose thread it is.
        thread_id: the thread.
        agent_id: the agent that speaks; None is the database's default.
    """

    def __init__(self, memory: AsyncMemory | Memory, user_id: str, thread_id: str, agent_id: str | None = None) -> None:
        self._memory = memory
        self._thread = (user_id, thread_id)
        self._agent_id = agent_id

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages of the thread, oldest first."""
        return to_langchain(finished(blocking(self._memory).get_messages(*self._thread, whole=True)))

    async def aget_messages(self) -> list[BaseMessage]:
        """Return all messages of the thread, oldest first."""
        return to_langchain(await asynchronous(self._memory).get_messages(*self._thread, whole=True))

    def context(self, query: str | None = None, max_tokens: int | None = None) -> list[BaseMessage]:
        """Return messages for a model: memories, earlier messages about the query, and the newest messages.

        Args:
            query: what it is about; None takes the newest message of the user.
            max_tokens: the most that the messages may have; None takes the policy's ``context.max_tokens``.
        """
        return finished(self._context(blocking(self._memory), query, max_tokens))

    async def acontext(self, query: str | None = None, max_tokens: int | None = None) -> list[BaseMessage]:
        """Return messages for a model, as ``context`` does."""
        return await self._context(asynchronous(self._memory), query, max_tokens)

    async def _context(self, memory: AsyncMemory, query: str | None, max_tokens: int | None) -> list[BaseMessage]:
        parts = await memory.get_context(*self._thread, query=query, agent_id=self._agent_id, max_tokens=max_tokens)
        return [_restored(part, message) for part, message in sendable(parts)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages to the thread, all or none."""
        finished(self._add(blocking(self._memory), messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages to the thread, all or none."""
        await self._add(asynchronous(self._memory), messages)

    async def _add(self, memory: AsyncMemory, messages: Sequence[BaseMessage]) -> None:
        await memory.add_messages(*self._thread, [from_langchain(m) for m in messages], agent_id=self._agent_id)

    def clear(self) -> None:
        """Hide all messages of the thread."""
        finished(blocking(self._memory).clear_thread(*self._thread))

    async def aclear(self) -> None:
        """Hide all messages of the thread."""
        await asynchronous(self._memory).clear_thread(*self._thread)


def from_langchain(message: BaseMessage) -> dict[str, Any]:
    """Return a LangChain message for ``add_messages``, with the metadata from which ``to_langchain`` makes it anew."""
    said = convert_to_openai_messages(message)
    assert isinstance(said, dict)
    dumped = message_to_dict(message)
    data = dumped["data"] = {
        name: value for name, value in dumped["data"].items() if name == "content" or value not in (None, [], {})
    }
    # Text and calls are kept once, as the database knows them.
    if isinstance(message.content, str):
        said["content"] = data.pop("content", "")
    if data.get("tool_calls") and said.get("tool_calls"):
        del data["tool_calls"]
    role = said["role"] if said["role"] in ("user", "assistant", "tool", "system", "developer") else "user"
    return {**from_openai({**said, "role": role}), "metadata": {"langchain": dumped}}


def to_langchain(parts: Iterable[Part]) -> list[BaseMessage]:
    """Return messages of LangChain: those of ``from_langchain`` as they were, others by their roles.

    Args:
        parts: messages of one thread, oldest first. For a model, ``AgentMemoryHistory.context`` also leaves out calls
            of tools that nothing answers.
    """
    return [_restored(part, message_of(part)) for part in parts]


def _restored(part: Part, message: dict[str, Any]) -> BaseMessage:
    """The message as it was added, unless something else is to be sent."""
    if part.role == message["role"] == "tool":
        message.setdefault("tool_call_id", "")  # LangChain knows no result without a call
    # LangChain raises for arguments that are not JSON, which a model may write, unless the call is said to be invalid.
    calls = message.get("tool_calls", [])
    valid = [call for call in calls if _is_valid(call)]
    others = {name: value for name, value in message.items() if name != "tool_calls"}
    [converted] = convert_to_messages([{**others, "tool_calls": valid} if valid else others])
    if isinstance(converted, AIMessage):
        converted.invalid_tool_calls = [
            invalid_tool_call(id=call.get("id"), name=of["name"], args=of["arguments"])
            for call in calls
            if call not in valid
            for of in [function_of(call)]
        ]
    dumped = part.metadata.get("langchain")
    if dumped is None or message != message_of(part):
        return converted
    data = {"content": part.content, **dumped["data"]}
    if isinstance(converted, AIMessage) and converted.tool_calls:
        data.setdefault("tool_calls", converted.tool_calls)
    if isinstance(converted, AIMessage) and converted.invalid_tool_calls:
        data.setdefault("invalid_tool_calls", converted.invalid_tool_calls)
    return messages_from_dict([{**dumped, "data": data}])[0]


def _is_valid(call: dict[str, Any]) -> bool:
    """Whether LangChain takes a call for one of its own: a function whose arguments are a JSON object."""
    try:
        return "function" in call and isinstance(json.loads(function_of(call)["arguments"]), dict)
    except ValueError:
        return False
