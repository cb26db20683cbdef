"""Messages of Anthropic, made of contexts, with marks where a cache of the prompt pays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .chat_messages import Part, function_of, sendable

FEWEST_CACHED_TOKENS = 1024
"""Anthropic caches no shorter beginning of a prompt, for most of its models."""
_DATA = re.compile(r"data:(?P<media_type>[^;,]+);base64,(?P<data>.*)", re.DOTALL)
_GOES_ON = "(The conversation goes on.)"

Block = dict[str, Any]


def to_anthropic(parts: Iterable[Part]) -> dict[str, list[dict[str, Any]]]:
    """Return ``system`` and ``messages`` as ``client.messages.create()`` of Anthropic takes them.

    System messages that begin the context become blocks of ``system``, later ones text of the user. Messages of one
    role in a row become one message. ``cache_control`` marks, from 1,024 tokens on, the end of what is the same in all
    contexts of the user, the end of the thread before what belongs to the question, and in a round of tool calls the
    end of the prompt.

    Args:
        parts: a context, in the order in which a model reads it.
    """
    system: list[Block] = []
    messages: list[dict[str, Any]] = []
    marked: dict[str, Block] = {}  # the last block of each kind whose end a request later has as well
    tokens = 0
    role = ""
    kept = True  # whether nothing volatile has come yet
    for part, message in sendable(parts):
        role = part.role
        cache = part.metadata.get("cache", "thread")
        kept = kept and cache != "volatile"
        tokens += getattr(part, "token_count", 0)
        blocks = list(_blocks(message))
        if not blocks:
            continue
        if not messages and message["role"] in ("system", "developer"):
            system += blocks
        else:
            speaker = "assistant" if message["role"] == "assistant" else "user"
            if not messages and speaker == "assistant":
                messages.append({"role": "user", "content": [{"type": "text", "text": _GOES_ON}]})
            if messages and messages[-1]["role"] == speaker:
                messages[-1]["content"] += blocks
            else:
                messages.append({"role": speaker, "content": blocks})
        if kept and tokens >= FEWEST_CACHED_TOKENS:
            marked[cache] = blocks[-1]
        last = blocks[-1]
    if role == "tool" and tokens >= FEWEST_CACHED_TOKENS:
        marked["round"] = last
    for block in marked.values():
        block["cache_control"] = {"type": "ephemeral"}
    return {"system": system, "messages": messages}


def _blocks(message: dict[str, Any]) -> Iterator[Block]:
    content = message["content"]
    if message["role"] == "tool":
        yield {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": list(_content(content))}
        return
    yield from _content(content)
    for call in message.get("tool_calls", []):
        function = function_of(call)
        yield {
            "type": "tool_use", "id": call.get("id"), "name": function["name"], "input": _input(function["arguments"])
        }  # fmt: skip


def _content(content: Any) -> Iterator[Block]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in content or []:
        match part:
            case {"type": "text", "text": str(text)}:
                if text.strip():
                    yield {"type": "text", "text": text}
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield {"type": "image", "source": _source(url)}
            case {"type": "file", "file": {"file_data": str(url)}}:
                yield {"type": "document", "source": _source(url)}
            case _:
                yield {"type": "text", "text": f"[{part.get('type', 'part') if isinstance(part, dict) else 'part'}]"}


def _source(url: str) -> dict[str, str]:
    if data := _DATA.fullmatch(url):
        return {"type": "base64", **data.groupdict()}
    return {"type": "url", "url": url}


def _input(arguments: str) -> Any:
    """The arguments of a call as an object, which Anthropic wants."""
    try:
        given = json.loads(arguments or "{}")
    except json.JSONDecodeError:
        given = arguments
    return given if isinstance(given, dict) else {"input": given}
