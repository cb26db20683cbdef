"""Both runners of jobs do thousands of jobs in one process, whose memory stays flat."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.support.runners import DatabaseRunner, Runner, WorkerRunner
from tests.support.sqlapi import Api
from tests.torture.cluster import Cluster

USERS = 20
MESSAGES = 6
BATCHES = 10
"""The memory is measured after each; the first of them are warm-up: caches, plans and imports."""
WARM_UP = 4


def resident_bytes(pid: int) -> int:
    """What a process has of its own in memory, without what it shares with others such as shared buffers.

    Raises FileNotFoundError or ProcessLookupError when the process has ended. A killed one that nobody has waited for
    yet has no memory any more.
    """
    found = re.search(r"^RssAnon:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    if not found:
        raise ProcessLookupError(f"process {pid} has ended")
    return int(found[1]) * 1024


def measure(cluster: Cluster, name: str, jobs: int) -> list[int]:
    """The memory in bytes after each batch of so many jobs in all; the database runner needs PL/Python."""
    dsn = cluster.create("torture_flat")
    with tempfile.TemporaryDirectory() as folder, psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
        runner: Runner = DatabaseRunner(dsn) if name == "database" else WorkerRunner(dsn, Path(folder, "log"))
        with runner:
            return list(_batches(api, runner, jobs // BATCHES))


def _batches(api: Api, runner: Runner, jobs: int) -> Iterator[int]:
    for batch in range(BATCHES):
        for number in range(jobs):
            user_id, thread_id = f"user {number % USERS}", f"thread {batch} {number}"
            messages = [
                {"role": ("user", "assistant")[n % 2], "content": f"I moved to town {batch} {number} {n}, and like it."}
                for n in range(MESSAGES)
            ]
            api.add_messages(user_id=user_id, thread_id=thread_id, messages=messages)
            api.extract_memories(user_id=user_id, thread_id=thread_id)
        # A call of run_jobs() ends after a minute or 100 jobs.
        while api.value("select count(*) from memory.jobs where status in ('pending', 'running')"):
            runner.start()
            runner.join()
        yield resident_bytes(runner.pid)


def growth(measured: list[int]) -> float:
    """By which share the memory of the last batches is above that after the warm-up."""
    return max(measured[-2:]) / max(measured[:WARM_UP]) - 1
