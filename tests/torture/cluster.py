"""A server that is killed and started again, and what of it is killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil
import psycopg

from tests.support.servers import Kind, Server, install_agent_memory, running_server

DATABASE = "torture"
TEMPLATE = "torture_template"
PATIENCE_SECONDS = 300.0
"""A server may take minutes to restart on a busy machine."""

# Killed processes lose nothing that the operating system has; synchronous_commit makes sure that it has it.
SETTINGS = {
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "60",
    "log_min_messages": "fatal",
}

Victim = Literal["postmaster", "server", "backend"]
"""Who gets SIGKILL: the first process alone, all processes at once, or one that works for a client."""
VICTIMS: tuple[Victim, ...] = ("postmaster", "server", "backend")


@dataclass
class Cluster:
    """A running server, with what is needed to kill it."""

    server: Server
    pid_file: Path
    chance: random.Random = field(default_factory=lambda: random.Random(17))

    def connect(self, database: str = DATABASE, **options: Any) -> psycopg.Connection[Any]:
        """Connect, as soon as the server answers again."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return psycopg.connect(self.server.conninfo(database), autocommit=True, **options)
            except psycopg.OperationalError:  # noqa: PERF203  # the next attempt follows
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.05)

    def conninfo(self, database: str = DATABASE) -> str:
        return self.server.conninfo(database)

    def create(self, database: str, template: str = TEMPLATE) -> str:
        """A fresh database; its connection string."""
        with self.connect("postgres") as admin:
            admin.execute(f"drop database if exists {database} with (force)")
            admin.execute(f"create database {database} template {template} strategy file_copy")
        return self.conninfo(database)

    def kill(self, victim: Victim, backend: int) -> None:
        """SIGKILL, and start the server again if it has to be."""
        if victim == "backend":  # the postmaster ends all others and starts again by itself
            with self.connect("postgres") as witness, suppress(ProcessLookupError, psycopg.OperationalError):
                os.kill(backend, signal.SIGKILL)
                give_up = time.monotonic() + 10
                while time.monotonic() < give_up:  # until the crash has been seen
                    witness.execute("select 1")
                    time.sleep(0.01)
            return
        self.kill_server(with_children=victim == "server")
        self.server.restart()

    def postmaster(self) -> psutil.Process:
        """The server's first process."""
        return psutil.Process(int(self.pid_file.read_text().split()[0]))

    def kill_server(self, with_children: bool = True, postmaster: psutil.Process | None = None) -> None:
        """SIGKILL to the postmaster, and to all its processes; returns when they have ended."""
        postmaster = postmaster or self.postmaster()
        children = postmaster.children(recursive=True)
        for process in [postmaster, *(children if with_children else [])]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        # Without the postmaster the others end by themselves, those that work at the end of their statement.
        psutil.wait_procs(children, timeout=PATIENCE_SECONDS)
        psutil.wait_procs([postmaster], timeout=PATIENCE_SECONDS)

    def busy_with(self, work: str, patience: float) -> int | None:
        """A backend whose database and statement match this pattern; none if there is none for so long."""
        give_up = time.monotonic() + patience
        with self.connect("postgres") as watcher:
            while time.monotonic() < give_up:
                rows = watcher.execute(
                    "select pid from pg_stat_activity"
                    " where state = 'active' and datname || ' ' || query ~ %s and pid <> pg_backend_pid()",
                    [work],
                ).fetchall()
                if rows:
                    pid: int = self.chance.choice(rows)[0]
                    return pid
                time.sleep(0.001)
        return None


@contextmanager
def running_cluster(
    kind: Kind, settings: dict[str, str] | None = None, environment: dict[str, str] | None = None
) -> Iterator[Cluster]:
    """A cluster with a database that has agent_memory, and a template for further ones."""
    with running_server(kind, {**SETTINGS, **(settings or {})}, environment) as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute(f"create database {TEMPLATE}")
            row = connection.execute("show data_directory").fetchone()
            assert row is not None
        install_agent_memory(server, TEMPLATE)
        cluster = Cluster(server, Path(row[0], "postmaster.pid"))
        cluster.create(DATABASE)
        yield cluster
