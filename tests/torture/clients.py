"""Applications under mixed load that are told clearly what was stored, and what of that is missing afterwards.

Each client appends messages, stores, delete, restore and supersede memories, stores artifacts, reads contexts, searches
and sweeps, on a user of its own and on one that all share. It repeats a call that got no answer, as applications do,
and keeps in mind what was acknowledged.
"""

from __future__ import annotations

import math
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone
from hashlib import md5
from operator import attrgetter
from typing import Any
from uuid import UUID

import psycopg
from agent_memory import Memory
from agent_memory.errors import NotFoundError, RetryableError

PATIENCE_SECONDS = 300.0
"""For an answer, from the first failure on: a server may take minutes to restart on a busy machine."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=timezone.utc)

LOST_MESSAGES = """
select k.thread_id, k.key
from unnest(%(threads)s::text[], %(keys)s::text[]) as k (thread_id, key)
where not exists (select from memory.messages as m
                  where m.user_id = %(user_id)s and m.thread_id = k.thread_id and m.idempotency_key = k.key)
  and not exists (select from memory.idempotency_keys as s
                  where s.user_id = %(user_id)s and s.thread_id = k.thread_id and s.idempotency_key = k.key)
"""
SHOWN = """
select m.memory_id from memory.memories as m
where m.user_id = %(user_id)s and (m.superseded_at is null or %(may_hide)s) and m.deleted_at is null
"""
ARTIFACTS = """
select a.key, md5(memory.retrieve_artifact(a.user_id, a.key)) from memory.artifacts as a where a.user_id = %(user_id)s
"""

NEEDLE = re.compile("Note [0-9a-f]+: [0-9a-f]+|user [0-9]+, guest [0-9a-f]+")
"""What texts and guests look like."""


class Client:
    """One application: random calls, and what they were acknowledged with."""

    def __init__(self, conninfo: str, number: int) -> None:
        self.user_id = f"user {number}"
        self.messages: set[tuple[str, str, str]] = set()
        """User, thread and key of each message that was acknowledged."""
        self.kept: set[UUID] = set()
        """Own memories that are to be visible."""
        self.artifacts: dict[str, str] = {}
        """Keys of artifacts that were acknowledged, with the MD5 of each content."""
        self.forgotten: set[str] = set()
        """Texts of memories, and users, that were acknowledged to be forgotten."""
        self.answers = 0
        """How many calls were answered."""
        self.failures: Counter[str] = Counter()
        self.problems: list[str] = []
        """What ended a run of this client that must not have ended."""
        self._conninfo = conninfo
        self._random = random.Random(number)
        self._steps = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        self._memory: Memory | None = None
        self._connection: psycopg.Connection[Any] | None = None

    def run(self, until: threading.Event) -> None:
        """Make random calls until the event."""
        try:
            while not until.is_set():
                self._random.choice(self._steps)()
        except Exception as error:
            self.problems.append(f"{self.user_id}: {type(error).__name__}: {error}")
        finally:
            self.close()

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call until there is an answer: the server may be restarting."""
        give_up = math.inf
        while True:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self._conninfo, autocommit=True)
                    self._memory = self.on(self._connection)
                answer = attrgetter(method)(self._memory)(*arguments, **options)
                self.answers += 1
                return answer
            except (RetryableError, psycopg.OperationalError) as error:
                self.failures[type(error).__name__] += 1
                # Not from the call on: it may have waited for a lock as long as the server's clock was behind.
                give_up = min(give_up, time.monotonic() + PATIENCE_SECONDS)
            if time.monotonic() > give_up:
                raise TimeoutError(f"{method} got no answer for {PATIENCE_SECONDS:g} s")
            time.sleep(0.05)

    def on(self, connection: psycopg.Connection[Any]) -> Memory:
        """The client of the package on a connection."""
        return Memory(connection)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    def move_to(self, conninfo: str) -> None:
        """Connect to another server with the next call."""
        self._conninfo = conninfo

    def text(self) -> str:
        return f"Note {self._random.getrandbits(64):x}: {self._random.getrandbits(256):x}"

    def do_add_message(self) -> None:
        user_id, thread_id = self._random.choice((self.user_id, "everybody")), f"thread {self._random.randrange(5)}"
        key = f"{self._random.getrandbits(128):x}"
        role = self._random.choice(("user", "assistant"))
        self.call("add_message", user_id, thread_id, role, self.text(), idempotency_key=key)
        self.messages.add((user_id, thread_id, key))

    def do_add_messages(self) -> None:
        thread_id = f"thread {self._random.randrange(5)}"
        keys = [f"{self._random.getrandbits(128):x}" for _ in range(10)]
        batch = [{"role": "user", "content": self.text() * 20, "idempotency_key": key} for key in keys]
        self.call("add_messages", self.user_id, thread_id, batch)
        self.messages |= {(self.user_id, thread_id, key) for key in keys}

    def do_add_memory(self) -> None:
        stored = self.call("add_memory", self.user_id, self.text(), importance=self._random.random())
        self.kept.add(stored.memory_id)

    def do_share_a_memory(self) -> None:
        self.call("add_memory", "everybody", f"Note {self._random.randrange(50)}", agent_id="shared")

    def do_delete_and_restore(self) -> None:
        if memory_id := self._any_kept():
            self.call("delete_memory", self.user_id, memory_id)
            if self._random.random() < 0.7:
                # A sweep may have been faster: then the memory is gone for good, and says so.
                with suppress(NotFoundError):
                    self.call("restore_memory", self.user_id, memory_id)
                    return
            self.kept.remove(memory_id)

    def do_supersede(self) -> None:
        old, new = self._any_kept(), self._any_kept()
        if old and new and old != new:
            # What is repeated after a crash finds the first attempt done.
            with suppress(NotFoundError):
                self.call("supersede_memory", self.user_id, old, new, "newer")
            self.call("restore_memory", self.user_id, old)

    def do_read(self) -> None:
        self.call("get_context", self.user_id, f"thread {self._random.randrange(5)}", query="note")
        self.call("search", self.user_id, "note", mode="keyword", sources=["memory", "message"])

    def do_request(self) -> None:
        with suppress(NotFoundError):
            self.call("compress_thread", self.user_id, f"thread {self._random.randrange(5)}")

    def do_sweep(self) -> None:
        if self._random.random() < 0.2:
            self.call("admin.sweep")

    def do_store_artifact(self) -> None:
        key, content = f"{self._random.getrandbits(128):x}", self.text() * self._random.randrange(1, 200)
        self.call("store_artifact", self.user_id, content, key=key)
        self.artifacts[key] = md5(content.encode()).hexdigest()

    def do_forget_memory(self) -> None:
        if (memory_id := self._any_kept()) is None:
            return
        content = self.call("get_memory", self.user_id, memory_id).content
        # What is repeated after a crash finds the first attempt done.
        with suppress(NotFoundError):
            self.call("forget_memory", self.user_id, memory_id)
        self.kept.remove(memory_id)
        self.forgotten.add(content)

    def do_forget_user(self) -> None:
        """Somebody who comes, leaves a little of everything, and wants to be forgotten."""
        user_id = f"{self.user_id}, guest {self._random.getrandbits(64):x}"
        self.call("add_message", user_id, "t", "user", self.text(), idempotency_key="1")
        self.call("add_memory", user_id, self.text())
        self.call("store_artifact", user_id, self.text(), key="1")
        self.call("extract_memories", user_id, "t")
        self.call("forget_user", user_id)
        self.forgotten.add(user_id)

    def do_add_expiring(self) -> None:
        """Something for sweeps to do."""
        thread_id = f"thread {self._random.randrange(5)}"
        self.call("add_message", self.user_id, thread_id, "system", self.text(), expires_at=LONG_AGO)

    def _any_kept(self) -> UUID | None:
        return self._random.choice(list(self.kept)) if self.kept else None


def losses(connection: psycopg.Connection[Any], clients: list[Client], may_hide: bool = False) -> Iterator[str]:
    """What was acknowledged and is not there, and what ended a client.

    ``may_hide``: a memory that was to be visible may be superseded.
    """
    for client in clients:
        yield from client.problems
    for user_id in ("everybody", *(client.user_id for client in clients)):
        sent = [message[1:] for client in clients for message in client.messages if message[0] == user_id]
        threads, keys = [thread_id for thread_id, _ in sent], [key for _, key in sent]
        lost = connection.execute(LOST_MESSAGES, {"user_id": user_id, "threads": threads, "keys": keys}).fetchall()
        if lost:
            yield f"{user_id}: {len(lost)} messages are lost, such as {lost[0]}"
    for client in clients:
        shown = {row[0] for row in connection.execute(SHOWN, {"user_id": client.user_id, "may_hide": may_hide})}
        if missing := client.kept - shown:
            yield f"{client.user_id}: {len(missing)} memories are lost or hidden, such as {missing.pop()}"
        stored = dict(connection.execute(ARTIFACTS, {"user_id": client.user_id}).fetchall())
        if wrong := [key for key, digest in client.artifacts.items() if stored.get(key) != digest]:
            yield f"{client.user_id}: {len(wrong)} artifacts are lost or changed, such as {wrong[0]}"
    yield from remembered(connection, {needle for client in clients for needle in client.forgotten})


def remembered(connection: psycopg.Connection[Any], forgotten: set[str]) -> Iterator[str]:
    """The rows of any table that still have what was acknowledged to be forgotten."""
    tables = connection.execute(
        "select oid::regclass::text from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'r'"
    ).fetchall()
    for [table] in tables:
        for [row] in connection.execute(f"select t::text from {table} as t"):
            if found := forgotten.intersection(NEEDLE.findall(row)):
                yield f"{table} still has {found.pop()!r}, which was forgotten"
                break


def acknowledged(clients: list[Client]) -> int:
    """How many writes the clients were told to be stored."""
    return sum(
        len(client.messages) + len(client.kept) + len(client.artifacts) + len(client.forgotten) for client in clients
    )
