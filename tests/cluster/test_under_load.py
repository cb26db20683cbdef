"""Three servers under load while they are killed, moved, split and upgraded: each acknowledged message exactly once."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from agent_memory import AgentMemoryError, Memory
from agent_memory.cluster import checks, nodes
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.cluster.load import Load, misplaced, misread
from tests.install.upgrades import PART
from tests.support.installer import build_version
from tests.support.servers import Kind, running_server
from tests.torture.cluster import SETTINGS, VICTIMS, Cluster
from tests.torture.promotion import standby_of

pytestmark = pytest.mark.feature("F14", "E14")

PARTITIONS = 16
SECONDS = 600
PATIENCE = 60.0
"""Seconds in which a command succeeds that is run again and again."""
LATER_TABLES = "alter table memory.messages add column extra text; alter table memory.jobs add extra int;"
# A standby connects to its primary with these, and a busy machine may be slow.
STREAMING = {**SETTINGS, "wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on"}


def place(dsn: str) -> str:
    known = conninfo_to_dict(dsn)
    return make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname")})


class Events:
    """What happens to a cluster under load.

    Args:
        servers: the nodes by name.
        standby: a standby of node c, which is to become node d.
        folder: for files.
    """

    def __init__(self, servers: dict[str, Cluster], standby: Cluster, folder: Path) -> None:
        self.servers = servers
        self.dsn = {name: server.conninfo("postgres") for name, server in servers.items()}
        self.counts: dict[str, int] = {}
        self._standby = standby.conninfo("postgres")
        self._folder = folder
        self._chance = random.Random(28)

    def count(self, event: str) -> None:
        self.counts[event] = self.counts.get(event, 0) + 1

    def command(self, *arguments: str, kill_after: float | None = None) -> None:
        """Run a command of the cluster until it succeeds, as an administrator would; the first one may be killed."""
        end = time.monotonic() + PATIENCE
        while True:
            dsn = self.dsn[self._chance.choice("abc")]
            process = subprocess.Popen(
                [sys.executable, "-m", "agent_memory.cli", "cluster", *arguments],
                env={**os.environ, "AGENT_MEMORY_DSN": dsn},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
            )
            try:
                _, errors = process.communicate(timeout=PATIENCE if kill_after is None else kill_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                _, errors = process.communicate()
                self.count("command killed")
                kill_after = None
            if process.returncode == 0:
                self.count(arguments[0])
                return
            if time.monotonic() > end:
                raise TimeoutError(f"{' '.join(arguments)}: {errors}")
            kill_after = None
            time.sleep(0.2)

    def move(self, *, is_killed: bool) -> None:
        partition, target = self._chance.randrange(PARTITIONS), self._chance.choice(list(self.dsn))
        kill_after = self._chance.uniform(0.5, 2.5) if is_killed else None
        self.command("move", "--partition", str(partition), "--to", target, kill_after=kill_after)

    def kill(self) -> None:
        """SIGKILL a server, or a process of one; it starts again."""
        name, victim = self._chance.choice("abc"), self._chance.choice(VICTIMS)
        server = self.servers[name]
        with server.connect("postgres") as connection:
            found = connection.execute(
                "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
            ).fetchall()
        if victim == "backend" and not found:
            victim = "server"
        server.kill(victim, found[0][0] if found else 0)
        self.count(f"{victim} killed")

    def upgrade(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Install a later version on all nodes by the command, in this process, whose package has that version then."""
        from agent_memory.cli import cluster

        later = build_version(self._folder, {PART: LATER_TABLES}).encode()
        with monkeypatch.context() as patch:
            patch.setattr("agent_memory.install.sql_file", lambda *_, **__: later)
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    cluster.install(dsn=self.dsn["a"])
                    break
                except (AgentMemoryError, psycopg.Error):
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.2)
        self.count("upgrade")

    def split(self) -> None:
        file = self._folder / "nodes.toml"
        names = {**self.dsn, "d": self._standby}
        file.write_text("".join(f'[nodes.{name}]\ndsn = "{place(dsn)}"\n' for name, dsn in names.items()))
        self.command("add", "--file", str(file))
        self.command("split", "c", "--to", "d", kill_after=1.5)
        self.dsn["d"] = self._standby


@pytest.fixture
def events(server_kind: Kind, tmp_path: Path) -> Iterator[Events]:
    with contextlib.ExitStack() as stack:
        servers = {}
        for name in "abc":
            server = stack.enter_context(running_server(server_kind, STREAMING))
            with psycopg.connect(server.conninfo(), autocommit=True) as connection:
                connection.execute("create extension vector")
                [[data]] = connection.execute("show data_directory").fetchall()
            servers[name] = Cluster(server, Path(data, "postmaster.pid"))
        if not (server.bin_dir / "pg_basebackup").exists():
            pytest.skip("this server comes without pg_basebackup")
        dsn = {name: server.conninfo("postgres") for name, server in servers.items()}
        owners = [name for name in "abc" for _ in range(PARTITIONS)][::3]
        nodes.begin({name: place(each) for name, each in dsn.items()}, owners, dsn["a"])
        with Memory(dsn["a"]) as memory:
            memory.admin.set_policy({"models": {"translates": True}})  # the worker's memories have no words of messages
        yield Events(servers, stack.enter_context(standby_of(servers["c"])), tmp_path)


def check(events: Events, load: Load) -> None:
    assert load.problems == []
    with nodes.opened(events.dsn["a"]) as opened:
        assert list(checks.check(opened)) == []
    assert misplaced(load, list(events.dsn.values())) == []
    assert misread(load, list(events.dsn.values())) == []
    assert load.acknowledged > 100
    assert load.done.completed > 10


@pytest.mark.nightly
def test_each_of_them_once(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(list(events.dsn.values()), writers=3)
    with load.running():
        events.move(is_killed=True)
        killing = threading.Thread(target=events.kill)
        killing.start()
        events.upgrade(monkeypatch)
        killing.join()
        events.split()
    check(events, load)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_for_ten_minutes(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(list(events.dsn.values()), writers=6)
    chance = random.Random(6)
    plan: dict[float, Callable[[], None]] = {200: lambda: events.upgrade(monkeypatch), 350: events.split}
    begun = time.monotonic()
    with load.running():
        while (now := time.monotonic() - begun) < SECONDS:
            killing = threading.Timer(chance.uniform(0, 3), events.kill)
            if chance.random() < 0.6:
                killing.start()
            due = [moment for moment in plan if moment < now]
            if due:
                plan.pop(due[0])()
            else:
                events.move(is_killed=chance.random() < 0.5)
            if killing.ident is not None:
                killing.join()
    print(events.counts, load.acknowledged, load.repeated, load.longest, load.done)  # for docs/cluster.md
    check(events, load)
    assert {"upgrade", "split", "move", "command killed"} <= events.counts.keys()
