"""What the tests of the fair queue do again and again: queue jobs and claim them."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from tests.support.sqlapi import Api

Connect = Callable[..., psycopg.Connection]


def queue(api: Api, user_id: str, jobs: int = 1, kind: str = "extract_memories") -> None:
    """Threads with a message each and a job for it, those of one user one after the other."""
    for statement in (
        "insert into memory.messages (user_id, thread_id, role, content) "
        "select %(user_id)s, 't' || lpad(n::text, 6, '0'), 'user', 'Hello' from generate_series(1, %(jobs)s) as n",
        "insert into memory.jobs (user_id, kind, scope, run_after, request) "
        "select %(user_id)s, %(kind)s, 't' || lpad(n::text, 6, '0'), now() - interval '1 hour' + n * interval '1 ms', "
        "'{\"is_forced\": true}' "
        "from generate_series(1, %(jobs)s) as n",
    ):
        api.connection.execute(statement, {"user_id": user_id, "jobs": jobs, "kind": kind})


def many_may_run(api: Api) -> None:
    api.set_policy(settings={"jobs": {"max_running_per_user": 1000}})
