"""Messages of AutoGen as agent_memory stores them, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...chat_messages import Part, function_of
from ..clients import needs

with needs("autogen"):
    from autogen_core import FunctionCall, Image
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        LLMMessage,
        SystemMessage,
        UserMessage,
    )


def from_autogen(message: LLMMessage) -> list[dict[str, Any]]:
    """Return a message as ``add_messages`` takes it; results of several tools become one message each."""
    if isinstance(message, FunctionExecutionResultMessage):
        return [
            {
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": result.content,
                "metadata": _said(name=result.name, is_error=result.is_error, place=place),
            }
            for place, result in enumerate(message.content)
        ]
    if isinstance(message, SystemMessage):
        return [{"role": "system", "content": message.content, "metadata": _said()}]
    if isinstance(message, UserMessage):
        parts = message.content if isinstance(message.content, str) else [_part(part) for part in message.content]
        return [{"role": "user", "content": parts, "name": message.source, "metadata": _said(source=message.source)}]
    stored: dict[str, Any] = {"role": "assistant", "content": message.content}
    if not isinstance(message.content, str):
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.content
        ]
        stored |= {"content": None, "tool_calls": calls}
    stored["metadata"] = _said(source=message.source, thought=message.thought)
    return [stored]


def to_autogen(said: Iterable[tuple[Part, dict[str, Any]]]) -> list[LLMMessage]:
    """Return messages of AutoGen.

    Args:
        said: parts of a context or stored messages, each with its message (``sendable``, ``message_of``).
    """
    messages: list[LLMMessage] = []
    for part, message in said:
        own = part.metadata.get("autogen", {})
        if message["role"] == "tool":
            result = FunctionExecutionResult(
                content=part.content,
                name=own.get("name", ""),
                call_id=message.get("tool_call_id", ""),
                is_error=own.get("is_error"),
            )
            last = messages[-1] if messages else None
            if isinstance(last, FunctionExecutionResultMessage) and own.get("place") != 0:
                last.content.append(result)
            else:
                messages.append(FunctionExecutionResultMessage(content=[result]))
        elif message["role"] == "assistant":
            messages.append(_assistant(message, own))
        elif message["role"] == "user":
            content = message["content"]
            if not isinstance(content, str):
                content = [_text_or_image(member) for member in content]
            messages.append(UserMessage(content=content, source=message.get("name", own.get("source", "user"))))
        else:
            messages.append(SystemMessage(content=part.content))
    return messages


def _assistant(message: dict[str, Any], own: dict[str, Any]) -> AssistantMessage:
    source, thought = own.get("source", message.get("name", "assistant")), own.get("thought")
    if "tool_calls" not in message:
        return AssistantMessage(content=message["content"] or "", source=source, thought=thought)
    calls = [FunctionCall(id=call.get("id", ""), **function_of(call)) for call in message["tool_calls"]]
    # AutoGen has no text beside calls except the thought.
    return AssistantMessage(content=calls, source=source, thought=thought or message["content"])


def _said(**members: Any) -> dict[str, Any]:
    return {"autogen": {name: value for name, value in members.items() if value is not None}}


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": part.data_uri}}


def _text_or_image(part: dict[str, Any]) -> str | Image:
    url = part.get("image_url", {}).get("url", "")
    return Image.from_uri(url) if url.startswith("data:image/") else part.get("text") or url
