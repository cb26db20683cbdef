"""Measures what time does to a database: ``python -m bench.endurance --help``.

Bloat after a week that is squeezed into minutes, how long appends take while a sweep removes a million rows, and the
memory of a worker over ten thousand jobs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from bench.support.environment import describe, environment, new_database, say, value, write
from bench.support.markdown import table
from bench.support.times import points
from tests.support.servers import Server, running_server
from tests.support.sqlapi import Api, result_of

SETTINGS = {
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "autovacuum": "on",
    "autovacuum_naptime": "1s",  # a day takes seconds
}
TABLES = ("messages", "threads", "jobs", "summaries", "marks", "memories", "model_calls")
SIZE = "select pg_total_relation_size(%s::regclass)"
LIVE = "select reltuples::bigint from pg_class where oid = %s::regclass"
DAYS = 14
"""Days of the week: messages live for seven, so the second seven are a week of a table that no longer grows."""
TEXT = "I prefer trains over planes whenever I travel, and for Porto a seat by the window would be nice. "
CONVERSATION = [{"role": ("user", "assistant")[place % 2], "content": f"{TEXT * 3}{place}"} for place in range(10)]


def week(server: Server, messages_a_day: int) -> dict[str, Any]:
    """Sizes after days of appends, jobs, compression, expiry and sweeps, beside those after VACUUM FULL."""
    with new_database(server, "week") as connection:
        api = Api(connection)
        api.set_policy(settings={"compression": {"threshold_tokens": 1500}})
        for day in range(DAYS):
            for number in range(messages_a_day // 10):
                connection.execute(
                    "select count(*) from memory.add_messages(%s, %s, %s)",
                    [f"user {number % 100}", f"thread {day}", Jsonb(CONVERSATION)],
                )
            _work(api, day)
            _sweep(connection)
            # Time does not pass, so what a sweep would remove is removed here by the same kind of statement.
            connection.execute("delete from memory.messages where thread_id = %s", [f"thread {day - 7}"])
            connection.execute("delete from memory.jobs where scope = %s", [f"thread {day - 7}"])
            time.sleep(3)  # autovacuum comes once a second
        sizes = {}
        for name in TABLES:
            before = value(connection, SIZE, f"memory.{name}")
            connection.execute(f"vacuum full analyze memory.{name}".encode())
            after = value(connection, SIZE, f"memory.{name}")
            sizes[name] = {"used": before, "least": after, "rows": value(connection, LIVE, f"memory.{name}")}
        return sizes


def _work(api: Api, day: int) -> None:
    while jobs := api.claim_jobs(worker=f"day {day}", max_jobs=100):
        for job in jobs:
            api.complete_job(
                user_id=job.user_id, job_id=job.job_id, lease_token=job.lease_token, result=result_of(job, memory=None)
            )


def _sweep(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select memory.sweep(10000)")
    while value(connection, "select count(*) from memory.messages where expires_at <= now()"):
        connection.execute("select memory.sweep(10000)")


def appends_beside_a_sweep(server: Server, rows: int) -> dict[str, Any]:
    """Milliseconds of appends of one session, idle and while a sweep removes so many expired messages."""
    with new_database(server, "swept") as connection:
        Api(connection).set_policy(settings={"cadence": {"fact_extraction_every_n": 0}})
        many = Jsonb(CONVERSATION * 50)
        for number in range(rows // 500):
            connection.execute(
                "select count(*) from memory.add_messages(%s, %s, %s)", [f"u {number % 1000}", f"t {number}", many]
            )
        with connection.transaction():
            connection.execute("set local session_replication_role = replica")
            connection.execute("update memory.messages set expires_at = now()")
        connection.execute("vacuum analyze")
        connection.execute("checkpoint")
        idle = _appends(server, "swept", lambda: False, seconds=15)
        is_done = threading.Event()

        def sweep() -> None:
            with psycopg.connect(server.conninfo("swept"), autocommit=True) as sweeping:
                _sweep(sweeping)
            is_done.set()

        started = time.monotonic()
        thread = threading.Thread(target=sweep)
        thread.start()
        during = _appends(server, "swept", is_done.is_set, seconds=600)
        thread.join()
        return {"rows": rows, "sweep_seconds": round(time.monotonic() - started, 1), "idle": idle, "during": during}


def _appends(server: Server, database: str, is_over: Callable[[], bool], seconds: float) -> dict[str, float]:
    times: list[float] = []
    with psycopg.connect(server.conninfo(database), autocommit=True, prepare_threshold=0) as connection:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not is_over():
            started = time.perf_counter()
            connection.execute("select * from memory.add_message('ana', 'now', 'user', %s)", [TEXT])
            times.append((time.perf_counter() - started) * 1000)
            time.sleep(0.005)
    return {"calls": len(times), **points(times), "most": round(max(times), 1)}


def worker(server: Server, jobs: int) -> list[dict[str, Any]]:
    """Private memory of a worker and of its sessions while it does so many jobs with the built-in model."""
    done_jobs = "select count(*) from memory.jobs where status = 'completed' and kind = 'extract_memories'"
    sessions = """
        select pid from pg_stat_activity
        where datname = 'worked' and pid <> pg_backend_pid() and backend_type = 'client backend'
    """
    with new_database(server, "worked") as connection:
        for number in range(jobs):
            connection.execute(
                "select count(*) from memory.add_messages(%s, %s, %s)",
                [f"user {number % 500}", f"thread {number}", Jsonb(CONVERSATION)],
            )
        command = [str(Path(sys.executable).parent / "agent-memory"), "worker", "--dsn", server.conninfo("worked")]
        figures: list[dict[str, Any]] = []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                while not figures or figures[-1]["jobs"] < jobs:
                    time.sleep(0.5)
                    if process.poll() is not None:
                        raise RuntimeError("the worker has ended")
                    done = value(connection, done_jobs)
                    if done >= jobs * (len(figures) + 1) // 10:
                        largest = max((private(pid) for (pid,) in connection.execute(sessions)), default=0.0)
                        worker_mb, session_mb = round(private(process.pid), 1), round(largest, 1)
                        figures.append({"jobs": done, "worker_mb": worker_mb, "session_mb": session_mb})
                        say(f"  {figures[-1]}")
            finally:
                process.terminate()
        return figures


def private(pid: int) -> float:
    """Megabytes that a process has for itself."""
    try:
        rolled = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in rolled.splitlines() if line.startswith("Private_Dirty")) / 1024


def markdown(results: dict[str, Any]) -> str:
    """The results as a Markdown page."""
    week, sweep = results["week"], results["sweep"]
    rows: list[list[str]] = [
        [name, f"{of['rows']:,}", *_megabytes(of["used"], of["least"])] for name, of in week.items()
    ]
    together = (sum(of[key] for of in week.values()) for key in ("used", "least"))
    rows.append(["together", "", *_megabytes(*together)])
    parts = [
        "# What time does to a database",
        f"{describe(results)}. `python -m bench.endurance` writes this page.",
        "## Bloat of a week",
        f"{DAYS} days of {results['messages_a_day']:,} messages of 100 users, each day squeezed into seconds: the"
        " jobs are done (extractions find nothing, threads are summarised and compressed), a sweep ends the day,"
        " and then messages and jobs of seven days ago are deleted, as sweeps of that day would do. Autovacuum"
        " comes once a second. Megabytes with indexes at the end, and after `vacuum full`.",
        table(["Table", "Rows", "MB", "After vacuum full", "Ratio"], rows),
        "## Appends beside a sweep",
        f"A session appends every 5 ms while another sweeps {sweep['rows']:,} expired messages in calls of 10,000"
        f" ({sweep['sweep_seconds']:,.0f} s). Milliseconds of an append.",
        table(
            ["", "Calls", "Median", "99 %", "Most"],
            [
                [name, f"{of['calls']:,}", f"{of['p50']:.2f}", f"{of['p99']:.2f}", f"{of['most']:.1f}"]
                for name, of in (("idle", sweep["idle"]), ("during the sweep", sweep["during"]))
            ],
        ),
        f"The ratio of the 99 % is {sweep['during']['p99'] / sweep['idle']['p99']:.2f}.",
        "## Memory of a worker",
        "`agent-memory worker` extracts from ten messages a job with the built-in model. Private megabytes of its"
        " process, and of the largest of its sessions.",
        table(
            ["Jobs", "Worker", "Session"],
            [[f"{of['jobs']:,}", f"{of['worker_mb']:.1f}", f"{of['session_mb']:.1f}"] for of in results["worker"]],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _megabytes(used: int, least: int) -> list[str]:
    return [f"{used / 1e6:,.1f}", f"{least / 1e6:,.1f}", f"{used / max(least, 1):.2f}"]


def main() -> None:
    """Runs the parts, and writes their results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.endurance", description=main.__doc__)
    parser.add_argument("--messages-a-day", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="that are swept")
    parser.add_argument("--jobs", type=int, default=10_000)
    options = parser.parse_args()
    with running_server("system", SETTINGS) as server:
        say("A week")
        measured: dict[str, Any] = {"week": week(server, options.messages_a_day)}
        say("Appends beside a sweep")
        measured["sweep"] = appends_beside_a_sweep(server, options.rows)
        say("A worker")
        measured["worker"] = worker(server, options.jobs)
        with psycopg.connect(server.conninfo("week")) as connection:
            results = {**environment(connection), "messages_a_day": options.messages_a_day, **measured}
    write("endurance", results, markdown(results))


if __name__ == "__main__":
    main()
