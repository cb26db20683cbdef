"""Fills the template of a prompt with the data of a job.

The administrator writes the template; users write the data. So conversations, summaries, facts, memories, queries and
found texts are fenced: each row is one JSON object on a line of its own with `<` escaped, so that no text of a row can
close the fence or pass for another row. Models name rows by `seq` or `number`, never by an id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import ModelError
from ..payload import Payload

Variables = Mapping[str, Callable[[Payload], str]]
"""For each variable of a prompt, the function that renders it from a payload."""

MAX_CONTENT_CHARACTERS = 8000
"""More characters of one message (a pasted log, a tool's output) are left out, so that a window of messages fits."""
MAX_TOOL_CALL_CHARACTERS = 300

SUMMARY_LISTS = ("topics", "entities", "decisions", "questions")
"""The lists that the summary of a whole thread has beside its text."""

_SYSTEM_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SECONDS = re.compile(r"(T\d\d:\d\d):\d\d(?:\.\d+)?")


def chat_messages(payload: Payload, variables: Variables) -> list[dict[str, str]]:
    """The messages of a chat completion request: the filled template, split at its first line of `---`.

    Raises ModelError when the payload has no prompt, or its template names an unknown variable.
    """
    prompt = payload.get("prompt")
    if not prompt:
        raise ModelError("the job came without a prompt, which a model needs")

    def value(match: re.Match[str]) -> str:
        if match[1] not in variables:
            raise ModelError(f"the prompt has the unknown variable {match[1]}")
        return variables[match[1]](payload)

    parts = _SYSTEM_END.split(prompt["template"], maxsplit=1)
    roles = ("system", "user") if len(parts) == 2 else ("user",)
    return [
        {"role": role, "content": _VARIABLE.sub(value, part).strip()} for role, part in zip(roles, parts, strict=True)
    ]


# Variables that several kinds share


def messages(payload: Payload) -> str:
    """The conversation, without messages that say nothing and call no tool."""
    rows = (shown(message, "thread", "seq", "role", "name", "created_at") for message in payload["messages"])
    return fenced("conversation", (row for row in rows if row["content"] or "tool_calls" in row))


def previous_summary(payload: Payload) -> str:
    """The previous summary as one object of its text and lists; empty where there is none."""
    if not payload.get("previous_summary"):
        return ""
    metadata = payload.get("previous_metadata") or {}
    lists = {name: metadata[name] for name in SUMMARY_LISTS if metadata.get(name)}
    return fenced("previous_summary", [{"summary": payload["previous_summary"], **lists}])


# Rows


def shown(row: Payload, *keys: str) -> Payload:
    """The part of a row that a model sees: these keys where they have a value, its tool calls and its content."""
    kept = {key: row[key] for key in keys if row.get(key) is not None}
    for key in ("created_at", "known_since"):
        if key in kept:
            # Without seconds and with Z, a time takes a third of the tokens.
            kept[key] = _SECONDS.sub(r"\1", kept[key]).replace("+00:00", "Z")
    if row.get("tool_calls"):
        kept["tool_calls"] = [_tool_call(call) for call in row["tool_calls"]]
    return {**kept, "content": cut(row.get("content") or "")}


def cut(text: str, limit: int = MAX_CONTENT_CHARACTERS) -> str:
    """The text, or its first `limit` characters with a remark on how many are left out."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters left out)"


def fenced(tag: str, rows: Iterable[Payload]) -> str:
    """The rows between `<tag>` and `</tag>`, each as one line of JSON."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c") for row in rows)
    return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])


def _tool_call(call: Any) -> str:
    """A tool call as a line: `get_weather({"city": "Lisbon"})`."""
    function = call.get("function") if isinstance(call, dict) else None
    text = f"{function.get('name')}({function.get('arguments')})" if isinstance(function, dict) else json.dumps(call)
    return cut(text, MAX_TOOL_CALL_CHARACTERS)
