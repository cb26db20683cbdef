"""The primary is killed under load and its synchronous standby promoted: nothing acknowledged is lost."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.support.servers import END, Kind
from tests.torture.cluster import PATIENCE_SECONDS, Cluster, running_cluster
from tests.torture.load import Load


class StandbyUnavailableError(RuntimeError):
    """This installation lacks the programs for a standby."""


def run(kind: Kind, seconds: float) -> tuple[Load, list[str]]:
    """Load on the primary, then on the promoted standby; the load, and what is wrong."""
    settings = {"wal_level": "replica", "max_wal_senders": "4"}
    with running_cluster(kind, settings) as primary, standby_of(primary) as standby:
        wait_for_sync(primary)
        load = Load(primary)
        with load.running():
            time.sleep(seconds)
            primary.kill_server()
            with standby.connect("postgres") as connection:
                connection.execute("select pg_promote()")
            load.move_to(standby)
            time.sleep(seconds)
        return load, load.problems()


@contextmanager
def standby_of(primary: Cluster) -> Iterator[Cluster]:
    """A streaming standby of a server."""
    bin_dir, owner = primary.server.bin_dir, primary.pid_file.stat()
    if not (bin_dir / "pg_basebackup").exists():
        raise StandbyUnavailableError("this server comes without pg_basebackup")
    directory = Path(tempfile.mkdtemp(prefix="agent-memory-standby-", dir="/tmp"))
    data = directory / "data"
    # The same end as that of other test servers, however this process ends.
    end = subprocess.Popen(
        ["sh", "-c", END, "sh", data, directory],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        shutil.chown(directory, owner.st_uid, owner.st_gid)

        def program(name: str, *arguments: str) -> None:
            subprocess.run(
                [bin_dir / name, "--pgdata", data, *arguments],
                check=True,
                cwd=directory,
                env=dict(primary.server.env),
                user=owner.st_uid,
                group=owner.st_gid,
                extra_groups=[],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        program(
            "pg_basebackup", f"--dbname={primary.conninfo('postgres')}", "--write-recovery-conf", "--checkpoint=fast"
        )
        with (data / "postgresql.auto.conf").open("a") as conf:
            conf.write(f"unix_socket_directories = '{directory}'\n")
        program("pg_ctl", f"--log={directory / 'server.log'}", "--wait", "start")
        yield Cluster(replace(primary.server, host=str(directory)), data / "postmaster.pid")
    finally:
        assert end.stdin is not None
        end.stdin.close()
        end.wait()


def wait_for_sync(primary: Cluster) -> None:
    """Have the primary acknowledge a commit when its standby has the commit."""
    with primary.connect("postgres") as connection:
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
        give_up = time.monotonic() + PATIENCE_SECONDS
        while connection.execute("select from pg_stat_replication where sync_state = 'sync'").rowcount == 0:
            if time.monotonic() > give_up:
                raise TimeoutError("the standby does not follow")
            time.sleep(0.05)
