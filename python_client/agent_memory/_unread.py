"""Explains why a user has no memories: messages wait for extraction. The command line and the page show it."""

from __future__ import annotations

import shlex
from typing import Any

from ._text import counted

UNREAD = """
select coalesce(sum(t.next_seq - 1 - t.extracted_seq), 0)::bigint as messages, count(*) as threads,
  (memory.get_policy(user_id => %(user)s) #>> '{cadence,fact_extraction_every_n}')::int as every
from memory.thread_stats as t
where t.user_id = %(user)s
"""


def why_no_memories(user_id: str, row: dict[str, Any]) -> str | None:
    """Return the reason why a user has no memories; None if all messages were read and none states a fact."""
    if not row["threads"]:
        return f"Nobody has said anything as {user_id}; agent-memory users lists the users."
    if not row["messages"]:
        return None
    are = "is" if row["messages"] == 1 else "are"
    when = f"that happens every {counted(row['every'], 'message')} of a thread; now: " if row["every"] else "run: "
    command = f"agent-memory memories extract {shlex.quote(user_id)}"
    return f"{counted(row['messages'], 'message')} {are} not read yet: {when}{command}"
