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

from .records import Record, Source

EXPECTED = 'Expected is a message, {"role": "user", "content": "Hi"}, or a conversation, {"messages": [...]}.'

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
    messages: list[Any]
    user_id: Id | None = None
    thread_id: Id | None = None


class ChatReader:
    """Reads the messages and conversations of one file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places = Counter[tuple[str, str]]()

    def read(self, place: str, number: int, value: dict[str, Any]) -> Iterator[Record]:
        """Yield the messages of a value; ``number`` is its place among those of the file."""
        if "messages" in value:
            try:
                conversation = _ChatConversation.model_validate(value)
            except ValidationError as error:
                yield self._source.bad(place, _first_problem(error), EXPECTED)
                return
            thread_id = conversation.thread_id or f"{self._source.thread_id}-{number}"
            for index, message in enumerate(conversation.messages):
                own_place = f"{place}, message {index + 1}"
                yield self._message(place, f"messages.{index}", message, conversation.user_id, thread_id, own_place)
        elif value.keys() & {"role", "content"}:
            yield self._message(place, "", value, None, self._source.thread_id, place)
        else:
            members = ", ".join(f'"{name}"' for name in list(value)[:5]) or "nothing"
            more = ", ..." if len(value) > 5 else ""
            problem = f"neither a message nor a conversation: the object has {members}{more}"
            yield self._source.bad(place, problem, EXPECTED)

    def _message(
        self, place: str, where: str, value: Any, user_id: str | None, thread_id: str, own_place: str
    ) -> Record:
        own = value if isinstance(value, dict) else {}
        user, thread = own.get("user_id") or user_id or self._source.user_id, own.get("thread_id") or thread_id
        position = self._places[str(user), str(thread)]
        self._places[str(user), str(thread)] += 1  # a bad one keeps its place, for when somebody mends it
        try:
            message = _ChatMessage.model_validate(value)
            if user is None:
                return self._source.no_user(place)
            given = {"idempotency_key": _key(position, message), **message.as_message()}
            return self._source.message(own_place, str(user), str(thread), given)
        except ValidationError as error:
            return self._source.bad(place, _first_problem(error, where), EXPECTED)
        except RecursionError:
            return self._source.bad(place, "nested too deeply")


def _first_problem(error: ValidationError, where: str = "") -> str:
    """Name the first fault and its place."""
    problem = error.errors(include_url=False)[0]
    path = ".".join(filter(None, (where, *map(str, problem["loc"]))))
    return f"{path}: {problem['msg']}" if path else problem["msg"]


def _key(position: int, message: _ChatMessage) -> str:
    """Return a key that the message keeps when more messages are appended to its thread in the file."""
    identity = json.dumps([position, message.role, message.content])
    return f"import:{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
