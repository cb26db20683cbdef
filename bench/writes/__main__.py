"""Measures the write and read functions against bare statements on plain tables: ``python -m bench.writes --help``."""

from __future__ import annotations

import argparse
import datetime
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from bench.support.environment import RESULTS, announce, machine, postgresql, say
from bench.writes import cases, report
from bench.writes.cases import CASES, Case
from bench.writes.measure import Meter
from tests.support.servers import install_agent_memory, running_server

# The defaults of a durable server, which the servers of the tests do not have.
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    # No checkpoint starts in the middle of a measurement.
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
}
# Loaded from the start because it cannot be loaded later; records nothing while rates are measured.
PROFILER = {"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "none"}


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    started = time.monotonic()
    with (
        running_server(options.server, SETTINGS | PROFILER) as server,
        psycopg.connect(server.conninfo(), autocommit=True) as connection,
    ):
        sync = _sync_microseconds(Path(server.host))
        say(f"A commit waits {sync:.0f} µs for the disk\nInstalling and loading")
        install_agent_memory(server, "postgres")
        cases.preload(connection)
        for case in options.cases:
            if case.prepare:
                case.prepare(connection)
        meter = Meter(server, connection)
        measured = {case.name: _measure(case, meter, connection, options) for case in options.cases}
        version = postgresql(connection)
    results: report.Results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine() | {"sync_microseconds": round(sync)},
        "postgresql": version,
        "settings": SETTINGS,
        "options": {"seconds": options.seconds, "rounds": options.rounds, "clients": options.clients},
        "cases": measured,
    }
    say(f"\nDone in {time.monotonic() - started:.0f} s")
    announce(report.write(results, RESULTS))
    say("\n" + report.ratio_table(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.writes", description=__doc__.split(":")[0] if __doc__ else None
    )
    parser.add_argument("--seconds", type=int, default=2, help="length of one run of pgbench (default 2)")
    parser.add_argument("--rounds", type=int, default=5, help="runs per variant and number of clients (default 5)")
    parser.add_argument("--clients", type=_numbers, default=[1, 8], help="numbers of connections (default 1,8)")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only cases whose names contain one of these")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    options.cases = [case for case in CASES if not options.only or any(word in case.name for word in options.only)]
    if not options.cases:
        parser.error("no case has such a name; they are: " + ", ".join(case.name for case in CASES))
    return options


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _sync_microseconds(directory: Path) -> float:
    """Microseconds that a write of 8 kB takes to reach the disk. The slower it is, the less other work matters."""
    times = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(201):
            file.seek(0)
            file.write(os.urandom(8192))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - started) * 1e6)
    return median(times)


def _measure(case: Case, meter: Meter, connection: psycopg.Connection, options: argparse.Namespace) -> dict[str, Any]:
    say(f"\n{case.name}")
    connection.execute("vacuum analyze")
    connection.execute("checkpoint")
    rates: dict[str, dict[str, list[float]]] = {}
    for clients in options.clients:
        by_variant: dict[str, list[float]] = {variant.name: [] for variant in case.variants}
        for number in range(1, options.rounds + 1):
            for variant in case.variants:
                by_variant[variant.name].append(round(meter.rate(variant, clients, options.seconds), 1))
            latest = ", ".join(f"{name} {values[-1]:,.0f}/s" for name, values in by_variant.items())
            say(f"  {clients} clients, round {number} of {options.rounds}: {latest}")
        rates[str(clients)] = by_variant
    cpu = meter.cpu(case.variants)
    say("  server CPU per call: " + ", ".join(f"{name} {value} µs" for name, value in cpu.items()))
    statements = {variant.name: [asdict(each) for each in meter.profile(variant)] for variant in case.variants}
    if case.check:
        case.check(connection)
    return {
        "rates": rates,
        "cpu_microseconds": cpu,
        "ratios": report.summarize(case, rates, cpu),
        "statements": statements,
    }


if __name__ == "__main__":
    main()
