"""The commands that run a worker and say whether it is alive."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from .._extras import check_extra
from .._progress import progress
from ..worker import NodeWorkers, WorkerCounts
from ..worker.health import check_health
from ..worker.worker import LEASE
from .console import Dsn, database, export_telemetry, log_to_stderr
from .printing import console, plain, stderr


def worker(
    dsn: Dsn = None,
    node: Annotated[str | None, typer.Option(metavar="NODE", help="The only node of the cluster to serve.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Stop when no job is left to claim.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Model calls at the same time, of all nodes together.")] = 10,
    poll_interval: Annotated[float, typer.Option(min=0.01, help="Seconds between looks into an empty queue.")] = 1.0,
    lease: Annotated[
        float, typer.Option(min=1, help="Seconds after which the job of a worker that died is run again.")
    ] = LEASE.total_seconds(),
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that calls under way get to finish after SIGTERM.")
    ] = 0.5,
    listen: Annotated[
        bool, typer.Option("--listen", help="Look into the queue at once after: notify agent_memory_jobs.")
    ] = False,
    health_file: Annotated[Path | None, typer.Option(help='A file to keep current for "agent-memory health".')] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log a line for each job.")] = False,
) -> None:
    """Run queued model work beside the server, or beside the nodes of its cluster, until SIGTERM or SIGINT."""
    check_extra("worker", "a worker")
    # People who wait at a terminal see a bar; the log has a line about the progress now and then.
    waited_for = once and stderr.is_terminal
    level = logging.DEBUG if verbose else logging.WARNING if waited_for else logging.INFO
    log_to_stderr("%(asctime)s %(levelname)s %(message)s", level)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # the worker itself says that a database is away
    export_telemetry()
    with ExitStack() as stack:
        report = stack.enter_context(progress(stderr, "running jobs")) if waited_for else None
        runner = NodeWorkers(
            stack.enter_context(database(dsn)),
            node=node,
            concurrency=concurrency,
            poll_interval=poll_interval,
            lease=timedelta(seconds=lease),
            grace=grace,
            listen=listen,
            health_file=health_file,
            on_settled=report and (lambda counts, total: report(counts.settled, total)),
        )
        counts = asyncio.run(_work(runner, once=once))
    for line in runner.report():
        console.print(plain(line), soft_wrap=True)
    if once and counts.failed:
        raise typer.Exit(1)


def health(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The worker's --health-file.")],
    max_age: Annotated[float, typer.Option(min=1, help="Seconds; more than the worker's --poll-interval.")] = 60.0,
) -> None:
    """Say whether a worker is alive; status 1 when its file is stale or missing."""
    console.print(plain(check_health(file, max_age)), soft_wrap=True)


async def _work(worker: NodeWorkers, *, once: bool) -> WorkerCounts:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    return await worker.run(once=once)
