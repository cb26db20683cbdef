"""Mixed load: clients, a worker by the protocol, and sweeps, for as long as a block of code takes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from agent_memory import Memory

from tests.support.sqlapi import Api, result_of
from tests.torture import audit
from tests.torture.clients import Client, acknowledged, losses
from tests.torture.cluster import Cluster

CLIENTS = 4


def attempt(cluster: Cluster, work: Callable[[psycopg.Connection[Any]], None]) -> None:
    """Work on a connection of its own; that it fails or breaks counts for nothing, because the caller tries again."""
    try:
        with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
            work(connection)
    except psycopg.OperationalError:
        time.sleep(0.05)


class JobClient:
    """A worker without a model, by the protocol: what it was acknowledged stays done."""

    def __init__(self, cluster: Cluster) -> None:
        self.done: set[tuple[str, int]] = set()
        self.problems: list[str] = []
        self.cluster = cluster
        self._number = 0

    def run(self, until: threading.Event) -> None:
        while not until.is_set():
            attempt(self.cluster, lambda connection: self._work(Api(connection), until))

    def _work(self, api: Api, until: threading.Event) -> None:
        while not until.is_set():
            jobs = api.claim_jobs(worker="torture", max_jobs=5, lease="3 seconds")
            for job in jobs:
                held = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
                self._number += 1
                try:
                    api.complete_job(**held, result=result_of(job, memory=f"Learned {self._number} {job.job_id}"))
                    self.done.add((job.user_id, job.job_id))
                except psycopg.Error as error:
                    if isinstance(error, psycopg.OperationalError):
                        raise
                    if error.sqlstate != "AM001":  # the lease ran out while the server was down
                        self.problems.append(f"complete_job: {error}")
            if not jobs:
                time.sleep(0.02)

    def losses(self, connection: psycopg.Connection[Any]) -> Iterator[str]:
        yield from self.problems
        users, jobs = [user for user, _ in self.done], [job for _, job in self.done]
        # A completed job that names a memory which was forgotten is removed with the memory.
        rows = connection.execute(
            "select j.user_id, j.job_id, j.status from unnest(%s::text[], %s::bigint[]) as d (user_id, job_id)"
            " join memory.jobs as j using (user_id, job_id) where j.status <> 'completed'",
            [users, jobs],
        ).fetchall()
        if rows:
            yield f"{len(rows)} jobs were completed and are not any more, such as {rows[0]}"
        rows = connection.execute(
            "select j.user_id, sum((j.result ->> 'inserted')::int) as inserted from memory.jobs as j"
            " where j.kind = 'extract_memories' and j.status = 'completed' group by 1"
            " having sum((j.result ->> 'inserted')::int) > (select count(*) from memory.memories as m"
            " where m.user_id = j.user_id and m.source = 'extraction')"
        ).fetchall()
        if rows:
            yield f"{len(rows)} users lack extracted memories that jobs have stored, such as {rows[0]}"


class Load:
    """Everybody who works on a server at once, over several blocks."""

    def __init__(self, cluster: Cluster, clients: int = CLIENTS) -> None:
        self._cluster = cluster
        with cluster.connect() as connection:
            settings = {
                "memories": {"max_per_agent": 1000000},
                "cadence": {"fact_extraction_every_n": 5},
                "summary": {"when": "each_round"},
                "compression": {"threshold_tokens": 3000},
                "models": {"translates": True},  # results have no words of the messages
            }
            Memory(connection).admin.set_policy(settings)
        self.clients = [Client(cluster.conninfo(), number) for number in range(clients)]
        self.worker = JobClient(cluster)
        self._crashes: list[str] = []

    @property
    def acknowledged(self) -> int:
        """How many writes and jobs were acknowledged so far."""
        return acknowledged(self.clients) + len(self.worker.done)

    @property
    def failures(self) -> Counter[str]:
        """How many calls failed and were repeated, by the kind of error."""
        return sum((client.failures for client in self.clients), Counter())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Load until the end of the block, and until the server answers again and a moment longer."""
        until = threading.Event()
        runs = [*(client.run for client in self.clients), self.worker.run, self._sweep]
        threads = [threading.Thread(target=self._guarded, args=[run, until]) for run in runs]
        for thread in threads:
            thread.start()
        try:
            yield
            self._cluster.connect().close()
            time.sleep(0.2)
        finally:
            until.set()
            for thread in threads:
                thread.join()

    def problems(self, may_hide: bool = False) -> list[str]:
        """What was acknowledged and is lost, and whatever is half done or miscounted; ``may_hide``: see losses()."""
        with self._cluster.connect() as connection:
            return [
                *self._crashes,
                *losses(connection, self.clients, may_hide),
                *self.worker.losses(connection),
                *audit.problems(connection),
            ]

    def move_to(self, cluster: Cluster) -> None:
        """Go on at another server."""
        self._cluster = self.worker.cluster = cluster
        for client in self.clients:
            client.move_to(cluster.conninfo())

    def _sweep(self, until: threading.Event) -> None:
        def sweep(connection: psycopg.Connection[Any]) -> None:
            while not until.is_set():
                connection.execute("select memory.sweep(100)")

        while not until.is_set():
            attempt(self._cluster, sweep)

    def _guarded(self, work: Callable[[threading.Event], None], until: threading.Event) -> None:
        try:
            work(until)
        except Exception as error:
            self._crashes.append(f"{work.__qualname__}: {type(error).__name__}: {error}")
