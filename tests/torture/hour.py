"""An hour's mixed load at full speed: as many calls as in an hour of load, then everything is counted anew.

Eight clients work at once, each on a user of its own that gives way to another after some thousand calls, and on one
that all share. A worker process and memory.run_jobs() do the jobs with the built-in model: extraction, summaries,
compression, words of artifacts, pieces of documents. Sessions of tenants, sweeps, forgotten users and memories,
quarantine and archives are among it. In the first third the server is killed; a second worker is killed all the time.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.errors import NotFoundError, PermissionDeniedError
from psycopg.conninfo import make_conninfo

from tests.support.runners import DatabaseRunner, WorkerRunner
from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, login_role, text_of, token_of
from tests.torture import audit, intact
from tests.torture.clients import Client, acknowledged, losses
from tests.torture.cluster import VICTIMS, Cluster
from tests.torture.flat import resident_bytes

CALLS = 334_085
"""So many calls did eight clients make in an hour, when the load ran for an hour (November 2026, two cores)."""
CLIENTS = 8
CALLS_OF_A_USER = 2_000
SERVER_KILLS = 6
"""All in the first third, because they end the session of run_jobs() whose memory is measured afterwards."""
WORKER_KILLS = 20
MEASURED_FROM = 0.4
"""By then the caches of the processes have filled."""
SAMPLES = 40
MOST_GROWTH = 0.1
LEFT = "select count(*) from memory.jobs as j where j.status in ('pending', 'running')"
DEAD = "select j.kind, min(j.error), count(*) from memory.jobs as j where j.status = 'dead' group by 1"
TENANT = "torture_tenant"
PATIENCE_SECONDS = 900.0
"""For the jobs that are left when the clients have ended."""

SHARES = {
    "add_message": 30, "say_a_fact": 6, "add_messages": 2, "add_memory": 10, "share_a_memory": 2,
    "delete_and_restore": 4, "supersede": 2, "read": 5, "request": 2, "sweep": 1, "store_artifact": 1.5,
    "read_artifact": 3, "forget_memory": 0.5, "forget_user": 0.3, "add_expiring": 3, "act_as_a_tenant": 4,
    "quarantine": 1, "add_document": 0.5,
}  # fmt: skip
"""How often each step is taken. A step is one to six calls."""


class Tenant(Client):
    """A session that reaches the user of its token."""

    def on(self, connection: psycopg.Connection[Any]) -> Memory:
        return Memory(connection, token=lambda: token_of(self.user_id))


class Visitor(Client):
    """A client of the hour: more kinds of calls, in the shares of a usual application."""

    def __init__(self, conninfo: str, number: int) -> None:
        super().__init__(conninfo, number)
        # The end of the name makes it one of the needles that are looked for once the user was forgotten.
        self.user_id = f"user {number}, guest {number:x}"
        self.tenant = Tenant(make_conninfo(conninfo, user=TENANT), number)
        self.tenant.user_id = self.user_id
        self._towns = itertools.count()

    def visit(self, goes_on: Callable[[], bool]) -> None:
        """Some thousand calls; every fourth user is forgotten in the end."""
        names, weights = list(SHARES), list(SHARES.values())
        try:
            while self.answers < CALLS_OF_A_USER and goes_on():
                getattr(self, f"do_{self._random.choices(names, weights)[0]}")()
            if self._random.random() < 0.25:
                self.leave()
        except Exception as error:
            self.problems.append(f"{self.user_id}: {type(error).__name__}: {error}")
        finally:
            self.close()

    def leave(self) -> None:
        """What the user had must be in no table afterwards. What it said to all stays."""
        self.call("forget_user", self.user_id)
        self.forgotten.add(self.user_id)
        self.messages = {message for message in self.messages if message[0] != self.user_id}
        self.kept, self.artifacts = set(), {}

    def close(self) -> None:
        super().close()
        self.tenant.close()

    def do_say_a_fact(self) -> None:
        """Something that the built-in model extracts."""
        key = f"{self._random.getrandbits(128):x}"
        thread_id, town = f"thread {self._random.randrange(5)}", next(self._towns)
        self.call(
            "add_message", self.user_id, thread_id, "user", f"I moved to town {town}, and like it.", idempotency_key=key
        )
        self.messages.add((self.user_id, thread_id, key))

    def do_request(self) -> None:
        method = self._random.choice(("compress_thread", "summarize_thread", "extract_memories"))
        with suppress(NotFoundError):
            self.call(method, self.user_id, f"thread {self._random.randrange(5)}")

    def do_read_artifact(self) -> None:
        if self.artifacts:
            self.call("retrieve_artifact", self.user_id, self._random.choice(list(self.artifacts)), max_tokens=100)
        self.call("get_messages", self.user_id, f"thread {self._random.randrange(5)}", recent_k=20)

    def do_quarantine(self) -> None:
        """What is released is as it was."""
        if memory_id := self._any_kept():
            self.call("quarantine_memory", self.user_id, memory_id, "a trial")
            # What is repeated after a crash finds the first attempt done.
            with suppress(NotFoundError):
                self.call("release_memory", self.user_id, memory_id)

    def do_add_document(self) -> None:
        self.call("add_document", self.user_id, self.text() * 20)

    def do_act_as_a_tenant(self) -> None:
        """A session with the token of this user stores and reads; whatever it asks of another user is refused."""
        key, thread_id = f"{self._random.getrandbits(128):x}", f"thread {self._random.randrange(5)}"
        self.tenant.call("add_message", self.user_id, thread_id, "user", self.text(), idempotency_key=key)
        self.messages.add((self.user_id, thread_id, key))
        found = self.tenant.call("list_memories", self.user_id, row_limit=20)
        if len(found) < min(20, len(self.kept)):
            self.problems.append(f"the tenant {self.user_id} sees {len(found)} of {len(self.kept)} memories")
        with suppress(PermissionDeniedError):
            self.tenant.call("list_memories", "everybody")
            self.problems.append(f"the tenant {self.user_id} reads memories of everybody")


POLICY = {
    "memories": {"max_per_agent": 1000000},
    "cadence": {"fact_extraction_every_n": 10},
    "compression": {"threshold_tokens": 3000, "archive_conversations": True},
}


class Hour:
    """So many calls by all clients, with both runners of jobs, and what became of their memory."""

    def __init__(
        self, cluster: Cluster, calls: int, server_kills: int = SERVER_KILLS, worker_kills: int = WORKER_KILLS
    ) -> None:
        self.visitors: list[Visitor] = []
        self.kills: Counter[str] = Counter()
        self.memory: dict[str, list[int]] = {}
        """Megabytes of the process of each runner, after each fortieth of the calls."""
        self.jobs = 0
        """How many were completed, of those that nobody has forgotten."""
        self._cluster = cluster
        self._calls = calls
        self._server_kills = server_kills
        self._worker_kills = worker_kills
        self._numbers = itertools.count()
        self._over = threading.Event()
        self._crashes: list[str] = []
        with cluster.connect() as connection:
            api = Api(connection)
            api.set_policy(settings=POLICY)
            api.set_token_key(key=text_of(KEY))
            login_role(connection, TENANT, "memory_tenant")

    @property
    def answers(self) -> int:
        """How many calls were answered so far."""
        return sum(visitor.answers + visitor.tenant.answers for visitor in list(self.visitors))

    @property
    def failures(self) -> Counter[str]:
        """How many calls failed and were repeated, by the kind of error."""
        return sum((visitor.failures + visitor.tenant.failures for visitor in self.visitors), Counter())

    @property
    def acknowledged(self) -> int:
        """How many writes and jobs were acknowledged."""
        return acknowledged(list(self.visitors)) + self.jobs

    def run(self) -> list[str]:
        """The calls, then the jobs that are left; what is lost or wrong."""
        with tempfile.TemporaryDirectory() as folder:
            worker = WorkerRunner(self._cluster.conninfo(), Path(folder, "worker.log"))
            backend: list[int] = []  # the process of run_jobs(), a new one after each crash
            others = [self._sweeps, lambda: self._kills_workers(Path(folder, "victim.log"))]
            if self._cluster.server.has_plpython:
                others.append(lambda: self._run_jobs(backend))
            clients = [threading.Thread(target=self._guarded, args=[self._visits]) for _ in range(CLIENTS)]
            threads = [threading.Thread(target=self._guarded, args=[other]) for other in others]
            try:
                for thread in (*clients, *threads):
                    thread.start()
                self._watch(worker, backend, clients)
                for thread in clients:
                    thread.join()
                self._finish_jobs()
            finally:
                self._over.set()
                for thread in (*clients, *threads):
                    thread.join()
                worker.close()
        return [*self._crashes, *self._problems()]

    def _goes_on(self) -> bool:
        return not self._over.is_set() and self.answers < self._calls

    def _visits(self) -> None:
        while self._goes_on():
            visitor = Visitor(self._cluster.conninfo(), next(self._numbers))
            self.visitors.append(visitor)
            visitor.visit(self._goes_on)

    def _watch(self, worker: WorkerRunner, backend: list[int], clients: list[threading.Thread]) -> None:
        """Measure the runners, and kill the server in the first third."""
        samples = (self._calls * n // SAMPLES for n in range(1, SAMPLES + 1))
        kills = (self._calls // 3 * n // self._server_kills for n in range(1, self._server_kills + 1))
        victims = itertools.cycle(VICTIMS)
        next_sample, next_kill = next(samples), next(kills, self._calls * 2)
        while any(client.is_alive() for client in clients):
            time.sleep(0.05)
            if self.answers >= next_sample:
                next_sample = next(samples, self._calls * 2)
                for name, pids in (("worker", [worker.pid]), ("run_jobs()", backend[-1:])):
                    for pid in pids:
                        with suppress(FileNotFoundError, ProcessLookupError):  # the server was killed
                            self.memory.setdefault(name, []).append(round(resident_bytes(pid) / 2**20))
            if self.answers >= next_kill:
                next_kill = next(kills, self._calls * 2)
                victim = next(victims)
                if (busy := self._cluster.busy_with("^torture .*memory", patience=10)) is not None:
                    self._cluster.kill(victim, busy)
                    self.kills[victim] += 1

    def _run_jobs(self, backend: list[int]) -> None:
        """As a scheduler does."""
        while not self._over.is_set():
            with suppress(psycopg.OperationalError), closing(DatabaseRunner(self._cluster.conninfo())) as runner:
                backend.append(runner.pid)
                while not self._over.is_set():
                    runner.start()
                    runner.join()
                    time.sleep(0.5)
            time.sleep(0.1)

    def _sweeps(self) -> None:
        while not self._over.is_set():
            with suppress(psycopg.OperationalError), self._cluster.connect() as connection:
                while not self._over.wait(2):
                    connection.execute("select memory.sweep()")

    def _kills_workers(self, log_file: Path) -> None:
        """A second worker that gets SIGKILL again and again; others do its jobs when its leases have run out."""
        for number in range(1, self._worker_kills + 1):
            with closing(self._second_worker(log_file)) as worker:
                while self.answers < self._calls * number // (self._worker_kills + 1):
                    if self._over.wait(0.1):
                        return
                worker.stop("kill")
                self.kills["worker"] += 1

    def _second_worker(self, log_file: Path) -> WorkerRunner:
        while True:
            self._cluster.connect().close()  # which waits for a server that starts again
            with suppress(psycopg.OperationalError):  # it was killed once more
                return WorkerRunner(self._cluster.conninfo(), log_file, "--lease", "10")

    def _finish_jobs(self) -> None:
        give_up = time.monotonic() + PATIENCE_SECONDS
        with self._cluster.connect() as connection:
            while left := connection.execute(LEFT).fetchall()[0][0]:
                if time.monotonic() > give_up:
                    self._crashes.append(f"{left} jobs are left {PATIENCE_SECONDS:.0f} s after the last call")
                    return
                time.sleep(0.5)

    def _problems(self) -> Iterator[str]:
        with self._cluster.connect() as connection:
            yield from losses(connection, list(self.visitors))
            for visitor in self.visitors:
                yield from visitor.tenant.problems
            yield from audit.problems(connection)
            yield from intact.problems(connection)
            for kind, error, dead in connection.execute(DEAD).fetchall():
                yield f"{dead} jobs of kind {kind} are dead: {error}"
            [[self.jobs]] = connection.execute(
                "select count(*) from memory.jobs as j where j.status = 'completed'"
            ).fetchall()

    def growth(self) -> Iterator[str]:
        """What of the runners' memory is not flat."""
        for name, measured in self.memory.items():
            first, last = span(measured)
            if last > first * (1 + MOST_GROWTH):
                yield f"the memory of {name} grows from {first} to {last} MB"

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._crashes.append(f"{type(error).__name__}: {error}")


def span(measured: list[int]) -> tuple[int, int]:
    """The most megabytes after the warm-up, and in the last fifth."""
    begin = round(len(measured) * MEASURED_FROM)
    end = len(measured) - max(1, len(measured) // 5)
    return max(measured[begin : max(end, begin + 1)]), max(measured[end:])
