"""Reads chat messages in OpenAI's form, and conversations of them.

A message has ``role``, ``content`` and what else OpenAI's chat messages have; a conversation is
``{"messages": [...]}``. Both may name their ``user_id`` and ``thread_id``; messages may carry ``created_at``,
``metadata`` and ``idempotency_key``. Unknown members are kept in the metadata. A message without a key gets one made of
its place in the thread, its role and its content.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from .records import ImportFileError, Record, Source

_EXPECTED = 'Expected is a message, {"role": "user", "content": "Hi"}, or a conversation, {"messages": [...]}.'

Id = Annotated[str, Field(min_length=1, max_length=255, coerce_numbers_to_str=True)]


class _ChatMessage(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Literal["user", "assistant", "agent", "tool", "system", "developer"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    refusal: Any = None
    annotations: Any = None
    audio: Any = None
    function_call: Any = None
    metadata: dict[str, Any] = {}
    created_at: datetime | None = None
    idempotency_key: Id | None = None
    user_id: Id | None = None
    thread_id: Id | None = None

    @model_validator(mode="after")
    def _says_something(self) -> _ChatMessage:
        parts = (self.content, self.tool_calls, self.refusal, self.function_call, self.audio)
        if self.role in ("user", "system", "developer") and all(part is None for part in parts):
            raise PydanticCustomError("empty_message", "a message needs content or tool_calls")
        return self

    def as_message(self) -> dict[str, Any]:
        """Return the message in the form of ``add_messages``."""
        known = self.model_dump(exclude={"user_id", "thread_id", *(self.model_extra or {})}, exclude_none=True)
        known["metadata"] = {**(self.model_extra or {}), **self.metadata}
        if self.created_at is not None and self.created_at.tzinfo is None:
            known["created_at"] = self.created_at.replace(tzinfo=timezone.utc)
        return known


class _ChatConversation(BaseModel):
    messages: list[_ChatMessage]
    user_id: Id | None = None
    thread_id: Id | None = None


class ChatReader:
    """Reads the messages and conversations of one file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places = Counter[tuple[str, str]]()

    def read(self, place: str, number: int, value: dict[str, Any]) -> Iterator[Record]:
        """Yield the messages of a value; ``number`` is its place among those of the file."""
        try:
            if "messages" in value:
                yield from self._conversation(place, number, value)
                return
            if not value.keys() & {"role", "content"}:
                yield self._neither(place, value)
                return
            try:
                message = _ChatMessage.model_validate(value)
            except ValidationError:
                self._count(value)
                raise
            yield self._message(place, message, None, self._source.thread_id or self._source.stem, place)
        except ValidationError as error:
            yield self._source.bad(place, _first_problem(error), _EXPECTED)
        except RecursionError:
            yield self._source.bad(place, "nested too deeply")

    def _conversation(self, place: str, number: int, value: dict[str, Any]) -> Iterator[Record]:
        bad: dict[int, ImportFileError] = {}
        given = value["messages"]
        try:
            conversation = _ChatConversation.model_validate(value)
        except ValidationError as error:
            if not isinstance(given, list):
                raise
            for problem in error.errors(include_url=False):
                match problem["loc"]:
                    case ("messages", int(index), *_):
                        bad.setdefault(index, self._source.bad(place, _worded(problem), _EXPECTED))
                    case _:
                        raise
            good = [message for index, message in enumerate(given) if index not in bad]
            conversation = _ChatConversation.model_validate({**value, "messages": good})
        messages = iter(conversation.messages)
        thread_id = conversation.thread_id or f"{self._source.thread_id or self._source.stem}-{number}"
        user_id = conversation.user_id
        for index in range(len(given)):
            if index in bad:
                self._places[user_id or self._source.user_id or "", thread_id] += 1
                yield bad[index]
            else:
                yield self._message(place, next(messages), user_id, thread_id, f"{place}, message {index + 1}")

    def _message(
        self, place: str, message: _ChatMessage, user_id: str | None, thread_id: str, place_of_message: str
    ) -> Record:
        user = message.user_id or user_id or self._source.user_id
        if user is None:
            return self._source.no_user(place)
        thread = message.thread_id or thread_id
        as_message = message.as_message()
        as_message.setdefault("idempotency_key", _key(self._places[user, thread], as_message))
        self._places[user, thread] += 1
        return self._source.message(place_of_message, user, thread, as_message)

    def _count(self, value: dict[str, Any]) -> None:
        """Count a bad message too, so that later messages keep their places when somebody mends it."""
        user, thread = value.get("user_id") or self._source.user_id, value.get("thread_id")
        self._places[str(user or ""), str(thread or self._source.thread_id or self._source.stem)] += 1

    def _neither(self, place: str, value: dict[str, Any]) -> ImportFileError:
        members = ", ".join(f'"{name}"' for name in list(value)[:5]) or "nothing"
        more = ", ..." if len(value) > 5 else ""
        problem = f"neither a message nor a conversation: the object has {members}{more}"
        return self._source.bad(place, problem, _EXPECTED)


def _first_problem(error: ValidationError) -> str:
    """Name the first fault and its place."""
    return _worded(error.errors(include_url=False)[0])


def _worded(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _key(position: int, message: dict[str, Any]) -> str:
    """Return a key that the message keeps when more messages are appended to its thread in the file."""
    identity = json.dumps([position, message["role"], message.get("content")])
    return f"import:{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
