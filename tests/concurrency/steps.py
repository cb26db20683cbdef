"""What the tests of concurrency share: clients, and checks of the counters."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg

from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api

CLIENTS = 8
ANA = {"user_id": "ana", "thread_id": "t1"}
HELLO = {"role": "user", "content": "Hello there"}

WRONG_THREADS = """
select t.*, stored.* from memory.threads as t
cross join lateral (
  select count(*) filter (where m.is_active), coalesce(sum(m.token_count) filter (where m.is_active), 0),
    coalesce(max(m.seq), -1)
  from memory.messages as m where m.user_id = t.user_id and m.thread_id = t.thread_id
) as stored (messages, tokens, last_seq)
where (t.message_count, t.active_tokens) <> (stored.messages, stored.tokens) or t.next_seq <= stored.last_seq
"""
WRONG_SCOPES = """
select s.*, stored.memories from memory.memory_scopes as s
cross join lateral (
  select count(*) from memory.memories as m
  where m.user_id = s.user_id and m.agent_id = s.agent_id and m.superseded_at is null and m.deleted_at is null
) as stored (memories)
where s.memory_count <> stored.memories
"""

Connect = Callable[..., psycopg.Connection]
Result = TypeVar("Result")


def at_once(clients: list[Api], work: Callable[[Api, int], Result]) -> list[Result]:
    """What ``work(client, number)`` returns for each client, all started together; raises what any of them raises."""
    start = threading.Barrier(len(clients))

    def run(number: int) -> Result:
        start.wait(PATIENCE)
        return work(clients[number], number)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(run, range(len(clients))))


def assert_counters_are_exact(api: Api) -> None:
    assert api.query(WRONG_THREADS) == []
    assert api.query(WRONG_SCOPES) == []
