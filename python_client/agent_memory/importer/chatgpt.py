"""Reads conversations of ChatGPT's data export.

A conversation is a tree: ``mapping`` has the nodes, and every edited question or regenerated answer is a branch. What
the user sees ends at ``current_node``; that branch is imported. Left out is what the user never saw: hidden messages,
system messages, and the reasoning of models. OpenAI does not document the format; the tests have what exports of 2023
to 2026 hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .records import Record, Source, repaired, time_of, with_times, without_empty

_ROLES = {"user", "assistant", "tool", "system"}
_UNSEEN = {
    "thoughts",
    "reasoning_recap",
    "tether_browsing_display",
    "model_editable_context",
    "user_editable_context",
}


def read_chatgpt(source: Source, place: str, value: dict[str, Any]) -> Iterator[Record]:
    """Yield the messages of a conversation, those of its current branch."""
    if source.user_id is None:
        yield source.no_user(place)
        return
    thread_id = value.get("conversation_id") or value.get("id")
    mapping = value.get("mapping")
    if not isinstance(thread_id, str) or not isinstance(mapping, dict):
        yield source.bad(place, "a conversation of ChatGPT has conversation_id and mapping")
        return
    yield from with_times(_messages(source, place, thread_id, repaired(value)))


def _messages(source: Source, place: str, thread_id: str, value: dict[str, Any]) -> Iterator[Record]:
    branch = _branch(value["mapping"], value.get("current_node"))
    if value["mapping"] and not branch:
        yield source.bad(place, "mapping has no node that can be read")
    for node_id, node in branch:
        message = node.get("message")
        if message is None:
            continue
        try:
            read = _message(message, node_id, value)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            yield source.bad(place, f"message {node_id}: {error}")
            continue
        if read is not None:
            yield source.message(f"{place}, message {node_id}", source.user_id or "", thread_id, read)


def _branch(mapping: dict[str, Any], leaf: object) -> list[tuple[str, dict[str, Any]]]:
    """Return the nodes from the root to the current one, which is the newest leaf where none is named."""
    nodes = {node_id: node for node_id, node in mapping.items() if isinstance(node, dict)}
    if leaf not in nodes:
        leaves = [node_id for node_id, node in nodes.items() if not node.get("children")]
        leaf = max(leaves, key=lambda node_id: _created(nodes[node_id]), default=None)
    branch: list[tuple[str, dict[str, Any]]] = []
    seen: set[object] = set()
    while isinstance(leaf, str) and leaf in nodes and leaf not in seen:  # a damaged file may have a circle
        seen.add(leaf)
        branch.append((leaf, nodes[leaf]))
        leaf = nodes[leaf].get("parent")
    return branch[::-1]


def _created(node: dict[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, (int, float)) else 0.0


def _message(message: dict[str, Any], node_id: str, conversation: dict[str, Any]) -> dict[str, Any] | None:
    """Return a message for add_messages; None for a message that the user did not see."""
    author, content, about = message["author"], message.get("content") or {}, message.get("metadata") or {}
    role = author.get("role")
    if role not in _ROLES:
        raise ValueError(f"unknown role {role!r}")
    if (
        role == "system"
        or about.get("is_visually_hidden_from_conversation")
        or message.get("weight") == 0
        or content.get("content_type") in _UNSEEN
    ):
        return None
    text = _text(content)
    if not text.strip():
        return None
    recipient, kind = message.get("recipient"), content.get("content_type")
    read = {
        "role": role,
        "content": text,
        "created_at": time_of(message.get("create_time") or conversation.get("create_time")),
        "idempotency_key": f"chatgpt:{message.get('id') or node_id}",
        "metadata": without_empty(
            {
                "title": conversation.get("title"),
                "model": about.get("model_slug"),
                "recipient": None if recipient == "all" else recipient,
                "content_type": None if kind == "text" else kind,
                "attachments": [
                    file["name"] for file in about.get("attachments") or [] if isinstance(file, dict) and "name" in file
                ],
            }
        ),
    }
    if author.get("name"):
        read["name"] = str(author["name"])
    return read


def _text(content: dict[str, Any]) -> str:
    """Return the content as text; of pictures and sounds that they were there."""
    if isinstance(content.get("parts"), list):
        return "\n".join(filter(None, map(_part, content["parts"])))
    texts = (content.get(name) for name in ("title", "url", "text", "result"))
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):  # what was said, of a sound
        return str(part["text"])
    kind = str(part.get("content_type") or "attachment")
    if kind == "image_asset_pointer":
        prompt = ((part.get("metadata") or {}).get("dalle") or {}).get("prompt")
        return f"[image: {prompt}]" if prompt else "[image]"
    return "" if "audio" in kind else f"[{kind}]"
