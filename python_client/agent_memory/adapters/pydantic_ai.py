"""Pydantic AI: the message history of an agent is a thread."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from ..chat_messages import Part, function_of, message_of, sendable
from ..client import AsyncMemory, Memory
from .clients import asynchronous, needs

with needs("pydantic-ai"):
    from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

_ROLES = {"system-prompt": "system", "user-prompt": "user", "tool-return": "tool"}
"""Roles of parts of a request. Other parts are what the user says, or results of tools if they name a tool."""


_FILES = {"binary", "image-url", "audio-url", "video-url", "document-url"}
"""Kinds of content that are no text."""


class AgentMemoryHistory:
    """The message history of an agent of Pydantic AI, kept in a thread.

    Messages come back as they were added, with all their parts, usage and times. For agent_memory every part of a
    request is a message (instructions, what the user says, results of tools), and a response is one message with its
    calls of tools.

    Args:
        memory: the client, asynchronous or not.
        user_id: whose conversation it is.
        thread_id: the thread.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
    """

    def __init__(self, memory: AsyncMemory | Memory, user_id: str, thread_id: str, agent_id: str | None = None) -> None:
        self._memory = asynchronous(memory)
        self._thread = (user_id, thread_id)
        self._agent_id = agent_id

    async def add(self, messages: Sequence[ModelMessage]) -> None:
        """Append messages, all or none: ``await history.add(result.new_messages())``."""
        stored = [said for message in messages for said in _from_pydantic(message)]
        if stored:
            await self._memory.add_messages(*self._thread, stored, agent_id=self._agent_id)

    async def messages(self) -> list[ModelMessage]:
        """Return all messages of the thread, oldest first."""
        messages = await self._memory.get_messages(*self._thread, whole=True)
        return _to_pydantic((message, message_of(message)) for message in messages)

    async def context(self, query: str | None = None, max_tokens: int | None = None) -> list[ModelMessage]:
        """Return the history for the next run.

        Use it as ``await agent.run(query, message_history=await history.context(query))``. Memories of the user and
        earlier messages about the query stand before the newest messages, and summaries in place of messages that do
        not fit.

        Args:
            query: what the user asks now; None takes the newest message of the user.
            max_tokens: the most that the messages may have; None takes the policy's ``context.max_tokens``.
        """
        parts = await self._memory.get_context(
            *self._thread, query=query, agent_id=self._agent_id, max_tokens=max_tokens
        )
        return _to_pydantic(sendable(parts))

    async def clear(self) -> None:
        """Hide all messages of the thread."""
        await self._memory.clear_thread(*self._thread)


def _from_pydantic(message: ModelMessage) -> list[dict[str, Any]]:
    """The messages of a message, as add_messages takes them."""
    [dumped] = ModelMessagesTypeAdapter.dump_python([message], mode="json")
    envelope = _short(dumped)
    parts = [_short(part) for part in envelope.pop("parts")]
    own = {"kind": envelope["kind"], "message": str(uuid.uuid4())}
    stored = [_response(parts)] if envelope["kind"] == "response" else [_request(part) for part in parts]
    for place, said in enumerate(stored):
        members = {**own, "parts": said.pop("parts"), **({"envelope": envelope} if place == 0 else {})}
        said["metadata"] = {"pydantic_ai": members}
    return stored


def _response(parts: list[dict[str, Any]]) -> dict[str, Any]:
    calls = []
    for part in parts:
        if part["part_kind"] == "tool-call":
            arguments = part.get("args")
            # The arguments of the call are not kept twice; the empty value keeps their type.
            text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
            part |= {} if arguments is None else {"args": type(arguments)()}
            function = {"name": part["tool_name"], "arguments": text}
            calls.append({"id": part["tool_call_id"], "type": "function", "function": function})
    texts = [part for part in parts if part["part_kind"] == "text"]
    text = "\n".join(part["content"] for part in texts)
    if len(texts) == 1:
        texts[0]["content"] = ""
    return {"role": "assistant", "content": text, "parts": parts, **({"tool_calls": calls} if calls else {})}


def _request(part: dict[str, Any]) -> dict[str, Any]:
    role = _ROLES.get(part["part_kind"], "tool" if part.get("tool_name") else "user")
    content = part.get("content")
    if isinstance(content, str):
        text, part["content"] = content, ""
    elif isinstance(content, list) and (role == "user" or any(_is_file(member) for member in content)):
        text = "\n".join(member for member in content if isinstance(member, str))
    elif _is_file(content):
        text = ""
    else:
        text = json.dumps(content, ensure_ascii=False)
    call = {"tool_call_id": part["tool_call_id"]} if role == "tool" else {}
    return {"role": role, "content": text, "parts": [part], **call}


def _is_file(content: Any) -> bool:
    return isinstance(content, dict) and content.get("kind") in _FILES


def _to_pydantic(said: Iterable[tuple[Part, dict[str, Any]]]) -> list[ModelMessage]:
    dumped: list[dict[str, Any]] = []
    last: str | None = None
    names: dict[str, str] = {}
    for part, message in said:
        own = part.metadata.get("pydantic_ai", {})
        if own and message["role"] == part.role:
            kind, parts = own["kind"], _restored(own["parts"], part, message)
        else:
            own, (kind, parts) = {}, _of_others(message, names)
        names |= {call.get("id", ""): function_of(call)["name"] for call in message.get("tool_calls", [])}
        if last is not None and own.get("message") == last:
            dumped[-1]["parts"] += parts
        else:
            dumped.append({**own.get("envelope", {}), "kind": kind, "parts": parts})
        last = own.get("message")
    return ModelMessagesTypeAdapter.validate_python(dumped)


def _restored(parts: list[dict[str, Any]], stored: Part, message: dict[str, Any]) -> list[dict[str, Any]]:
    arguments = {call.get("id", ""): function_of(call)["arguments"] for call in message.get("tool_calls", [])}
    restored = []
    for part in parts:
        if part["part_kind"] == "tool-call":
            if part["tool_call_id"] not in arguments:
                continue  # nothing answers it
            text, given = arguments[part["tool_call_id"]], part.get("args")
            if given is not None:
                part = {**part, "args": text if given == "" else json.loads(text)}
        elif part.get("content") == "":
            part = {**part, "content": stored.content}
        restored.append(part)
    return restored


def _of_others(message: dict[str, Any], names: dict[str, str]) -> tuple[str, list[dict[str, Any]]]:
    """The kind and the parts of a message that was not stored by this adapter."""
    content = message["content"] or ""
    if isinstance(content, list):
        content = "\n".join(member["text"] for member in content if member.get("text"))
    if message["role"] == "assistant":
        texts = [{"part_kind": "text", "content": content}] if content else []
        calls = [
            {
                "part_kind": "tool-call",
                "tool_call_id": call.get("id", ""),
                "tool_name": function_of(call)["name"],
                "args": function_of(call)["arguments"],
            }
            for call in message.get("tool_calls", [])
        ]
        return "response", texts + calls
    if message["role"] == "tool":
        call_id = message.get("tool_call_id", "")
        name = names.get(call_id, "tool")
        returned = {"part_kind": "tool-return", "tool_call_id": call_id, "tool_name": name, "content": content}
        return "request", [returned]
    kind = "user-prompt" if message["role"] == "user" else "system-prompt"
    return "request", [{"part_kind": kind, "content": content}]


def _short(dumped: dict[str, Any]) -> dict[str, Any]:
    """The members that are not null, which every one of them is unless given."""
    return {name: value for name, value in dumped.items() if value is not None}
