"""SIGKILL in the middle of a write, a job, a sweep, an upgrade: what was acknowledged is there, nothing is half done."""

from __future__ import annotations

import lzma
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from agent_memory import Memory

from tests.support.servers import INSTALL_SQL, ROOT
from tests.support.sqlapi import Api, result_of
from tests.torture import audit
from tests.torture.clients import Client, acknowledged, losses
from tests.torture.cluster import DATABASE, TEMPLATE, VICTIMS, Cluster

CLIENTS = 4
OLD, OLD_TEMPLATE = "torture_old", "torture_old_template"
FIRST_RELEASE = ROOT / "tests" / "install" / "releases" / "0.1.0.sql.xz"

PHASES = {
    "writes": r'^torture .*memory"?[.]"?(add_|store_|delete_memory|restore_|supersede_)',
    "jobs": r'^torture .*memory"?[.]"?(claim_jobs|complete_job)',
    "sweep": r"^torture .*memory[.]sweep",
    "upgrade": f"^{OLD} ",
}
"""What the killed server is doing, by the database and the text of the statement."""


class JobClient:
    """A worker without a model, by the protocol: what it was acknowledged stays done."""

    def __init__(self, cluster: Cluster) -> None:
        self.done: set[tuple[str, int]] = set()
        self.problems: list[str] = []
        self._cluster = cluster
        self._number = 0

    def run(self, until: threading.Event) -> None:
        while not until.is_set():
            with suppress(psycopg.OperationalError), self._cluster.connect() as connection:
                self._work(Api(connection), until)

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
        rows = connection.execute(
            "select d.* from unnest(%s::text[], %s::bigint[]) as d (user_id, job_id)"
            " left join memory.jobs as j using (user_id, job_id) where j.status is distinct from 'completed'",
            [users, jobs],
        ).fetchall()
        if rows:
            yield f"{len(rows)} jobs were completed and are not any more, such as {rows[0]}"


class Kills:
    """Rounds of load with a kill in each, on one database, whose rows become more and more."""

    def __init__(self, cluster: Cluster) -> None:
        self.kills: Counter[str] = Counter()
        self.problems: list[str] = []
        self.missed = 0
        """Rounds in which the server was not caught at the work that was to be interrupted."""
        self._cluster = cluster
        self._chance = random.Random(4711)
        with cluster.connect() as connection:
            settings = {
                "memories": {"max_per_agent": 1000000},
                "cadence": {"fact_extraction_every_n": 5},
                "summary": {"when": "each_round"},
                "compression": {"threshold_tokens": 3000},
            }
            Memory(connection).set_policy(settings)
        self.clients = [Client(cluster.conninfo(), number) for number in range(CLIENTS)]
        self.worker = JobClient(cluster)

    @property
    def acknowledged(self) -> int:
        return acknowledged(self.clients) + len(self.worker.done)

    def round(self, number: int) -> None:
        """Kill once, in the phase and the process whose turn it is, and look at what is left."""
        phase = list(PHASES)[number % len(PHASES)]
        victim = VICTIMS[number // len(PHASES) % len(VICTIMS)]
        load = self._upgrade if phase == "upgrade" else self._load
        with load():
            time.sleep(self._chance.uniform(0, 0.2))
            backend = self._cluster.busy_with(PHASES[phase], patience=10)
            if backend is None:
                self.missed += 1
                return
            if phase == "upgrade":
                time.sleep(self._chance.uniform(0, 3))
            self._cluster.kill(victim, backend)
            self.kills[f"{victim} in {phase}"] += 1
        self.problems += [f"round {number} ({victim} in {phase}): {problem}" for problem in self._look(phase)]

    @contextmanager
    def _load(self) -> Iterator[None]:
        """Clients, a worker and sweeps, until the end of the block and a moment longer."""
        until = threading.Event()
        runs = [*(client.run for client in self.clients), self.worker.run, self._sweep]
        threads = [threading.Thread(target=run, args=[until]) for run in runs]
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

    def _sweep(self, until: threading.Event) -> None:
        while not until.is_set():
            with suppress(psycopg.OperationalError), self._cluster.connect() as connection:
                while not until.is_set():
                    connection.execute("select memory.sweep(100)")

    @contextmanager
    def _upgrade(self) -> Iterator[None]:
        """The install file on a database of the first release."""
        if not self._exists(OLD_TEMPLATE):
            fill_first_release(self._cluster)
        self._cluster.create(OLD, OLD_TEMPLATE)

        def upgrade() -> None:
            with suppress(psycopg.OperationalError), self._cluster.connect(OLD) as connection:
                connection.execute(INSTALL_SQL.read_bytes())

        thread = threading.Thread(target=upgrade)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def _exists(self, database: str) -> bool:
        with self._cluster.connect("postgres") as admin:
            return admin.execute("select from pg_database where datname = %s", [database]).rowcount == 1

    def _look(self, phase: str) -> list[str]:
        if phase == "upgrade":
            return list(look_at_upgrade(self._cluster))
        with self._cluster.connect() as connection:
            return [
                *losses(connection, self.clients), *self.worker.losses(connection), *audit.problems(connection),
            ]  # fmt: skip


def fill_first_release(cluster: Cluster) -> None:
    """A database of version 0.1.0 with rows, to be upgraded again and again."""
    cluster.create(OLD_TEMPLATE, "template0")
    with cluster.connect(OLD_TEMPLATE) as connection:
        connection.execute("create extension vector")
        connection.execute(lzma.decompress(FIRST_RELEASE.read_bytes()))
        api = Api(connection)
        for number in range(20):
            api.talk(f"user {number % 5}", f"thread {number}", rounds=5)
            api.add_memory(user_id=f"user {number % 5}", content=f"Fact {number}")
            api.store_artifact(user_id="user 0", content=f"Line {number}\n" * 1000, key=f"a{number}")


def look_at_upgrade(cluster: Cluster) -> Iterator[str]:
    """All of the old version or all of the new one, with every row; then the upgrade must succeed."""
    counts = "select (select count(*) from memory.messages), (select count(*) from memory.memories)"
    with cluster.connect(OLD) as connection, cluster.connect(TEMPLATE) as fresh:
        shape = """
            select c.relname::text, a.attname::text, a.atttypid::regtype::text from pg_attribute as a
            join pg_class as c on c.oid = a.attrelid
            where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v', 'c')
              and a.attnum > 0 and not a.attisdropped
            union all
            select p.proname::text, pg_get_function_identity_arguments(p.oid), md5(p.prosrc) from pg_proc as p
            where p.pronamespace = 'memory'::regnamespace"""
        new = set(fresh.execute(shape).fetchall())
        with cluster.connect(OLD_TEMPLATE) as first:
            old = set(first.execute(shape).fetchall())
        found = set(connection.execute(shape).fetchall())
        if found not in (old, new):
            yield f"half an upgrade: {len(found ^ old)} objects are not the old ones, {len(found ^ new)} not the new ones"
        if (rows := connection.execute(counts).fetchone()) != (200, 20):
            yield f"after an upgrade there are {rows} messages and memories"
        connection.execute(INSTALL_SQL.read_bytes())
        if missing := new ^ set(connection.execute(shape).fetchall()):
            yield f"after the upgrade was repeated, {len(missing)} objects are not the new ones, such as {missing.pop()}"
        yield from audit.problems(connection)


def run(cluster: Cluster, rounds: int) -> Kills:
    """So many rounds; those that caught nobody are repeated, at most as many again."""
    cluster.create(DATABASE)
    kills = Kills(cluster)
    number = 0
    while sum(kills.kills.values()) < rounds and number < 2 * rounds:
        kills.round(number)
        number += 1
    return kills
