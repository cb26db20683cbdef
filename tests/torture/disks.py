"""The disk becomes full under load, that of the data or that of the write-ahead log, and gets room again.

A small disk is a tmpfs, which only root may mount. While the disk is full, calls fail and are repeated.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psycopg

from tests.support.servers import Kind
from tests.torture.cluster import DATABASE, PATIENCE_SECONDS, TEMPLATE, Cluster, running_cluster
from tests.torture.load import Load

MEGABYTES = {"data": 60, "log": 128}
Disk = Literal["data", "log"]


class DiskUnavailableError(RuntimeError):
    """No small disk can be mounted here."""


def run(kind: Kind, seconds: float) -> Iterator[tuple[Disk, Load, int, list[str]]]:
    """For each disk: load while it is full; how many connections found no server, and what is wrong."""
    # Little is kept of the log, so that it needs new files soon.
    settings = {"min_wal_size": "32MB", "max_wal_size": "32MB"}
    with (
        small_disk(MEGABYTES["data"]) as data,
        small_disk(MEGABYTES["log"]) as log,
        running_cluster(kind, settings) as cluster,
    ):
        move_data(cluster, data)
        yield "data", *full(cluster, "data", data, seconds)
        cluster.create(DATABASE)  # on the server's own disk
        move_log(cluster, log)
        yield "log", *full(cluster, "log", log, seconds)


def full(cluster: Cluster, disk: Disk, folder: Path, seconds: float) -> tuple[Load, int, list[str]]:
    """Load before, while and after the disk of this folder is full."""
    load = Load(cluster)
    with load.running():
        time.sleep(seconds)
        ballast = folder / "ballast"
        refused = 0
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not (refused if disk == "log" else load.failures["DiskFull"]) and time.monotonic() < give_up:
            fill(ballast)
            if disk == "log":
                write_log(cluster)
            refused += is_refused(cluster)
            time.sleep(0.05)
        time.sleep(seconds)
        ballast.unlink()
        start_if_down(cluster)
        time.sleep(seconds)
    return load, refused, load.problems()


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A folder that holds so much."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        raise DiskUnavailableError("only root can mount a small disk")
    folder = Path(tempfile.mkdtemp(prefix="agent-memory-disk-", dir="/tmp"))
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "tmpfs", folder],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if mounted.returncode != 0:
            raise DiskUnavailableError(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        folder.rmdir()


def move_data(cluster: Cluster, folder: Path) -> None:
    """Put the database on the small disk."""
    place = folder / "tablespace"
    place.mkdir()
    owner = cluster.pid_file.stat()
    os.chown(place, owner.st_uid, owner.st_gid)
    with cluster.connect("postgres") as admin:
        admin.execute(f"create tablespace small location '{place}'")
        admin.execute(f"drop database {DATABASE} with (force)")
        admin.execute(f"create database {DATABASE} template {TEMPLATE} tablespace small strategy file_copy")


def move_log(cluster: Cluster, folder: Path) -> None:
    """Put the write-ahead log on the small disk."""
    cluster.kill_server()
    log = cluster.pid_file.parent / "pg_wal"
    shutil.move(log, folder / "pg_wal")
    owner = cluster.pid_file.stat()
    for path in (folder / "pg_wal", *(folder / "pg_wal").rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    log.symlink_to(folder / "pg_wal")
    cluster.server.restart()


def fill(ballast: Path) -> None:
    """Take what room there is."""
    with suppress(OSError), ballast.open("ab", buffering=0) as stream:
        while True:
            stream.write(bytes(1 << 16))


def write_log(cluster: Cluster) -> None:
    """Make the server need a new file for its log."""
    with suppress(psycopg.OperationalError), psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
        connection.execute("select pg_logical_emit_message(false, 'ballast', repeat('x', 20000000))")


def is_refused(cluster: Cluster) -> bool:
    try:
        psycopg.connect(cluster.conninfo()).close()
    except psycopg.OperationalError:
        return True
    return False


def start_if_down(cluster: Cluster) -> None:
    """A server that could not write its log has stopped, and is started as an administrator would."""
    time.sleep(0.5)
    if is_refused(cluster):
        with suppress(RuntimeError):  # it has just started by itself
            cluster.server.restart()
