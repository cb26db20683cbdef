"""Applications that write through clients of a cluster, and repeat each write until it is acknowledged; a worker."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4, uuid5

import psycopg
from agent_memory import Memory, RetryableError
from agent_memory.worker import NodeWorkers
from agent_memory.worker.outcomes import WorkerCounts

from tests.support.sqlapi import result_of

_MEMORY_IDS = UUID(int=28)
_PAUSE = 0.05
"""Seconds between two attempts of a write."""
USERS_OF_WRITER = ("ana {}", "grüße {}", "我喜欢茶 {}", "o'user \\{}")
_READ = "Read: "
"""How the memories of the worker begin."""
_MESSAGES_OF_JOB = 5
"""After how many messages of a user the messages are to be read."""
_LEASE = timedelta(seconds=15)
"""How long a job waits whose claim was lost together with its server."""
_PATIENCE = 120.0


class _Reader:
    """The models of the worker: each reading of messages states one memory, like no other, which cites all of them."""

    async def run(self, kind: str, payload: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        if kind != "extract_memories":
            return result_of(SimpleNamespace(kind=kind, payload=payload))
        seqs = [message["seq"] for message in payload["messages"]]
        return {"memories": [{"content": f"{_READ}{uuid4()}", "memory_type": "fact", "seqs": seqs}]}


class Load:
    """Writers, each with users of its own, and a worker that reads what they have written.

    Args:
        dsns: connection strings of nodes; each writer begins with another one.
        writers: how many there are.

    Attributes:
        stored: the acknowledged messages of each user, by number.
        memories: the ids of the acknowledged memories.
        repeated: how many attempts had an error to repeat the write.
        longest: seconds of the longest write, from its first attempt to the acknowledgement.
        done: what became of the jobs.
        problems: what no application should see.
    """

    def __init__(self, dsns: Sequence[str], writers: int) -> None:
        self.stored: dict[str, dict[int, str]] = {}
        self.memories: dict[UUID, str] = {}
        self.repeated = 0
        self.longest = 0.0
        self.done = WorkerCounts()
        self.problems: list[str] = []
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=[dsns[number % len(dsns)], number]) for number in range(writers)
        ]
        self._threads.append(threading.Thread(target=self._work, args=[dsns[0]]))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Write as long as the context lasts; at its end each write that has begun is acknowledged."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in self._threads:
                thread.join()

    @property
    def acknowledged(self) -> int:
        """How many messages were acknowledged."""
        return sum(map(len, self.stored.values()))

    def _work(self, dsn: str) -> None:
        async def serve() -> None:
            workers = NodeWorkers(dsn, models=_Reader(), poll_interval=0.2, lease=_LEASE)
            serving = asyncio.create_task(workers.run())
            while not self._is_over.is_set() and not serving.done():
                await asyncio.sleep(_PAUSE)
            workers.stop()
            self.done = await serving

        try:
            asyncio.run(serve())
        except Exception as error:  # the test shows it
            self.problems.append(f"worker: {type(error).__name__}: {error}")

    def _run(self, dsn: str, writer: int) -> None:
        users = [name.format(writer) for name in USERS_OF_WRITER]
        self.stored |= {user: {} for user in users}
        try:
            with Memory(dsn, pool_size=2) as memory:
                number = 0
                while not self._is_over.is_set():
                    for user in users:
                        self._write(memory, user, f"{user} says {number}")
                    number += 1
        except Exception as error:  # the test shows it
            self.problems.append(f"{type(error).__name__}: {error}")

    def _write(self, memory: Memory, user: str, text: str) -> None:
        memory_id = uuid5(_MEMORY_IDS, text)
        begun = time.monotonic()
        is_stored = False
        while not is_stored:
            try:
                seq = memory.add_message(user, "t", "user", text, idempotency_key=text).seq
                memory.add_memory(user, f"Fact: {text}", memory_id=memory_id)
                if seq is not None and seq % _MESSAGES_OF_JOB == 0:
                    memory.extract_memories(user, "t")
                newest = memory.get_messages(user, "t", recent_k=1)[0]
                is_stored = True
            except (RetryableError, psycopg.OperationalError):  # noqa: PERF203  # the next attempt follows
                self.repeated += 1
                time.sleep(_PAUSE)
        assert seq is not None
        if (newest.seq, newest.content) != (seq, text):
            self.problems.append(f"{user}: message {seq} is acknowledged, and the newest is {newest.seq}")
        if seq in self.stored[user]:
            self.problems.append(f"{user}: number {seq} was given twice")
        self.stored[user][seq] = text
        self.memories[memory_id] = user
        self.longest = max(self.longest, time.monotonic() - begun)


_OF_APPLICATIONS = f"select memory_id, user_id from memory.memories where content not like '{_READ}%'"
_CITED = f"select user_id, unnest(source_seqs) from memory.memories where content like '{_READ}%'"


def misread(load: Load, dsns: Sequence[str]) -> list[str]:
    """Let a worker read the rest, and return the messages that were not read once, with how often they were."""
    wanted = {(user, seq): 1 for user, stored in load.stored.items() for seq in stored}
    end = time.monotonic() + _PATIENCE
    while True:
        with Memory(dsns[0]) as memory:
            for user in load.stored:
                memory.extract_memories(user, "t")
        asyncio.run(NodeWorkers(dsns[0], models=_Reader(), lease=_LEASE).run(once=True))
        cited: Counter[tuple[str, int]] = Counter()
        for dsn in dsns:
            with psycopg.connect(dsn) as connection:
                cited.update(connection.execute(_CITED.encode()).fetchall())
        if cited == wanted or time.monotonic() > end:
            return [f"{key}: {cited[key]}" for key in cited.keys() | wanted.keys() if cited[key] != wanted.get(key)]
        time.sleep(1)  # for leases of claims that were lost


def misplaced(load: Load, dsns: Sequence[str]) -> list[str]:
    """Compare what was acknowledged with what all nodes together have, each row once; return the differences."""
    problems = []
    messages: dict[str, dict[int, str]] = {user: {} for user in load.stored}
    memories: dict[UUID, str] = {}
    for dsn in dsns:
        with psycopg.connect(dsn) as connection:
            for user, seq, text in connection.execute("select user_id, seq, content from memory.messages"):
                if seq in messages[user]:
                    problems.append(f"{user}: message {seq} is on two nodes")
                messages[user][seq] = text
            for memory_id, user in connection.execute(_OF_APPLICATIONS):
                if memory_id in memories:
                    problems.append(f"{user}: memory {memory_id} is on two nodes")
                memories[memory_id] = user
    for user, stored in load.stored.items():
        if different := sorted(stored.items() ^ messages[user].items()):
            problems.append(f"{user}: {len(different)} messages differ, such as {different[:3]}")
    if different_memories := sorted(load.memories.items() ^ memories.items()):
        problems.append(f"{len(different_memories)} memories differ, such as {different_memories[:3]}")
    return problems
