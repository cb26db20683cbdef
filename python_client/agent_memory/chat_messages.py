"""Chat messages of OpenAI, made of contexts and of stored messages, and what is stored of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol, cast

from .errors import InvalidValueError

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam


class Part(Protocol):
    """A part of a context, or a stored message."""

    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def content(self) -> str: ...  # noqa: D102
    @property
    def metadata(self) -> dict[str, Any]: ...  # noqa: D102


# Members of a message that memory.add_messages() knows beside role and content.
_MEMBERS = ("name", "tool_calls", "tool_call_id", "refusal", "annotations", "audio", "function_call")
_NOT_IN_NAMES = re.compile(r"[\s<|\\/>]+")
"""What OpenAI refuses in the name of a speaker."""
_STORED = {"role", "content", "metadata", "created_at", "idempotency_key", *_MEMBERS}


def to_openai(parts: Iterable[Part]) -> list[ChatCompletionMessageParam]:
    """Return chat messages for a model, with tool calls and their results, names, and parts such as images.

    Providers refuse a call without its result and a result without its call, which a crash between the two leaves
    behind. So a call is left out that nothing answers. Calls at the end stay if none of them is answered yet: the
    results are still to come. A result without its call becomes a message of a user named "tool". A result that names
    no call, as those of Ollama, answers the first call before it that is open and of its tool.

    OpenAI refuses a name such as "Ana Silva". The message is then of Ana_Silva, and its text begins with "Ana Silva: ".

    Args:
        parts: a context, or messages of one thread, oldest first.
    """
    return cast("list[ChatCompletionMessageParam]", [message for _, message in sendable(parts)])


def with_one_system_message(messages: list[ChatCompletionMessageParam]) -> list[ChatCompletionMessageParam]:
    """Return the messages, where the plain system messages that begin them are one."""
    beginning = list(
        takewhile(
            lambda message: message["role"] == "system" and message.keys() == {"role", "content"}
            and isinstance(message["content"], str),
            messages,
        )
    )  # fmt: skip
    if len(beginning) < 2:
        return messages
    content = "\n\n".join(str(message["content"]) for message in beginning)
    return [{"role": "system", "content": content}, *messages[len(beginning) :]]


def sendable(parts: Iterable[Part]) -> Iterator[tuple[Part, dict[str, Any]]]:
    """Yield each part that a model is to read with its message, as ``to_openai`` describes."""
    said = _answered(_joined(parts))
    open_calls: set[str] = set()
    for place, (part, message) in enumerate(said):
        if part.role == "tool":
            if message.get("tool_call_id") in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                message = {"role": "user", "name": "tool", "content": message["content"]}
        else:
            calls = message.pop("tool_calls", [])
            results = list(takewhile(lambda later: later[0].role == "tool", said[place + 1 :]))
            if place + 1 < len(said):
                answered = {result.get("tool_call_id") for _, result in results}
                calls = [call for call in calls if call.get("id") in answered]
            open_calls = {call["id"] for call in calls if "id" in call}
            if calls:
                message["tool_calls"] = calls
            elif _is_empty(message):
                continue
        yield part, _with_allowed_name(message)


def _with_allowed_name(message: dict[str, Any]) -> dict[str, Any]:
    """The message, with another name and the speaker in the text where providers refuse the name."""
    given = message.get("name")
    if given is None or (given and len(given) <= 64 and not _NOT_IN_NAMES.search(given)):
        return message
    message = {name: value for name, value in message.items() if name != "name"}
    if allowed := _NOT_IN_NAMES.sub("_", given).strip("_")[:64]:
        message["name"] = allowed
    spoken = " ".join(given.split()) + ": " if given else ""
    match message["content"]:
        case str(text) if text:
            message["content"] = spoken + text
        case [{"type": "text", "text": str(text)} as first, *others]:
            message["content"] = [{**first, "text": spoken + text}, *others]
        case [*others] if others and spoken:
            message["content"] = [{"type": "text", "text": spoken}, *others]
    return message


def _answered(said: list[tuple[Part, dict[str, Any]]]) -> list[tuple[Part, dict[str, Any]]]:
    """The messages, where each result that names no call has the id of the open call that it answers."""
    waiting: list[dict[str, Any]] = []
    for part, message in said:
        if part.role != "tool":
            waiting = list(message.get("tool_calls", []))
            continue
        if "tool_call_id" not in message and waiting:
            tool = part.metadata.get("tool_name", part.metadata.get("name"))
            of_tool = [call for call in waiting if call.get("function", {}).get("name") == tool]
            message["tool_call_id"] = (of_tool or waiting)[0].get("id")
        waiting = [call for call in waiting if call.get("id") != message.get("tool_call_id")]
    return said


def _joined(parts: Iterable[Part]) -> list[tuple[Part, dict[str, Any]]]:
    """The messages of parts; calls that were stored one by one become one message, as providers want them."""
    said: list[tuple[Part, dict[str, Any]]] = []
    for part in parts:
        message = message_of(part)
        if "tool_calls" in message and not message["content"] and said and "tool_calls" in said[-1][1]:
            said[-1][1]["tool_calls"] = [*said[-1][1]["tool_calls"], *message["tool_calls"]]
        elif not _is_empty(message):
            said.append((part, message))
    return said


def _is_empty(message: dict[str, Any]) -> bool:
    """Whether a message of the assistant has nothing to read."""
    return message["role"] == "assistant" and not message["content"] and message.keys() <= {"role", "content", "name"}


def message_of(part: Part) -> dict[str, Any]:
    """Return the message of a part with the members that requests may have."""
    said = part.metadata
    message: dict[str, Any] = {"role": part.role, "content": part.content}
    if isinstance(said.get("content"), list) and said["content"]:
        message["content"] = said["content"]
    if part.role == "tool":
        return message | {name: said[name] for name in ("tool_call_id",) if name in said}
    if isinstance(said.get("name"), str):
        message["name"] = said["name"]
    if part.role == "assistant":
        message |= {name: said[name] for name in ("refusal", "function_call") if said.get(name)}
        if calls := [call for call in said.get("tool_calls") or [] if isinstance(call, dict)]:
            message["tool_calls"] = calls
            message["content"] = message["content"] or None
        if isinstance(said.get("audio"), dict) and "id" in said["audio"]:
            message["audio"] = {"id": said["audio"]["id"]}
    return message


def function_of(call: Mapping[str, Any]) -> dict[str, str]:
    """Return the name and the arguments of a call, as texts; a custom tool has an input in place of arguments."""
    of = call.get("function") or call.get("custom") or {}
    return {"name": str(of.get("name", "")), "arguments": str(of.get("arguments", of.get("input", "")))}


def from_openai(message: object) -> dict[str, Any]:
    """Return a message as ``add_messages`` takes it. Members that it does not know are kept in the metadata.

    Args:
        message: a dictionary, or a message of the package ``openai`` such as ``completion.choices[0].message``.

    Raises:
        InvalidValueError: message is neither.
    """
    if isinstance(message, Mapping):
        given = dict(message)
    elif hasattr(message, "model_dump"):
        given = message.model_dump(mode="json", exclude_unset=True)
    else:
        raise InvalidValueError(
            f"a message must be a dict or a message of openai, not {type(message).__name__}",
            hint='Pass {"role": "user", "content": "..."}, or completion.choices[0].message.',
        )
    given = {name: value for name, value in given.items() if value is not None}
    stored = {name: value for name, value in given.items() if name in _STORED}
    if extras := {name: value for name, value in given.items() if name not in _STORED}:
        stored["metadata"] = extras | dict(stored.get("metadata", {}))
    return stored
