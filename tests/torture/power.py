"""Power cuts: all that no process has synced is lost, as when the machine has no power any more.

The data directory stands on a file system of its own (ext4 in a file). FS_IOC_SHUTDOWN stops that file system without
writing anything more: what it holds in memory, its journal too, is gone when it is mounted again. That needs root.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers import Kind
from tests.torture import intact
from tests.torture.cluster import PATIENCE_SECONDS, Cluster, running_cluster
from tests.torture.load import Load

FS_IOC_SHUTDOWN, WITHOUT_LOG = 0x8004587D, 2
MEGABYTES = 2048
# Checkpoints come often, so that cuts hit them, and files of the log are used again.
SETTINGS = {"fsync": "on", "min_wal_size": "32MB", "max_wal_size": "32MB", "checkpoint_timeout": "30s"}


class PowerUnavailableError(RuntimeError):
    """No file system can be mounted here whose power can be cut."""


class Disk:
    """A mounted file system in a file, which can lose what was not synced."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.folder = folder
        self._image = image

    def mount(self) -> None:
        command("mount", "-o", "loop", str(self._image), str(self.folder))

    def cut(self) -> None:
        """From now on nothing is written, and nothing that was not synced is ever read again."""
        witness = os.open(self.folder, os.O_RDONLY)
        try:
            (self.folder / "unsynced").write_text("lost")
            fcntl.ioctl(witness, FS_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(witness)

    def mount_again(self) -> list[str]:
        """Once no process uses it; says so if the file that nobody synced is there, because then no power was cut."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while subprocess.run(["umount", self.folder], check=False, capture_output=True).returncode:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{self.folder} is in use")
            time.sleep(0.05)
        self.mount()
        return ["a file that nobody had synced is there"] if (self.folder / "unsynced").exists() else []


def run(kind: Kind, cuts: int) -> tuple[Load, list[str]]:
    """So many cuts under load; the load, and what is wrong after each of them."""
    chance, problems = random.Random(17), []
    with disk() as power, running_cluster(kind, SETTINGS) as cluster:
        move_data(cluster, power.folder)
        load = Load(cluster)
        for number in range(cuts):
            with load.running():
                time.sleep(chance.uniform(0.5, 3))
                postmaster = cluster.postmaster()
                power.cut()
                cluster.kill_server(postmaster=postmaster)
                found = power.mount_again()
                cluster.server.restart()
            with cluster.connect() as connection:
                found += [*load.problems(), *intact.problems(connection)]
            problems += [f"cut {number}: {problem}" for problem in found]
        cluster.kill_server()
    return load, problems


@contextmanager
def disk() -> Iterator[Disk]:
    """A file system that belongs to nobody else."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "mount", "umount"))):
        raise PowerUnavailableError("only root can mount a file system, and mkfs.ext4 makes one")
    directory = Path(tempfile.mkdtemp(prefix="agent-memory-power-", dir="/tmp"))
    directory.chmod(0o755)
    try:
        image, folder = directory / "image", directory / "disk"
        folder.mkdir()
        with image.open("wb") as stream:
            stream.truncate(MEGABYTES << 20)
        command("mkfs.ext4", "-q", "-F", str(image))
        power = Disk(image, folder)
        power.mount()
        try:
            yield power
        finally:
            command("umount", "--lazy", str(folder))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def move_data(cluster: Cluster, folder: Path) -> None:
    """Put the whole data directory on that file system."""
    data = cluster.pid_file.parent
    cluster.kill_server()
    command("cp", "-a", str(data), str(folder / "data"))
    shutil.rmtree(data)
    data.symlink_to(folder / "data")
    command("sync", "-f", str(folder))
    cluster.server.restart()


def command(*arguments: str) -> None:
    done = subprocess.run(arguments, check=False, capture_output=True, text=True)
    if done.returncode:
        raise PowerUnavailableError(f"{arguments[0]} fails here: {done.stderr.strip()}")
