"""The two measurements: rate with pgbench, and CPU time of the server process."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from bench.writes.cases import Variant, texts_of
from tests.support.servers import Server

CPU_TURNS = 15
WARM_UP = 6  # a prepared statement may get its generic plan with the sixth execution
SERIALS_PER_RUN = 100_000_000  # more calls than any run makes


class Meter:
    """Measures variants on one server; no two runs use the same serial numbers."""

    def __init__(self, server: Server, connection: psycopg.Connection) -> None:
        self._server = server
        self._connection = connection
        self._runs = 0
        self._texts = texts_of(connection)
        self._schedstat = Path(f"/proc/{connection.info.backend_pid}/schedstat")

    def rate(self, variant: Variant, clients: int, seconds: int) -> float:
        """Calls per second with ``clients`` connections that call as fast as they can.

        Raises RuntimeError with pgbench's own words when a call fails.
        """
        self._runs += 1
        variables = {"run": self._runs, "step": self._runs * SERIALS_PER_RUN // 64, "loaded": 0}
        command = [str(self._server.bin_dir / "pgbench"), "--no-vacuum", "--protocol=prepared"]
        command += [f"--client={clients}", f"--jobs={min(clients, os.cpu_count() or 1)}", f"--time={seconds}"]
        command += [f"--define={name}={value}" for name, value in variables.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write(variant.pgbench_script())
            script.flush()
            command += [f"--file={script.name}", self._server.conninfo(self._connection.info.dbname)]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        rate = re.search(r"^tps = ([\d.]+)", result.stdout, re.MULTILINE)
        if result.returncode != 0 or rate is None:
            raise RuntimeError(f"{variant.name}: pgbench failed: {result.stderr.strip() or result.stdout.strip()}")
        return float(rate[1]) * variant.texts

    def cpu(self, variants: tuple[Variant, ...]) -> dict[str, float]:
        """CPU microseconds of the server process per call, on one connection.

        The variants take turns, and the cheapest turn of each counts: other work on the machine only ever adds to it.
        """
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

    def _arguments(self, variant: Variant) -> Iterator[dict[str, str]]:
        self._runs += 1
        return variant.arguments(self._texts, self._runs, self._runs * SERIALS_PER_RUN)

    def _call(self, variant: Variant, arguments: Iterator[dict[str, str]], calls: int) -> None:
        sql = variant.psycopg_sql()
        # Made beforehand, so that the server never waits for them.
        for values in [next(arguments) for _ in range(calls)]:
            self._connection.execute(sql, values, prepare=True)


def _nanoseconds(schedstat: Path) -> int:
    return int(schedstat.read_text().split()[0])
