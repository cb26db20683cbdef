"""Measures the write and read functions against bare statements on plain tables: ``python -m bench.writes --help``."""

from __future__ import annotations

import argparse
from typing import Any

import psycopg

from bench.support.environment import DURABLE, environment, new_database, say, write
from bench.writes import report
from bench.writes.cases import CASES, Case, preload
from bench.writes.measure import Meter
from tests.support.servers import running_server

SETTINGS = {**DURABLE, "shared_buffers": "256MB"}
CLIENTS = (1, 8)


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.writes", description=main.__doc__)
    parser.add_argument("--seconds", type=int, default=2, help="length of one run of pgbench (default 2)")
    parser.add_argument("--rounds", type=int, default=5, help="runs per variant and number of clients (default 5)")
    options = parser.parse_args()
    with running_server("system", SETTINGS) as server, new_database(server, "writes") as connection:
        say("Loading")
        preload(connection)
        meter = Meter(server, connection)
        cases = {case.name: _measure(case, meter, connection, options) for case in CASES}
        results = {**environment(connection), "settings": SETTINGS, "options": vars(options), "cases": cases}
    write("writes", results, report.markdown(results), page_name="latest")
    say("\n" + report.ratio_table(results))


def _measure(case: Case, meter: Meter, connection: psycopg.Connection, options: argparse.Namespace) -> dict[str, Any]:
    say(f"\n{case.name}")
    connection.execute("vacuum analyze")
    connection.execute("checkpoint")
    rates: dict[str, dict[str, list[float]]] = {}
    for clients in CLIENTS:
        by_variant: dict[str, list[float]] = {variant.name: [] for variant in case.variants}
        for number in range(1, options.rounds + 1):
            for variant in case.variants:
                by_variant[variant.name].append(round(meter.rate(variant, clients, options.seconds), 1))
            latest = ", ".join(f"{name} {values[-1]:,.0f}/s" for name, values in by_variant.items())
            say(f"  {clients} clients, round {number} of {options.rounds}: {latest}")
        rates[str(clients)] = by_variant
    cpu = meter.cpu(case.variants)
    say("  server CPU per call: " + ", ".join(f"{name} {value} µs" for name, value in cpu.items()))
    if case.check:
        case.check(connection)
    return {"rates": rates, "cpu_microseconds": cpu, "ratios": report.summarize(case, rates, cpu)}


if __name__ == "__main__":
    main()
