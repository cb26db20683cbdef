"""Converts values between agent_memory and mem0."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any


def payload_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that filters compare."""
    return {**item, **(item["metadata"] or {})}


def end_of(day: date | str | None) -> datetime | None:
    """Return the end of a day, UTC; a time is itself."""
    if isinstance(day, str):
        day = date.fromisoformat(day)
    if day is None or isinstance(day, datetime):
        return day
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + timedelta(days=1)


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content may be a list of parts; "" where there is none."""
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(part["text"] for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    return content if isinstance(content, str) else ""


def not_found(memory_id: str) -> ValueError:
    """Return the error of mem0 for an id that nothing has."""
    return ValueError(f"Memory with id {memory_id} not found")
