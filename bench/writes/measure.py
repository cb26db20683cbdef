"""The three measurements: rate with pgbench, CPU time of the server process, statements inside a call."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.writes.cases import Variant, texts_of
from tests.support.servers import Server

CPU_TURNS = 15
WARM_UP = 6  # a prepared statement may get its generic plan with the sixth execution
SERIALS_PER_RUN = 100_000_000  # more calls than any run makes


@dataclass(frozen=True)
class Statement:
    """A statement inside calls.

    ``per_call`` is how often a call executes it, ``microseconds`` its time per call with everything below it, and
    ``planning_microseconds`` what making its plan takes besides: near 0 when the plan is kept.
    """

    query: str
    per_call: float
    microseconds: float
    planning_microseconds: float


class Meter:
    """Measures variants on one server; no two runs use the same serial numbers."""

    def __init__(self, server: Server, connection: psycopg.Connection) -> None:
        self._server = server
        self._connection = connection
        self._runs = 0
        self._texts = texts_of(connection)
        schedstat = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        self._schedstat = schedstat if schedstat.exists() else None

    def _next_run(self) -> int:
        self._runs += 1
        return self._runs

    def rate(self, variant: Variant, clients: int, seconds: int) -> float:
        """Calls per second with ``clients`` connections that call as fast as they can.

        Raises RuntimeError with pgbench's own words when a call fails.
        """
        run = self._next_run()
        variables = {"run": run, "step": run * SERIALS_PER_RUN // 64, "loaded": 0}
        command = [str(self._server.bin_dir / "pgbench"), "--no-vacuum", "--protocol=prepared"]
        command += [f"--client={clients}", f"--jobs={min(clients, os.cpu_count() or 1)}", f"--time={seconds}"]
        command += [f"--define={name}={value}" for name, value in variables.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write(variant.pgbench_script())
            script.flush()
            command += [f"--file={script.name}", self._server.conninfo()]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        rate = re.search(r"^tps = ([\d.]+)", result.stdout, re.MULTILINE)
        if result.returncode != 0 or rate is None:
            raise RuntimeError(f"{variant.name}: pgbench failed: {result.stderr.strip() or result.stdout.strip()}")
        return float(rate[1]) * variant.calls_per_script

    def cpu(self, variants: tuple[Variant, ...]) -> dict[str, float | None]:
        """CPU microseconds of the server process per call, on one connection; None where the system does not tell.

        The variants take turns, and the cheapest turn of each counts: other work on the machine only ever adds to it.
        """
        if self._schedstat is None:
            return {variant.name: None for variant in variants}
        turns: dict[str, list[float]] = {variant.name: [] for variant in variants}
        for _ in range(CPU_TURNS):
            for variant in variants:
                calls = max(1, variant.cpu_calls // CPU_TURNS)
                arguments = self._arguments(variant)
                self._call(variant, arguments, WARM_UP)
                before = _nanoseconds(self._schedstat)
                self._call(variant, arguments, calls)
                turns[variant.name].append((_nanoseconds(self._schedstat) - before) / 1000 / calls)
        return {name: round(min(values), 1) for name, values in turns.items()}

    def profile(self, variant: Variant) -> list[Statement]:
        """The call itself and every statement inside it, slowest first, from pg_stat_statements.

        Timing each statement makes all of them slower than in the other measurements.
        """
        calls = max(1, variant.cpu_calls // 3)
        arguments = self._arguments(variant)
        self._call(variant, arguments, WARM_UP)
        self._connection.execute("select pg_stat_statements_reset()")
        self._connection.execute("set pg_stat_statements.track = 'all'")
        self._connection.execute("set pg_stat_statements.track_planning = on")
        self._call(variant, arguments, calls)
        self._connection.execute("set pg_stat_statements.track = 'none'")
        rows = self._connection.execute(
            """
            select query, calls / %s::float8, total_exec_time * 1000 / %s, total_plan_time * 1000 / %s
            from pg_stat_statements where query not like 'set %%' order by total_exec_time desc
            """,
            (calls, calls, calls),
        )
        return [Statement(" ".join(query.split()), *figures) for query, *figures in rows]

    def _arguments(self, variant: Variant) -> Iterator[dict[str, str]]:
        run = self._next_run()
        return variant.arguments(self._texts, run, run * SERIALS_PER_RUN)

    def _call(self, variant: Variant, arguments: Iterator[dict[str, str]], calls: int) -> None:
        sql = variant.psycopg_sql()
        # Made beforehand, so that the server never waits for them.
        for values in [next(arguments) for _ in range(calls)]:
            self._connection.execute(sql, values, prepare=True)


def _nanoseconds(schedstat: Path) -> int:
    return int(schedstat.read_text().split()[0])
