"""Workers and clients of the first release beside those of this version, on one upgraded database."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.releases import RELEASES, command, environment, install_script
from tests.support.servers import INSTALL_SQL
from tests.support.sqlapi import Api
from tests.torture.cluster import DATABASE, Cluster
from tests.torture.load import Load

RELEASE = RELEASES[0]
CALLER = Path(__file__).parents[1] / "upgrade" / "caller.py"
PATIENCE_SECONDS = 60.0


def run(cluster: Cluster, seconds: float) -> tuple[Load, int, list[str]]:
    """Load for so long; the load, how many jobs the two workers did, and what is wrong."""
    conninfo = cluster.create(DATABASE, "template0")
    with cluster.connect() as connection:
        connection.execute("create extension vector")
        connection.execute(install_script(RELEASE).encode())
        connection.execute(INSTALL_SQL.read_bytes())
    load = Load(cluster)
    old = environment(RELEASE)
    with ExitStack() as stack:
        worker = stack.enter_context(process([*command("worker"), "--dsn", conninfo, "--lease", "5"], old))
        new = [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", conninfo, "--lease", "5"]
        stack.enter_context(process(new, None))
        caller = stack.enter_context(process([sys.executable, str(CALLER), conninfo, "old thread"], old))
        with load.running():
            time.sleep(seconds)
        told, _ = caller.communicate(timeout=PATIENCE_SECONDS)  # the end of its input ends it
        problems = [f"the client of {RELEASE}: {error}" for error in json.loads(told.splitlines()[-1])["errors"]]
        worker.terminate()
        worker.wait(PATIENCE_SECONDS)
        done, left = finish(cluster)
    return load, done, [*problems, *left, *load.problems()]


def finish(cluster: Cluster) -> tuple[int, list[str]]:
    """Wait until the new worker has done what is left; how many jobs were done, and what was not."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    with cluster.connect() as connection:
        # The old worker has put off jobs of a kind that it does not know.
        connection.execute("update memory.jobs set run_after = now() where status = 'pending'")
        api = Api(connection)
        left = "select kind, status, error from memory.jobs where status <> 'completed'"
        while rows := api.query(left):
            if time.monotonic() > give_up:
                break
            time.sleep(0.2)
        done = api.value("select count(*) from memory.jobs where status = 'completed'")
        return done, [f"{len(rows)} jobs are not done, such as {rows[0]}"] if rows else []


@contextmanager
def process(arguments: list[str], environment: dict[str, str] | None) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs until the end of the block."""
    started = subprocess.Popen(
        arguments,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        for stream in (started.stdin, started.stdout):
            if stream is not None:
                stream.close()
