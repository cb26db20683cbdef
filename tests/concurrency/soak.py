"""Mixed load on a server whose processes are killed again and again: what was acknowledged is there at the end.

``make soak`` runs it for an hour, ``python -m tests.concurrency.soak --seconds 60`` for a minute; it is no part of the
tests.

Eight clients append messages, store, delete, restore and supersede memories, read contexts, search and sweep, each on a
user of its own and on one that they share; two workers do the jobs. Every few seconds a worker or a backend gets
SIGKILL, and a killed backend makes PostgreSQL restart. Clients repeat a call that got no answer, as applications do.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
from agent_memory import Memory
from agent_memory.errors import NotFoundError, RetryableError

from tests.support.servers import Server, install_agent_memory, running_server

CLIENTS = 8
WORKERS = 2
KILL_EVERY_SECONDS = 5.0
PATIENCE_SECONDS = 60.0
DATABASE = "soak"

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
where m.user_id = %(user_id)s and m.superseded_at is null and m.deleted_at is null
"""
WRONG = {
    "threads with wrong counters": """
        select t.user_id, t.thread_id from memory.threads as t
        where (t.message_count, t.active_tokens) <> (
          select count(*), coalesce(sum(m.token_count), 0) from memory.messages as m
          where m.user_id = t.user_id and m.thread_id = t.thread_id and m.is_active)""",
    "agents with wrong counters": """
        select s.user_id, s.agent_id from memory.memory_scopes as s
        where s.memory_count <> (
          select count(*) from memory.memories as m
          where m.user_id = s.user_id and m.agent_id = s.agent_id
            and m.superseded_at is null and m.deleted_at is null)""",
    "messages stored twice": """
        select m.user_id, m.thread_id, m.idempotency_key from memory.messages as m
        where m.idempotency_key is not null group by 1, 2, 3 having count(*) > 1""",
    "hidden memories without a winner": """
        select m.user_id, m.memory_id from memory.memories as m
        where m.superseded_by is not null and m.deleted_at is null
          and not exists (
            select from memory.memories as w where w.user_id = m.user_id and w.memory_id = m.superseded_by)
          and not exists (
            select from memory.documents as d where d.user_id = m.user_id and d.document_id = m.superseded_by)""",
    "dead jobs": "select j.user_id, j.kind, j.error from memory.jobs as j where j.status = 'dead'",
}


class Client:
    """One application: random calls, and what they were acknowledged with."""

    def __init__(self, conninfo: str, number: int, deadline: float) -> None:
        self.user_id = f"user {number}"
        self.messages: set[tuple[str, str, str]] = set()
        """User, thread and key of each message that was acknowledged."""
        self.kept: set[UUID] = set()
        """Own memories that are to be visible."""
        self.calls: Counter[str] = Counter()
        self.problems: list[str] = []
        self._conninfo = conninfo
        self._random = random.Random(number)
        self._deadline = deadline
        self._memory: Memory | None = None
        self._connection: psycopg.Connection[Any] | None = None

    def run(self) -> None:
        try:
            steps = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
            while time.monotonic() < self._deadline:
                step = self._random.choice(steps)
                step()
                self.calls[step.__name__] += 1
        except Exception as error:
            self.problems.append(f"{self.user_id}: {type(error).__name__}: {error}")

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call until there is an answer: the server may be restarting."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            with suppress(RetryableError, psycopg.OperationalError):
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self._conninfo, autocommit=True)
                    self._memory = Memory(self._connection)
                return getattr(self._memory, method)(*arguments, **options)
            if time.monotonic() > give_up:
                raise TimeoutError(f"{method} got no answer for {PATIENCE_SECONDS:g} s")
            time.sleep(0.05)

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
            self.call("sweep")

    def _any_kept(self) -> UUID | None:
        return self._random.choice(list(self.kept)) if self.kept else None


class Killer:
    """Keeps the workers running, and kills one of them or a backend now and then."""

    def __init__(self, server: Server, seconds: float) -> None:
        self.kills: Counter[str] = Counter()
        self._conninfo = server.conninfo(DATABASE)
        self._until = time.monotonic() + seconds
        self._random = random.Random(0)
        self._workers: list[subprocess.Popen[bytes]] = []

    def run(self) -> None:
        while time.monotonic() < self._until:
            self._keep_workers()
            time.sleep(KILL_EVERY_SECONDS)
            if self._random.random() < 0.5:
                self._random.choice(self._workers).kill()
                self.kills["worker"] += 1
            else:
                with suppress(psycopg.OperationalError, ProcessLookupError, IndexError):
                    os.kill(self._random.choice(list(self._backends())), signal.SIGKILL)
                    self.kills["backend"] += 1
        for worker in self._workers:
            worker.terminate()
            worker.wait()

    def _keep_workers(self) -> None:
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self._workers) < WORKERS:
            command = [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", self._conninfo, "--lease", "5"]
            self._workers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def _backends(self) -> Iterator[int]:
        with psycopg.connect(self._conninfo) as connection:
            rows = connection.execute(
                "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            )
            yield from [row[0] for row in rows]


def problems_of(conninfo: str, clients: list[Client]) -> Iterator[str]:
    """What is wrong at the end, once the jobs that are left have been done."""
    for client in clients:
        yield from client.problems
    with psycopg.connect(conninfo, autocommit=True) as connection:
        Memory(connection).sweep()
        for user_id in ("everybody", *(client.user_id for client in clients)):
            sent = [message[1:] for client in clients for message in client.messages if message[0] == user_id]
            threads, keys = [thread_id for thread_id, _ in sent], [key for _, key in sent]
            lost = connection.execute(LOST_MESSAGES, {"user_id": user_id, "threads": threads, "keys": keys}).fetchall()
            if lost:
                yield f"{user_id}: {len(lost)} messages are lost, such as {lost[0]}"
        for client in clients:
            shown = {row[0] for row in connection.execute(SHOWN, {"user_id": client.user_id})}
            if missing := client.kept - shown:
                yield f"{client.user_id}: {len(missing)} memories are lost or hidden, such as {missing.pop()}"
        for problem, query in WRONG.items():
            if rows := connection.execute(query).fetchall():
                yield f"{len(rows)} {problem}, such as {rows[0]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--server", choices=("system", "embedded"), default="system")
    options = parser.parse_args()
    # Killed processes lose nothing that the operating system has; synchronous_commit makes sure that it has it.
    settings = {"synchronous_commit": "on", "full_page_writes": "on", "max_connections": "60"}
    with running_server(options.server, settings) as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute(f"create database {DATABASE}")
        install_agent_memory(server, DATABASE)
        conninfo = server.conninfo(DATABASE)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            Memory(connection).set_policy({"memories": {"max_per_agent": 1000000}})
        deadline = time.monotonic() + options.seconds
        clients = [Client(conninfo, number, deadline) for number in range(CLIENTS)]
        killer = Killer(server, options.seconds)
        threads = [threading.Thread(target=run) for run in (*(client.run for client in clients), killer.run)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(6)  # the leases of killed workers run out
        worker = [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", conninfo, "--once"]
        subprocess.run(worker, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        problems = list(problems_of(conninfo, clients))
    calls = sum((client.calls for client in clients), Counter())
    print(f"{sum(calls.values())} calls in {options.seconds:g} s: {dict(calls)}")
    print(
        f"acknowledged: {sum(len(c.messages) for c in clients)} messages, {sum(len(c.kept) for c in clients)} memories"
    )
    print(f"killed: {dict(killer.kills)}")
    print("\n".join(problems) or "nothing was lost, doubled or miscounted")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
