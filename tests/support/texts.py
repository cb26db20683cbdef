"""Which messages jobs have read: those have their rows in memory.texts."""

from __future__ import annotations

from tests.support.sqlapi import Api

READ = """
  select m.seq from memory.messages as m
  where memory._is_parsed(m.user_id, 'message', m.thread_id || '/' || m.seq) = %(is_read)s order by m.seq
"""


def read_messages(api: Api, is_read: bool = True) -> list[int]:
    """The seqs of the messages that a job has read, or else of those that no job has read."""
    return [row.seq for row in api.query(READ, is_read=is_read)]


def unread_messages(api: Api) -> list[int]:
    """The seqs of the messages that no job has read, among them those that were cleared before."""
    return read_messages(api, is_read=False)
