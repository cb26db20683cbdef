"""Imports conversations from files: chat messages as JSON Lines or JSON, and the layout of the LoCoMo benchmark.

A file has one JSON object per line, or is one JSON array of objects, or one object. An object is either a message
(``role``, ``content``, and what else OpenAI's chat messages have) or a conversation (``{"messages": [...]}``). Both may
name their ``user_id`` and ``thread_id``; messages may carry ``created_at``, ``metadata`` and ``idempotency_key``.
Unknown members are kept in the metadata. A message without a key gets one made of its place in the thread, its role
and its content.

An object with a ``conversation`` of sessions is a sample of LoCoMo: it becomes a user, each of its sessions a thread.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import psycopg
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from .client import Memory
from .client.arguments import check_json
from .errors import AgentMemoryError, InvalidValueError

_BATCH = 1000

_EXPECTED = 'Expected is a message, {"role": "user", "content": "Hi"}, or a conversation, {"messages": [...]}.'
_EXPECTED_LOCOMO = "An object with a conversation is read as a sample of LoCoMo, with sessions and their times."


class ImportFileError(AgentMemoryError):
    """A file cannot be imported; the message names the place and nothing of the file was written."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The progress of an import in messages; ``users`` and ``threads`` count those seen so far.

    Of the messages done, ``new`` were stored by this import; the others had been stored before.
    """

    done: int
    new: int
    total: int
    users: int
    threads: int


@dataclass(frozen=True, slots=True)
class _Incoming:
    place: str
    user_id: str
    thread_id: str
    message: dict[str, Any]


_Id = Annotated[str, Field(min_length=1, max_length=255, coerce_numbers_to_str=True)]


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
    idempotency_key: _Id | None = None
    user_id: _Id | None = None
    thread_id: _Id | None = None

    @model_validator(mode="after")
    def _says_something(self) -> _ChatMessage:
        parts = (self.refusal, self.function_call, self.audio)
        if not self.content and not self.tool_calls and all(part is None for part in parts):
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
    user_id: _Id | None = None
    thread_id: _Id | None = None


class _LocomoTurn(BaseModel):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _LocomoSample(BaseModel):
    sample_id: _Id
    conversation: dict[str, Any]


def import_file(
    connection: psycopg.Connection[Any],
    path: Path,
    *,
    user_id: str | None = None,
    thread_id: str | None = None,
    only_user: str | None = None,
) -> Iterator[ImportProgress]:
    """Import a file in one transaction, queue the extraction of memories from what is new, and report on the way.

    As long as its messages are kept, importing a file again stores only what was added to it.

    Args:
        connection: an open connection; the import is a transaction of it.
        path: the file.
        user_id: the user of messages that name none.
        thread_id: the thread of messages that name none; the file's name without extension when None.
        only_user: the user whose messages are accepted; None for any.

    Raises:
        ImportFileError: the file is malformed, or names another user, or the database refused a message.
        OSError: the file cannot be read.
    """
    # Reading the file twice costs little beside writing; nothing is written before the whole file is known to be valid.
    total = 0
    for incoming in _read(path, user_id, thread_id):
        if only_user not in (None, incoming.user_id):
            raise ImportFileError(
                f"{path}, {incoming.place}: the message is of another user", hint="Leave user_id out of the messages."
            )
        total += 1
    done, new = 0, Counter[tuple[str, str]]()
    memory = Memory(connection)
    with connection.transaction():
        for batch in _batches(_read(path, user_id, thread_id)):
            first = batch[0]
            thread = (first.user_id, first.thread_id)
            newest = memory.get_messages(*thread, recent_k=1, include_inactive=True)
            try:
                stored = memory.add_messages(*thread, [incoming.message for incoming in batch])
            except AgentMemoryError as error:
                raise ImportFileError(f"{path}, {_placed(error, batch)}", hint=error.hint) from error
            done += len(batch)
            last_before = newest[0].seq if newest else -1
            new[thread] += len({seq for message in stored if (seq := message.seq) is not None and seq > last_before})
            yield ImportProgress(done, new.total(), total, len({user for user, _ in new}), len(new))
        # The cadence has queued work for full rounds of messages only; this queues the last messages of each thread.
        for thread, count in new.items():
            if count:
                memory.extract_memories(*thread)


def _placed(error: AgentMemoryError, batch: list[_Incoming]) -> str:
    """Say where in the file the message is that the database refused, which names it "messages[7]"."""
    match = re.search(r" of messages\[(\d+)\]", error.message)
    if match is None:
        return f"{batch[0].place} to {batch[-1].place}: {error.message}"
    return f"{batch[int(match[1])].place}: {error.message.replace(match[0], '')}"


def _batches(messages: Iterator[_Incoming]) -> Iterator[list[_Incoming]]:
    """Gather the messages of each thread, which may be interleaved, without holding a whole file."""
    gathered: dict[tuple[str, str], list[_Incoming]] = {}
    held = 0
    for incoming in messages:
        batch = gathered.setdefault((incoming.user_id, incoming.thread_id), [])
        batch.append(incoming)
        held += 1
        if len(batch) == _BATCH:
            yield gathered.pop((incoming.user_id, incoming.thread_id))
            held -= _BATCH
        elif held >= 10 * _BATCH:
            yield from gathered.values()
            gathered.clear()
            held = 0
    yield from gathered.values()


def _read(path: Path, user_id: str | None, thread_id: str | None) -> Iterator[_Incoming]:
    places = Counter[tuple[str, str]]()
    number = 0
    try:
        for number, (place, value) in enumerate(_values(path), start=1):
            for incoming in _read_value(path, place, number, value, user_id, thread_id):
                thread = (incoming.user_id, incoming.thread_id)
                incoming.message.setdefault("idempotency_key", _key(places[thread], incoming.message))
                places[thread] += 1
                yield incoming
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None


def _key(position: int, message: dict[str, Any]) -> str:
    """Return a key that the message keeps when more messages are appended to its thread in the file."""
    identity = json.dumps([position, message["role"], message.get("content")])
    return f"import:{hashlib.sha256(identity.encode()).hexdigest()[:32]}"


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the JSON values of a file, each with its place, and with the lines of a large file never held at once."""
    with path.open(encoding="utf-8-sig") as file:
        numbered = ((number, line) for number, line in enumerate(file, start=1) if not line.isspace())
        first = next(numbered, None)
        if first is None:
            return
        if first[1].lstrip().startswith("[") or not _is_json(first[1]):
            file.seek(0)
            document = _parsed(path, file.read())
            if isinstance(document, list):
                yield from ((f"item {index}", value) for index, value in enumerate(document, start=1))
            else:
                yield f"line {first[0]}", document
            return
        for number, line in chain([first], numbered):
            yield f"line {number}", _parsed(path, line.rstrip(), number)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(path: Path, text: str, first_line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ImportFileError(
            f"{path}, line {first_line + error.lineno - 1}: not JSON: {error.msg} at column {error.colno}",
            hint="A file holds messages or conversations as JSON objects: one per line, or all in one array.",
        ) from None
    except RecursionError:
        raise ImportFileError(f"{path}, line {first_line}: nested too deeply") from None


def _read_value(
    path: Path, place: str, number: int, value: Any, user_id: str | None, thread_id: str | None
) -> Iterator[_Incoming]:
    if not isinstance(value, dict):
        raise ImportFileError(f"{path}, {place}: not a JSON object", hint=_EXPECTED)
    if isinstance(value.get("conversation"), dict) and not value.keys() & {"messages", "role"}:
        if user_id is not None or thread_id is not None:
            raise ImportFileError(
                f"{path}, {place}: a sample of LoCoMo names its own users and threads",
                hint="Leave out the user and thread.",
            )
        yield from _read_locomo(path, place, value)
    elif value.keys() & {"messages", "role", "content"}:
        yield from _read_chat(path, place, number, value, user_id, thread_id)
    else:
        members = ", ".join(f'"{name}"' for name in list(value)[:5]) or "nothing"
        more = ", ..." if len(value) > 5 else ""
        raise ImportFileError(
            f"{path}, {place}: neither a message nor a conversation: the object has {members}{more}", hint=_EXPECTED
        )


def _read_chat(
    path: Path, place: str, number: int, value: dict[str, Any], user_id: str | None, thread_id: str | None
) -> Iterator[_Incoming]:
    try:
        if "messages" in value:
            conversation = _ChatConversation.model_validate(value)
            messages = conversation.messages
            own_user, own_thread = conversation.user_id, conversation.thread_id
            thread_id = f"{thread_id or path.stem}-{number}"
        else:
            messages = [_ChatMessage.model_validate(value)]
            own_user, own_thread = None, None
        for index, message in enumerate(messages, start=1):
            user = message.user_id or own_user or user_id
            if user is None:
                raise ImportFileError(
                    f"{path}, {place}: no user_id", hint="Name the user of what names none with --user-id."
                )
            as_message = message.as_message()
            here = f"{place}, message {index}" if "messages" in value else place
            try:
                check_json("message", as_message)
            except InvalidValueError as error:
                raise ImportFileError(f"{path}, {here}: {error.message}", hint=error.hint) from None
            yield _Incoming(here, user, message.thread_id or own_thread or thread_id or path.stem, as_message)
    except ValidationError as error:
        raise ImportFileError(f"{path}, {place}: {_first_problem(error)}", hint=_EXPECTED) from None
    except RecursionError:
        raise ImportFileError(f"{path}, {place}: nested too deeply") from None


def _read_locomo(path: Path, place: str, value: dict[str, Any]) -> Iterator[_Incoming]:
    try:
        sample = _LocomoSample.model_validate(value)
        conversation = sample.conversation
        sessions = [key for key in conversation if re.fullmatch(r"session_\d+", key)]
        if not sessions:
            raise ValueError('its conversation has no "session_1"')
        for session in sorted(sessions, key=lambda key: int(key.removeprefix("session_"))):
            place = f"{sample.sample_id}, {session}_date_time"
            started = _locomo_time(conversation.get(f"{session}_date_time"))
            place = f"{sample.sample_id}, {session}"
            turns = TypeAdapter(list[_LocomoTurn]).validate_python(conversation[session])
            for number, turn in enumerate(turns):
                caption = f"[image: {turn.blip_caption}]" if turn.blip_caption else ""
                message = {
                    "role": "user" if turn.speaker == conversation.get("speaker_a") else "assistant",
                    "name": turn.speaker,
                    "content": f"{turn.text} {caption}".strip(),
                    "created_at": started + timedelta(seconds=number),
                    "metadata": {"dia_id": turn.dia_id},
                    "idempotency_key": turn.dia_id,
                }
                place = f"{sample.sample_id}, {session}, turn {number + 1}"
                check_json("message", message)
                yield _Incoming(place, sample.sample_id, session, message)
    except ValidationError as error:
        raise ImportFileError(f"{path}, {place}: {_first_problem(error)}", hint=_EXPECTED_LOCOMO) from None
    except InvalidValueError as error:
        raise ImportFileError(f"{path}, {place}: {error.message}", hint=error.hint) from None
    except ValueError as error:
        raise ImportFileError(f"{path}, {place}: {error}", hint=_EXPECTED_LOCOMO) from None


def _locomo_time(text: object) -> datetime:
    """Read e.g. "1:56 pm on 8 May, 2023"; the files name no zone, so it is taken as UTC."""
    if not isinstance(text, str):
        raise ValueError("the time of the session is missing")
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]
