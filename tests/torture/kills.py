"""SIGKILL in a write, job, sweep, erasure or upgrade: what was acknowledged is there, and nothing is half done."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.install.upgrades import altered
from tests.support.installer import build_version
from tests.support.sqlapi import Api
from tests.torture import audit
from tests.torture.cluster import DATABASE, VICTIMS, Cluster
from tests.torture.load import Load

OLD, OLD_TEMPLATE, NEW = "torture_old", "torture_old_template", "torture_new"

PHASES = {
    "writes": r'^torture .*memory"?[.]"?(add_|store_|delete_memory|restore_|supersede_)',
    "jobs": r'^torture .*memory"?[.]"?(claim_jobs|complete_job)',
    "sweep": r"^torture .*memory[.]sweep",
    "erasure": r'^torture .*memory"?[.]"?forget_',
    "upgrade": f"^{OLD} ",
}
"""What the killed server is doing, by the database and the text of the statement."""


class Kills:
    """Rounds of load with a kill in each, on one database, whose rows become more and more."""

    def __init__(self, cluster: Cluster) -> None:
        self.kills: Counter[str] = Counter()
        self.problems: list[str] = []
        self.missed = 0
        """Rounds in which the server was not caught at the work that was to be interrupted."""
        self._cluster = cluster
        self._chance = random.Random(4711)
        self._later = ""
        """The install file of a later version, once the databases are there that are upgraded by this file."""
        self.load = Load(cluster)

    def round(self, number: int) -> None:
        """Kill once, in the phase and the process whose turn it is, and look at what is left."""
        phase = list(PHASES)[number % len(PHASES)]
        victim = VICTIMS[number % len(VICTIMS)]
        load = self._upgrade if phase == "upgrade" else self.load.running
        with load():
            time.sleep(self._chance.uniform(0, 0.6))
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
    def _upgrade(self) -> Iterator[None]:
        """The install file of a later version on a database of this one."""
        if not self._later:
            self._later = make_versions(self._cluster)
        self._cluster.create(OLD, OLD_TEMPLATE)

        def upgrade() -> None:
            with suppress(psycopg.OperationalError), self._cluster.connect(OLD) as connection:
                connection.execute(self._later.encode())

        thread = threading.Thread(target=upgrade)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def _look(self, phase: str) -> list[str]:
        return list(look_at_upgrade(self._cluster, self._later)) if phase == "upgrade" else self.load.problems()


def make_versions(cluster: Cluster) -> str:
    """Make a database with rows, to be upgraded again and again, and one of a later version, whose file is returned."""
    cluster.create(OLD_TEMPLATE)
    with cluster.connect(OLD_TEMPLATE) as connection:
        api = Api(connection)
        for number in range(20):
            api.talk(f"user {number % 5}", f"thread {number}", rounds=5)
            api.add_memory(user_id=f"user {number % 5}", content=f"Fact {number}")
            api.store_artifact(user_id="user 0", content=f"Line {number}\n" * 1000, key=f"a{number}")
    with tempfile.TemporaryDirectory() as folder:
        later = build_version(Path(folder), altered())
    cluster.create(NEW, "template0")
    with cluster.connect(NEW) as connection:
        connection.execute("create extension vector")
        connection.execute(later.encode())
    return later


def look_at_upgrade(cluster: Cluster, later: str) -> Iterator[str]:
    """All of the old version or all of the new one, with every row; then the upgrade must succeed.

    An upgrade that was killed may leave doors before the functions of the old version (sql/door.sql): calls pass them,
    and memory._door() takes them away.
    """
    counts = "select (select count(*) from memory.messages), (select count(*) from memory.memories)"
    with cluster.connect(OLD) as connection, cluster.connect(NEW) as fresh:
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
        if connection.execute("select from pg_proc where proname = '_door'").rowcount:
            if (said := len(Api(connection).get_messages(user_id="user 0", thread_id="thread 0"))) != 10:
                yield f"through an open door a thread has {said} messages"
            connection.execute("call memory._door()")
        found = set(connection.execute(shape).fetchall())
        if found not in (old, new):
            yield f"half an upgrade: {len(found ^ old)} objects are not old ones, {len(found ^ new)} not new ones"
        if (rows := connection.execute(counts).fetchone()) != (200, 20):
            yield f"after an upgrade there are {rows} messages and memories"
        connection.execute(later.encode())
        if missing := new ^ set(connection.execute(shape).fetchall()):
            yield f"after a repeated upgrade {len(missing)} objects are not new ones, such as {missing.pop()}"
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
