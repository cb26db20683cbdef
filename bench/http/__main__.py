"""Measures calls over HTTP beside the same calls in SQL: ``python -m bench.http --help``."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
from psycopg_pool import AsyncConnectionPool

from bench.http.callers import Arguments, Connections, in_sql, times
from bench.support.environment import DURABLE, describe, environment, new_database, say, write
from bench.support.markdown import table
from bench.support.times import points
from tests.http.steps import Serving, token, with_keys
from tests.support.servers import running_server

USERS = 50
POOL = 10
IN_FLIGHT = (1, 50, 500)
FUNCTIONS: dict[str, Arguments] = {
    "get_messages": lambda _: {"thread_id": "t", "recent_k": 20},
    "search": lambda n: {"query": f"which tea of kind {n % 200}", "mode": "keyword", "top_k": 10},
    "add_message": lambda n: {"thread_id": f"new {n % 7}", "role": "user", "content": f"I drink tea of kind {n}."},
}


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.http", description=main.__doc__)
    parser.add_argument("--calls", type=int, default=3000, help="calls of each kind (default 3000)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of HTTP and SQL (default 3)")
    options = parser.parse_args()
    with (
        running_server("system", {**DURABLE, "shared_buffers": "256MB"}) as server,
        new_database(server, "http") as connection,
    ):
        _fill(connection)
        dsn = server.conninfo("http")
        with with_keys(dsn, "--rate-limit", "0", "--pool-size", str(POOL)) as serving:
            measured = asyncio.run(_measure(dsn, serving, options.calls, options.rounds))
        results = {**environment(connection), "options": vars(options), "milliseconds": measured}
    write("http", results, _page(results))


def _fill(connection: psycopg.Connection) -> None:
    """Give each user 200 memories and a thread of 100 messages."""
    say("Loading")
    for user in range(USERS):
        connection.execute(
            "select count(memory.add_memory(user_id => %s, content => 'Likes tea of kind ' || n))"
            " from generate_series(1, 200) as n",
            [_user(user)],
        )
        connection.execute(
            "select count(memory.add_message(user_id => %s, thread_id => 't', role => 'user',"
            " content => 'Yesterday I had tea of kind ' || n)) from generate_series(1, 100) as n",
            [_user(user)],
        )
    connection.execute("vacuum analyze")


def _user(number: int) -> str:
    return f"user-{number % USERS}"


async def _measure(dsn: str, serving: Serving, calls: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Milliseconds at the median, 95 % and 99 %, by what was called and how; HTTP and SQL take turns.

    Also the milliseconds of processor time that the HTTP server takes for a call.
    """
    tokens = [token(_user(number), exp=4102444800) for number in range(USERS)]
    connections = Connections(urlsplit(serving.url).hostname or "", urlsplit(serving.url).port or 0)
    measured: dict[str, dict[str, list[float]]] = {}
    process = psutil.Process(serving.process.pid)
    kwargs = {"autocommit": True}
    async with AsyncConnectionPool(dsn, min_size=POOL, max_size=POOL, timeout=120, open=False, kwargs=kwargs) as pool:
        for function, arguments in FUNCTIONS.items():
            ways = {
                "SQL": in_sql(pool, function, arguments, _user),
                "HTTP": connections.over_http(function, arguments, lambda number: tokens[number % USERS]),
            }
            for call in ways.values():
                await times(call, 50, 500)
                connections.close()
            for in_flight in IN_FLIGHT:
                taken: dict[str, list[float]] = {way: [] for way in ways}
                before = sum(process.cpu_times()[:2])
                for _ in range(rounds):
                    for way, call in ways.items():
                        taken[way] += await times(call, in_flight, calls // rounds)
                        connections.close()  # those that would idle in the next turn, until the server closes them
                name = f"{function}, {in_flight} in flight"
                measured[name] = {
                    way: [points(each)[point] for point in ("p50", "p95", "p99")] for way, each in taken.items()
                }
                spent = (sum(process.cpu_times()[:2]) - before) * 1000 / len(taken["HTTP"])
                measured[name]["processor"] = [round(spent, 2)]
                say(f"{name}: {measured[name]}")
    return measured


def _page(results: dict[str, Any]) -> str:
    rows = []
    for name, ways in results["milliseconds"].items():
        figures = [f"{value:,.1f}" for value in (*ways["SQL"], *ways["HTTP"])]
        rows.append([name, *figures, f"{ways['HTTP'][2] / ways['SQL'][2]:.1f}", f"{ways['processor'][0]:.1f}"])
    header = ["Milliseconds", "SQL median", "95 %", "99 %", "HTTP median", "95 %", "99 %", "ratio of 99 %", "processor"]
    return f"""# HTTP beside SQL

{describe(results)}; a durable server, one server process of `agent-memory serve` with {POOL} connections,
and {USERS} users with a token each, 200 memories and 100 messages. The callers are one Python process on the same
machine, which calls the same function in SQL on a pool of {POOL} connections in turns with HTTP. With many calls in
flight a call waits for those before it, so it takes the number in flight over the rate. On a busy machine ratios and
the processor time that the HTTP server takes for a call mean more than times.

{table(header, rows)}
"""


if __name__ == "__main__":
    main()
