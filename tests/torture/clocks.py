"""Steps of the server's clock under load, forwards and backwards: nothing is lost, doubled or stuck for ever.

libfaketime stands between the server and the clock of the machine. The clients' clocks are right. Steps are of a day at
most, because a sweep believes the clock: after a step of more than seven days it would remove messages as expired.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers import Kind
from tests.support.sqlapi import Api
from tests.torture.cluster import Cluster, running_cluster
from tests.torture.load import Load

STEPS_SECONDS = (-86_400, -3_600, -60, -1, 1, 60, 3_600, 86_400)


class ClockUnavailableError(RuntimeError):
    """libfaketime is missing."""


def library() -> Path:
    """The library of Debian's package libfaketime; raises ClockUnavailableError where it is missing."""
    found = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if found is None:
        raise ClockUnavailableError("libfaketime is missing; run as root: apt-get install libfaketime")
    return found


@contextmanager
def cluster_with_a_clock(kind: Kind) -> Iterator[tuple[Cluster, Path]]:
    """A cluster, and the file that says by how many seconds its clock is off."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        offset = Path(folder, "offset")
        offset.write_text("+0\n")
        environment = {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(offset),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",  # which only measures; the kernel never steps that clock
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        with running_cluster(kind, environment=environment) as cluster:
            yield cluster, offset


def check_clock(cluster: Cluster, offset: Path) -> None:
    """Raise ClockUnavailableError unless the server's clock follows the file."""
    offset.write_text("-3600\n")
    with cluster.connect() as connection:
        row = connection.execute("select extract(epoch from clock_timestamp())::float8").fetchone()
    offset.write_text("+0\n")
    if row is None or not 3500 < time.time() - row[0] < 3700:
        raise ClockUnavailableError("libfaketime does not reach this server's clock")


def run(kind: Kind, steps: int, seconds_between: float = 0.5) -> tuple[Load, list[str]]:
    """So many steps under load; the load, and what is wrong at the end."""
    chance = random.Random(17)
    with cluster_with_a_clock(kind) as (cluster, offset):
        check_clock(cluster, offset)
        load = Load(cluster)
        with load.running():
            for _ in range(steps):
                offset.write_text(f"{chance.choice(STEPS_SECONDS):+d}\n")
                time.sleep(seconds_between)
            offset.write_text("+0\n")
        # What was restored while the clock was ahead seems to be restored after its winner was deleted, and is hidden
        # again when the winner is restored (docs/reliability.md).
        problems = load.problems(may_hide=True)
        # What was queued, leased or put off while the clock was ahead is due once the clock has got there.
        offset.write_text("+172800\n")
        with cluster.connect() as connection:
            api = Api(connection)
            while api.finish_jobs():
                pass
            left = api.query("select kind, status, error from memory.jobs where status in ('pending', 'running')")
            problems += [f"{len(left)} jobs are stuck, such as {left[0]}"] if left else []
        return load, problems
