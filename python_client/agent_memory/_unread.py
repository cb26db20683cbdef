"""What is said where a user has no memories: messages that wait for extraction, for the command line and the page."""

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
    """Return what explains that a user has no memories; None where all was read and held none.

    Args:
        user_id: the user.
        row: the row of ``UNREAD``.
    """
    if not row["threads"]:
        return f"Nobody has said anything as {user_id}; agent-memory users lists the users."
    if not row["messages"]:
        return None
    are = "is" if row["messages"] == 1 else "are"
    when = f"that happens every {counted(row['every'], 'message')} of a thread; now: " if row["every"] else "run: "
    command = f"agent-memory memories extract {shlex.quote(user_id)}"
    return f"{counted(row['messages'], 'message')} {are} not read yet: {when}{command}"
