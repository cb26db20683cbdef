"""Fills a prompt's template with the data of a job.

A template is the administrator's; what fills it is not. Conversations, summaries, facts, memories, queries and what is
found for them are fenced as data: each row is one JSON object on a line of its own with `<` escaped, so nothing a row
says can close the fence or pass for another row. Rows are named by `seq` or `number`, never by an id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from .errors import ModelError
from .summary_lines import points_in_window

MAX_CONTENT_CHARACTERS = 8000
"""More of one message (a pasted log, a tool's output) is left out, so that a window of messages fits a model."""
MAX_TOOL_CALL_CHARACTERS = 300

THREAD_LISTS = ("topics", "entities", "decisions", "questions")
"""What the summary of a whole thread has beside its text."""

_SYSTEM_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SECONDS = re.compile(r"(T\d\d:\d\d):\d\d(?:\.\d+)?")

Payload = dict[str, Any]


def chat_messages(payload: Payload) -> list[dict[str, str]]:
    """The messages of a chat completion request: the filled template, split at its first line of `---`.

    Raises ModelError when the payload has no prompt, or its template names an unknown variable.
    """
    prompt = payload.get("prompt")
    if not prompt:
        raise ModelError("the job came without a prompt, which a model needs")
    parts = _SYSTEM_END.split(prompt["template"], maxsplit=1)
    roles = ("system", "user") if len(parts) == 2 else ("user",)
    return [
        {"role": role, "content": _VARIABLE.sub(lambda match: _value(match[1], payload), part).strip()}
        for role, part in zip(roles, parts, strict=True)
    ]


def _value(variable: str, payload: Payload) -> str:
    if variable not in _VARIABLES:
        raise ModelError(f"the prompt has the unknown variable {variable}")
    return _VARIABLES[variable](payload)


def _messages(payload: Payload) -> str:
    shown = (_shown(message, "thread", "seq", "role", "name", "created_at") for message in payload["messages"])
    return _fenced("conversation", (row for row in shown if row["content"] or "tool_calls" in row))


def _previous_summary(payload: Payload) -> str:
    """The rolling summary as its points, any other as one object of its text and lists; nothing where there is none."""
    if not payload.get("previous_summary"):
        return ""
    if payload["prompt"]["name"] == "summarize_thread":
        points = points_in_window(payload["previous_summary"], payload["start_seq"])
        rows = [{"seqs": sorted({point.first_seq, point.last_seq}), "text": point.text} for point in points]
        return _fenced("previous_summary", rows) if rows else ""
    metadata = payload.get("previous_metadata") or {}
    lists = {name: metadata[name] for name in THREAD_LISTS if metadata.get(name)}
    return _fenced("previous_summary", [{"summary": payload["previous_summary"], **lists}])


def _memory_types(payload: Payload) -> str:
    return "\n".join(
        f"- {row['memory_type']}: {' '.join((row.get('description') or '').split())}".rstrip(" :")
        for row in payload["memory_types"]
    )


def _facts(payload: Payload) -> str:
    return _fenced(
        "facts", (_shown(fact, "number", "group", "subject", "memory_type", "known_since") for fact in payload["facts"])
    )


def _memories(payload: Payload) -> str:
    rows = (_shown(memory, "number", "memory_type", "created_at") for memory in payload["memories"])
    return _fenced("memories", rows)


def _query(payload: Payload) -> str:
    return _fenced("query", [{"query": _cut(payload["query"], MAX_CONTENT_CHARACTERS)}])


def _texts(payload: Payload) -> str:
    rows = ({"number": row["number"], "text": _cut(row["text"], MAX_CONTENT_CHARACTERS)} for row in payload["texts"])
    return _fenced("texts", rows)


_VARIABLES: dict[str, Callable[[Payload], str]] = {
    "messages": _messages,
    "previous_summary": _previous_summary,
    "memory_types": _memory_types,
    "facts": _facts,
    "memories": _memories,
    "query": _query,
    "texts": _texts,
    "start_seq": lambda payload: str(payload["start_seq"]),
    "end_seq": lambda payload: str(payload["end_seq"]),
}


def _shown(row: Payload, *keys: str) -> Payload:
    """What a model sees of a row: these keys where they have a value, its tool calls and its content."""
    shown = {key: row[key] for key in keys if row.get(key) is not None}
    for key in ("created_at", "known_since"):
        if key in shown:
            shown[key] = _SECONDS.sub(r"\1", shown[key]).replace("+00:00", "Z")  # a third of the tokens
    if row.get("tool_calls"):
        shown["tool_calls"] = [_tool_call(call) for call in row["tool_calls"]]
    return {**shown, "content": _cut(row.get("content") or "", MAX_CONTENT_CHARACTERS)}


def _tool_call(call: Any) -> str:
    """A tool call as a line: `get_weather({"city": "Lisbon"})`."""
    function = call.get("function") if isinstance(call, dict) else None
    text = f"{function.get('name')}({function.get('arguments')})" if isinstance(function, dict) else json.dumps(call)
    return _cut(text, MAX_TOOL_CALL_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters left out)"


def _fenced(tag: str, rows: Iterable[Payload]) -> str:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c") for row in rows)
    return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])
