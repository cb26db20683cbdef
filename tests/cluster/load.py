"""Applications that write through clients of a cluster, and repeat each write until it is acknowledged."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from uuid import UUID, uuid5

import psycopg
from agent_memory import Memory, RetryableError

_MEMORY_IDS = UUID(int=28)
_PAUSE = 0.05
"""Seconds between two attempts of a write."""
USERS_OF_WRITER = ("ana {}", "grüße {}", "我喜欢茶 {}", "o'user \\{}")


class Load:
    """Writers, each with users of its own.

    Args:
        dsns: connection strings of nodes; each writer begins with another one.
        writers: how many there are.

    Attributes:
        stored: the acknowledged messages of each user, by number.
        memories: the ids of the acknowledged memories.
        repeated: how many attempts had an error to repeat the write.
        longest: seconds of the longest write, from its first attempt to the acknowledgement.
        problems: what no application should see.
    """

    def __init__(self, dsns: Sequence[str], writers: int) -> None:
        self.stored: dict[str, dict[int, str]] = {}
        self.memories: dict[UUID, str] = {}
        self.repeated = 0
        self.longest = 0.0
        self.problems: list[str] = []
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=[dsns[number % len(dsns)], number]) for number in range(writers)
        ]

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
            for memory_id, user in connection.execute("select memory_id, user_id from memory.memories"):
                if memory_id in memories:
                    problems.append(f"{user}: memory {memory_id} is on two nodes")
                memories[memory_id] = user
    for user, stored in load.stored.items():
        if different := sorted(stored.items() ^ messages[user].items()):
            problems.append(f"{user}: {len(different)} messages differ, such as {different[:3]}")
    if different_memories := sorted(load.memories.items() ^ memories.items()):
        problems.append(f"{len(different_memories)} memories differ, such as {different_memories[:3]}")
    return problems
