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


def not_found(memory_id: str) -> ValueError:
    """Return the error of mem0 for an id that nothing has."""
    return ValueError(f"Memory with id {memory_id} not found")
