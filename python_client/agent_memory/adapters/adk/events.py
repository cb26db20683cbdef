"""An event of ADK as messages of a thread, and back, with nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...types import Message
from ..clients import needs

with needs("adk"):
    from google.adk.events.event import Event
    from google.adk.sessions.state import State

if TYPE_CHECKING:
    from google.genai.types import Content

OWN = "google_adk"
"""The member of the metadata of messages and threads that is ADK's."""


def thread_of(app_name: str, session_id: str) -> str:
    """The thread of a session; the one without a session is the state that all sessions of the user share."""
    return f"{app_name.replace('%', '%25').replace('/', '%2F')}/{session_id}"


def text_of(content: Content | None) -> str:
    """What a content says in words, thoughts left out."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def messages_of(event: Event) -> list[dict[str, Any]]:
    """The messages of an event, as add_messages takes them: one, or one for each result of a tool.

    The first one's metadata has the event. Texts, arguments and results are not kept twice.
    """
    dumped = event.model_dump(mode="json", exclude_none=True)
    delta = dumped.get("actions", {}).get("state_delta", {})
    for name in [name for name in delta if name.startswith(State.TEMP_PREFIX)]:
        del delta[name]
    parts = (dumped.get("content") or {}).get("parts", [])
    own = {"event": dumped, **({"changes_state": True} if delta else {})}
    if results := _results(parts):
        said = [
            {"role": "tool", "content": _json(result.pop("response", {})), "tool_call_id": result.get("id", "")}
            for result in results
        ]
    else:
        text, texts = text_of(event.content), _texts(parts)
        if len(texts) == 1:
            texts[0]["text"] = ""
        calls = [
            {
                "id": call.get("id", ""),
                "type": "function",
                "function": {"name": call.get("name", ""), "arguments": _json(call.pop("args", {}))},
            }
            for call in _calls(parts)
        ]
        role = "user" if event.author == "user" and text else "assistant"
        said = [{"role": role, "content": text, **({"tool_calls": calls} if calls else {})}]
    for place, message in enumerate(said):
        message["metadata"] = {OWN: own if place == 0 else {"goes_on": event.id}}
    return said


def events_of(messages: Iterable[Message]) -> list[Event]:
    """The events of messages, oldest first. What somebody else has stored in the thread is an event as well.

    Messages at the beginning that go on with an event which is not among them are left out.
    """
    groups: list[list[Message]] = []
    for message in messages:
        goes_on = message.metadata.get(OWN, {}).get("goes_on")
        if goes_on is None:
            groups.append([message])
        elif groups and id_of(groups[-1][0]) == goes_on:
            groups[-1].append(message)
    return [_event(group) for group in groups]


def id_of(message: Message) -> str:
    """The id of the event that a message is, or that it begins."""
    return str(message.metadata.get(OWN, {}).get("event", {}).get("id", f"message-{message.seq}"))


def _event(group: list[Message]) -> Event:
    first = group[0]
    event = first.metadata.get(OWN, {}).get("event")
    if event is None:
        is_user = first.role != "assistant"
        event = {
            "id": id_of(first),
            "author": "user" if is_user else first.agent_id,
            "content": {"role": "user" if is_user else "model", "parts": [{"text": first.content}]},
            "timestamp": first.created_at.timestamp(),
        }
        return Event.model_validate(event)
    parts = (event.get("content") or {}).get("parts", [])
    if results := _results(parts):
        for result, message in zip(results, group, strict=False):
            result["response"] = _object(message.content)
    else:
        texts = _texts(parts)
        if len(texts) == 1:
            texts[0]["text"] = first.content
        for call, stored in zip(_calls(parts), first.metadata.get("tool_calls", []), strict=False):
            call["args"] = _object(stored["function"]["arguments"])
    return Event.model_validate(event)


def _texts(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for part in parts if "text" in part and not part.get("thought")]


def _calls(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part["function_call"] for part in parts if "function_call" in part]


def _results(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part["function_response"] for part in parts if "function_response" in part]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(text: str) -> dict[str, Any]:
    """The object that a text is, or one that has it, if a policy has masked a part that JSON needs."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"result": value}
