"""Measures claims while 1, 1,000 and 100,000 users wait: ``python -m bench.writes.claims``."""

from __future__ import annotations

import time
from statistics import median

import psycopg

from bench.support.environment import new_database, say
from tests.support.servers import Server, running_server

# Who waits: a name, the user and the thread of the nth job, and how many jobs there are.
WAITING = (
    ("one_user", "'ana'", "'t' || n", 1_000),
    ("one_user_100000_jobs", "'ana'", "'t' || n", 100_000),
    ("users_1000", "'user ' || n", "'t'", 1_000),
    ("users_100000", "'user ' || n", "'t'", 100_000),
)
CLAIMS = 200
# A message, and the extraction of it.
QUEUE = """
insert into memory.messages (user_id, thread_id, role, content)
select {user}, {thread}, 'user', 'I like tea, take ' || n from generate_series(1, {count}) as n;
insert into memory.jobs (user_id, kind, scope)
select {user}, 'extract_memories', {thread} from generate_series(1, {count}) as n;
vacuum analyze memory.jobs, memory.messages, memory.threads;
"""


def claim_milliseconds(connection: psycopg.Connection, max_jobs: int, **arguments: list[str]) -> float:
    """The median of so many claims, whose jobs are done at once."""
    times = []
    for _ in range(CLAIMS // max_jobs):
        started = time.perf_counter()
        connection.execute("select * from memory.claim_jobs('bench', %s, %s)", [arguments.get("kinds"), max_jobs])
        times.append((time.perf_counter() - started) * 1000)
        connection.execute(
            "update memory.jobs set status = 'completed', finished_at = now(), lease_token = null, "
            "lease_expires_at = null where status = 'running'"
        )
    return median(times)


def measure(server: Server, name: str, user: str, thread: str, count: int) -> None:
    """One line: claims of 1 and 10 jobs, and one that finds nothing of its kind."""
    with new_database(server, name) as connection:
        for statement in QUEUE.format(user=user, thread=thread, count=count).split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute("delete from memory.jobs where kind <> 'extract_memories'")
        one, ten = claim_milliseconds(connection, 1), claim_milliseconds(connection, 10)
        none = claim_milliseconds(connection, 1, kinds=["consolidate"])
    say(f"{name:22} one job {one:7.2f} ms, ten {ten:7.2f} ms, none of its kind {none:7.2f} ms")


def main() -> None:
    """Prints the medians."""
    with running_server("system") as server:
        for name, user, thread, jobs in WAITING:
            measure(server, name, user, thread, jobs)


if __name__ == "__main__":
    main()
