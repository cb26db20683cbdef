"""Reads samples of the LoCoMo benchmark: each becomes a user, and each of its sessions a thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from .chat import Id, first_problem
from .records import Record, Source

_EXPECTED = "An object with a conversation is read as a sample of LoCoMo, with sessions and their times."


class _LocomoTurn(BaseModel):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _LocomoSample(BaseModel):
    sample_id: Id
    conversation: dict[str, Any]


def read_locomo(source: Source, place: str, value: dict[str, Any]) -> Iterator[Record]:
    """Yield the messages of a sample."""
    if source.user_id is not None or source.thread_id is not None:
        yield source.bad(place, "a sample of LoCoMo names its own users and threads", "Leave out the user and thread.")
        return
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
                yield source.message(place, sample.sample_id, session, message)
    except ValidationError as error:
        yield source.bad(place, first_problem(error), _EXPECTED)
    except ValueError as error:
        yield source.bad(place, str(error), _EXPECTED)


def _locomo_time(text: object) -> datetime:
    """Read e.g. "1:56 pm on 8 May, 2023"; the files name no zone, so it is taken as UTC."""
    if not isinstance(text, str):
        raise ValueError("the time of the session is missing")
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
