"""What a model hears of facts that change, and what is known of them afterwards."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.kinds.extract_memories.steps import claimed, found
from tests.support.protocol import complete, say
from tests.support.sqlapi import Api

LYON, PORTO = "Lives in Lyon", "Lives in Porto"


def heard(api: Api, *entries: dict[str, Any], day: str = "01-01", role: str = "user", **arguments: Any) -> Any:
    """Extract these entries from one new message of this day of 2024."""
    [seq] = say(api, f"Something said on {day}", role=role, created_at=f"2024-{day}T10:00:00Z", **arguments)
    ends = [{"seqs": [seq], **entry} for entry in entries if "number" in entry]
    memories = [found(**{"seqs": [seq], **entry}) for entry in entries if "number" not in entry]
    return complete(api, claimed(api), memories=memories, ends=ends)


def fact(content: str, value: str | None = None, attribute: str = "home", **fields: Any) -> dict[str, Any]:
    return {"content": content, "attribute": attribute, "value": value or content.split()[-1], **fields}


def states(api: Api) -> dict[str, tuple[str, str | None]]:
    """By content the state of a memory, and the day on which it ceased to be true."""
    rows = api.list_memories(user_id="ana", include_superseded=True)
    return {row.content: (row.state, row.valid_to and row.valid_to.strftime("%m-%d")) for row in rows}


def as_of(api: Api, day: str) -> list[str]:
    at = datetime.fromisoformat(f"2024-{day}T12:00:00+00:00")
    return [row.content for row in api.list_memories(user_id="ana", as_of=at)]
