"""OpenAI Agents SDK: a thread as the session of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..chat_messages import function_of
from ..client import AsyncMemory, Memory
from .clients import asynchronous, needs, settled

with needs("openai-agents"):
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from ..types import Message

_ROLES = {"user", "assistant", "system", "developer"}


class AgentMemorySession(SessionABC):
    """A session of the OpenAI Agents SDK that is a thread: ``Runner.run(agent, "Hi!", session=session)``.

    Items come back as they were added: texts, parts such as images, calls of tools and their results, reasoning. For
    agent_memory, messages are messages, calls are tool calls of the assistant and outputs results of tools; so they are
    found, summarised and shown in contexts. Every other item is a message of the assistant without text. A cancelled
    call ends once its outcome is certain, as with the SDK's own sessions.

    Args:
        memory: the client, asynchronous or not.
        user_id: whose conversation it is.
        thread_id: the thread; it is the ``session_id`` of the SDK.
        agent_id: the agent that speaks, whose policy counts; None is the database's default.
        session_settings: the SDK's settings: how many of the newest items ``get_items`` returns.
    """

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: str,
        thread_id: str,
        agent_id: str | None = None,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = thread_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._memory = asynchronous(memory)
        self._thread = (user_id, thread_id)
        self._agent_id = agent_id

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, oldest first; all of them without a limit.

        Raises:
            psycopg.Error: the database fails; the runner passes it on, as it does with the SDK's own sessions.
        """
        limit = resolve_session_limit(limit, self.session_settings)
        if limit is not None and limit <= 0:
            return []
        messages = await self._memory.get_messages(*self._thread, recent_k=limit, whole=True)
        items = [item for message in messages for item in _items(message)]
        return items if limit is None else items[-limit:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, all or none."""
        messages = [_message(cast("dict[str, Any]", item)) for item in items]
        if messages:
            await settled(self._memory.add_messages(*self._thread, messages, agent_id=self._agent_id))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the newest item and return it, or None where there is none; no two callers get the same."""
        return await settled(self._pop())

    async def _pop(self) -> TResponseInputItem | None:
        while newest := await self._memory.get_messages(*self._thread, recent_k=1, whole=True):
            if await self._memory.delete_message(*self._thread, newest[0].seq):
                return _items(newest[0])[-1]
        return None

    async def clear_session(self) -> None:
        """Hide all items."""
        await settled(self._memory.clear_thread(*self._thread))


def _message(item: dict[str, Any]) -> dict[str, Any]:
    """A message as add_messages takes it. Its metadata has the rest of the item."""
    rest = dict(item)
    kind = item.get("type", "message")
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    if kind == "message" and item.get("role") in _ROLES:
        message = {"role": item["role"], "content": _taken(rest, "content")}
    elif kind == "function_call":
        function = {"name": item["name"], "arguments": rest.pop("arguments")}
        message["tool_calls"] = [{"id": item["call_id"], "type": "function", "function": function}]
    elif kind == "function_call_output":
        message = {"role": "tool", "content": _taken(rest, "output"), "tool_call_id": item["call_id"]}
    return {**message, "metadata": {"openai_agents": rest}}


def _taken(rest: dict[str, Any], name: str) -> str:
    """Take the text out of a member that is a text or a list of parts, and return it. Of several texts all stay."""
    value = rest[name]
    if isinstance(value, str):
        del rest[name]
        return value
    rest[name] = parts = [dict(part) for part in value]
    spoken = [part for part in parts if part.get("text")]
    text = "\n".join(part["text"] for part in spoken)
    if len(spoken) == 1:
        spoken[0]["text"] = None
    return text


def _items(message: Message) -> list[TResponseInputItem]:
    """The item of a message, or the items of one that somebody else has stored in the thread."""
    rest = message.metadata.get("openai_agents")
    if rest is None:
        return cast("list[TResponseInputItem]", _items_of_others(message))
    kind = rest.get("type", "message")
    item = dict(rest)
    if kind == "message" and rest.get("role") in _ROLES:
        item["content"] = _put_back(rest.get("content"), message.content)
    elif kind == "function_call":
        item["arguments"] = message.metadata["tool_calls"][0]["function"]["arguments"]
    elif kind == "function_call_output":
        item["output"] = _put_back(rest.get("output"), message.content)
    return cast("list[TResponseInputItem]", [item])


def _put_back(parts: list[dict[str, Any]] | None, text: str) -> str | list[dict[str, Any]]:
    if parts is None:
        return text
    return [{**part, "text": text} if "text" in part and part["text"] is None else part for part in parts]


def _items_of_others(message: Message) -> list[dict[str, Any]]:
    call_id = message.metadata.get("tool_call_id")
    if message.role == "tool" and call_id:
        return [{"type": "function_call_output", "call_id": call_id, "output": message.content}]
    calls = [
        {"type": "function_call", "call_id": call.get("id", ""), **function_of(call)}
        for call in message.metadata.get("tool_calls", [])
    ]
    said = {"role": message.role if message.role in _ROLES else "user", "content": message.content}
    return [said, *calls] if message.content or not calls else calls
