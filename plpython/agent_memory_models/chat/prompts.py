"""Fills the template of a prompt with the data of a job.

The administrator writes the template; users write the data. So conversations, summaries, facts, memories, queries and
found texts are fenced, and each row is a line: `12 user (Ana, Monday 2026-03-02 19:10Z): text`. In a text, line breaks
and other control characters are escaped as in JSON, and so is `<`. In the label before the colon, nothing of a user has
brackets or colons. So no text can close the fence or pass for another row. Models name rows by their number, never by
an id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from ..errors import ModelError
from ..payload import Payload

Variables = Mapping[str, Callable[[Payload], str]]
"""For each variable of a prompt, the function that renders it from a payload."""

MAX_CONTENT_CHARACTERS = 8000
"""More characters of one message (a pasted log, a tool's output) are left out, so that a window of messages fits."""
MAX_TOOL_CALL_CHARACTERS = 300
MAX_LABEL_CHARACTERS = 100

SUMMARY_LISTS = ("topics", "entities", "decisions", "questions")
"""The lists that the summary of a whole thread has beside its text."""

_SYSTEM_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T((\d\d):\d\d)[:.\d]*(Z|[+-]\d\d:\d\d)?")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# What ends a line for some reader and is no control character of JSON, and what a fence is made of.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<\x7f\x85\u2028\u2029"}
_OF_LABELS = re.compile(r"[\s\x00-\x1f\x7f-\x9f():,<>]+")


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
    return fenced("conversation", conversation_lines(payload["messages"]))


def previous_summary(payload: Payload) -> str:
    """The previous summary as one object of its text and lists; empty where there is none."""
    if not payload.get("previous_summary"):
        return ""
    metadata = payload.get("previous_metadata") or {}
    lists = {name: metadata[name] for name in SUMMARY_LISTS if metadata.get(name)}
    return fenced("previous_summary", [object_line({"summary": payload["previous_summary"], **lists})])


# Lines


def conversation_lines(rows: Iterable[Payload]) -> Iterator[str]:
    """A line for each message with a text or a call of tools.

    It has the number of its conversation, the name of this role's speaker, the day and the time only where they are
    new. The time is new in another hour.
    """
    clock, names, thread = Clock(is_spoken=True), dict[str, str | None](), None
    for row in rows:
        calls = [f"[calls {_tool_call(call)}]" for call in row.get("tool_calls") or ()]
        said = " ".join(filter(None, [cut(row.get("content") or ""), *calls]))
        if not said:
            continue
        details = []
        if row.get("thread") != thread:
            thread = row.get("thread")
            details.append(f"conversation {thread}")
        if row.get("name") != names.get(row["role"]):
            names[row["role"]] = row.get("name")
            details.append(label(row.get("name") or "") or "unnamed")
        yield line(row.get("seq"), row["role"], [*details, clock.shown(row.get("created_at"))], said)


def line(number: Any, who: str, details: Iterable[str], content: str) -> str:
    """A row: `12 user (details): content`; rows without a number cannot be named."""
    told = ", ".join(detail for detail in details if detail)
    begin = " ".join(str(part) for part in (number, who) if part not in (None, ""))
    return f"{begin}{f' ({told})' if told else ''}: {escaped(content)}"


def object_line(row: Payload) -> str:
    """A row as a JSON object."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def escaped(text: str) -> str:
    """A text on one line, in which no tag begins."""
    return json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').translate(_ESCAPED)


def label(text: str) -> str:
    """What users wrote, for the part of a line before its text."""
    return _OF_LABELS.sub(" ", text[:MAX_LABEL_CHARACTERS]).strip()


class Clock:
    """Tells times of rows in their order, each as far as it differs from the time that was told last."""

    def __init__(self, *, is_spoken: bool = False) -> None:
        self._is_spoken = is_spoken
        self._told: tuple[str | None, ...] = ()
        self._zone: str | None = None

    def shown(self, moment: str | None) -> str:
        """The date where it is new, of what is spoken also weekday and time; empty where nothing is new."""
        match = _MOMENT.match(moment or "")
        if not match:
            return label(moment or "")
        day, time, hour, zone = match.groups()
        told = (day, hour if self._is_spoken else None)
        if told == self._told:
            return ""
        parts = [day] if self._told[:1] != (day,) else []
        self._told = told
        if self._is_spoken:
            if parts:
                parts.insert(0, _WEEKDAYS[date.fromisoformat(day).weekday()])
            parts.append(time + ((zone or "").replace("+00:00", "Z") if zone != self._zone else ""))
            self._zone = zone
        return " ".join(parts)


def cut(text: str, limit: int = MAX_CONTENT_CHARACTERS) -> str:
    """The text, or its first `limit` characters with a remark on how many are left out."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters left out)"


def fenced(tag: str, lines: Iterable[str]) -> str:
    """The lines between `<tag>` and `</tag>`."""
    return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])


def _tool_call(call: Any) -> str:
    """A tool call as a line: `get_weather({"city": "Lisbon"})`."""
    function = call.get("function") if isinstance(call, dict) else None
    text = f"{function.get('name')}({function.get('arguments')})" if isinstance(function, dict) else json.dumps(call)
    return cut(text, MAX_TOOL_CALL_CHARACTERS)
