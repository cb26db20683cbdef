"""PgBouncer before a test's database."""

from __future__ import annotations

import contextlib
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import Server

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
needs_pgbouncer = pytest.mark.skipif(PGBOUNCER is None, reason='needs PgBouncer: run "make pgbouncer" as root')


@contextlib.contextmanager
def bouncing(server: Server, dsn: str, user: str, **settings: str) -> Iterator[str]:
    """Run PgBouncer in transaction mode with one server connection; yield where it listens for this user."""
    assert PGBOUNCER is not None
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir=server.host))  # the path of a socket must be short
    (folder / "users").write_text(f'"{user}" ""\n')
    options = {
        "pool_mode": "transaction", "default_pool_size": "1", "auth_type": "trust",
        "auth_file": folder / "users", "unix_socket_dir": folder, "listen_port": "6432", **settings,
    }  # fmt: skip
    database = f"* = host={server.host} port={server.port}"
    lines = ["[databases]", database, "[pgbouncer]", *(f"{name} = {value}" for name, value in options.items())]
    (folder / "pgbouncer.ini").write_text("\n".join(lines))
    command = [PGBOUNCER, "--quiet", str(folder / "pgbouncer.ini")]
    owner = folder.parent.stat().st_uid
    if owner != 0 and Path("/proc/self").stat().st_uid == 0:  # it refuses to run as root
        shutil.chown(folder, owner)
        command[1:1] = ["--user", pwd.getpwuid(owner).pw_name]
    there = make_conninfo("", host=str(folder), port=6432, user=user, dbname=conninfo_to_dict(dsn)["dbname"])
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(there))
        yield there
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(there: str) -> bool:
    try:
        psycopg.connect(there).close()
    except psycopg.OperationalError:
        return False
    return True
