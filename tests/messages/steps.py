"""What the tests of messages do again and again: add, read and expire."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from tests.support.sqlapi import Api

MAY = datetime(2026, 5, 1, 10, 30, tzinfo=timezone.utc)
ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t1"}
TOOL_CALLS = [{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}]


def add(api: Api, content: str = "Hello", role: str = "user", **arguments: Any) -> Any:
    return api.add_message(**{**ANA, "role": role, "content": content, **arguments})


def contents(api: Api, **arguments: Any) -> list[str]:
    return [message.content for message in api.get_messages(**{**ANA, **arguments})]


def seqs(api: Api, **arguments: Any) -> list[int]:
    return [message.seq for message in api.get_messages(**{**ANA, **arguments})]
