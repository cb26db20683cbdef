"""Reads conversations of Claude's data export.

``chat_messages`` has the messages of a conversation, those of branches that the user left among them; the branch of
``current_leaf_message_uuid``, else of the newest message, is imported. A message has blocks: texts are its content,
``tool_use`` becomes a tool call in OpenAI's form and ``tool_result`` a message of role tool; thinking is left out. The
text of attachments, which pasted documents are, belongs to the content. Older exports have ``text`` alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .records import Record, Source, repaired, time_of, with_times, without_empty

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def read_claude(source: Source, place: str, value: dict[str, Any]) -> Iterator[Record]:
    """Yield the messages of a conversation."""
    if source.user_id is None:
        yield source.no_user(place)
        return
    if not isinstance(value.get("uuid"), str) or not isinstance(value.get("chat_messages"), list):
        yield source.bad(place, "a conversation of Claude has uuid and chat_messages")
        return
    yield from with_times(_messages(source, place, repaired(value)))


def _messages(source: Source, place: str, value: dict[str, Any]) -> Iterator[Record]:
    given = value["chat_messages"]
    numbers = {id(message): number for number, message in enumerate(given, start=1)}
    for message in _branch(given, value.get("current_leaf_message_uuid")):
        here = f"{place}, message {numbers[id(message)]}"
        try:
            read = list(_read(message, value))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            yield source.bad(here, str(error) or type(error).__name__)
            continue
        for each in read:
            yield source.message(here, source.user_id or "", value["uuid"], each)


def _branch(messages: list[Any], leaf: object) -> list[Any]:
    """Return the messages of the current branch; all of them where none has branched."""
    by_id = {message.get("uuid"): message for message in messages if isinstance(message, dict)}
    parents = [message.get("parent_message_uuid") for message in by_id.values()]
    if len(by_id) < len(messages) or len({*parents}) == len(parents) or not all(parents):
        return messages
    current: dict[str, Any] | None = by_id.get(leaf) or max(
        by_id.values(), key=lambda message: str(message.get("created_at"))
    )
    branch: list[Any] = []
    while current is not None and len(branch) < len(messages):  # a damaged file may have a circle
        branch.append(current)
        current = by_id.get(current["parent_message_uuid"])
    return branch[::-1]


def _read(message: dict[str, Any], conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as add_messages takes it: cut where it got the result of a tool."""
    sender = message.get("sender")
    if sender not in _ROLES:
        raise ValueError(f"unknown sender {sender!r}")
    common = {
        "created_at": time_of(message.get("created_at")) or time_of(conversation.get("created_at")),
        "metadata": without_empty({"title": conversation.get("name")}),
    }
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    number = 0

    def keyed(read: dict[str, Any]) -> dict[str, Any]:
        nonlocal number
        number += 1
        suffix = "" if number == 1 else f"/{number}"
        return {**common, **read, "idempotency_key": f"claude:{message['uuid']}{suffix}"}

    def said() -> Iterator[dict[str, Any]]:
        content = "\n\n".join(text for text in texts if text.strip())
        if content or calls:
            yield keyed({"role": _ROLES[sender], "content": content} | ({"tool_calls": [*calls]} if calls else {}))
        texts.clear()
        calls.clear()

    for block in message.get("content") or [{"type": "text", "text": message.get("text") or ""}]:
        match block.get("type"):
            case "text":
                texts.append(str(block.get("text") or ""))
            case "tool_use":
                function = {"name": block.get("name"), "arguments": json.dumps(block.get("input"))}
                calls.append({"id": block.get("id"), "type": "function", "function": function})
            case "tool_result":
                yield from said()
                result = _result(block.get("content"))
                if result:
                    named = without_empty({"tool_call_id": block.get("tool_use_id"), "name": block.get("name")})
                    yield keyed({"role": "tool", "content": result, **named})
    attached = (file for file in message.get("attachments") or [] if file.get("extracted_content"))
    texts += [f"[{file.get('file_name') or 'pasted text'}]\n{file['extracted_content']}" for file in attached]
    texts += [f"[{file['file_name']}]" for file in message.get("files") or [] if file.get("file_name")]
    yield from said()


def _result(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and block.get("text"))
