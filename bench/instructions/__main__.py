"""Counts the instructions that calls take: ``python -m bench.instructions --help``.

Each call is a transaction of its own in a single-user server under callgrind. A call takes the count of 60 calls less
that of 10, over 50: what the server does once, such as filling its caches, is left out. Counts of two runs differ by
less than 0.2 %.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from bench.support.callgrind import copied, counted, counting, run_as_owner, stop
from bench.support.environment import describe, environment, say, write
from bench.support.markdown import table
from tests.support.servers import INSTALL_SQL, Server, running_server
from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, text_of, token_of

CALLS = {
    "add_message": "select * from memory.add_message('ana', 't', 'user', 'Hello there, my friend number {n}')",
    "add_memory": "select * from memory.add_memory('ana', 'Likes thing number {n} and green tea in the morning')",
    "search": "select count(*) from memory.search('ana', 'green tea', mode => 'keyword', sources => '{{memory}}')",
    "get_messages": "select count(*) from memory.get_messages('ana', 't', recent_k => 10)",
}
SESSIONS = {"any user": "no tenant", "bound": "a bound role", "token": "a token"}

# A single-user server has one role, a superuser, which is never a tenant.
EVERYBODY_IS_A_TENANT = """
    create or replace function memory._is_tenant() returns boolean language sql stable parallel safe
    begin atomic
      select current_setting('server_version_num') is not null;
    end
"""

Counts = dict[str, dict[str, float]]
"""Instructions by session and call."""


def main() -> None:
    """Counts the calls of this build, and of an earlier one, and writes the results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=main.__doc__)
    parser.add_argument("--before", type=Path, help="the SQL file of an earlier version, to compare with")
    options = parser.parse_args()
    counts: dict[str, Counts] = {}
    if options.before:
        say(f"Counting {options.before}")
        counts["before"], _ = _count_build(options.before, ["any user"])
    say("Counting this version")
    counts["now"], about = _count_build(INSTALL_SQL, list(SESSIONS))
    results = {**about, "counts": counts}
    write("instructions", results, _page(results))


def _count_build(build: Path, sessions: list[str]) -> tuple[Counts, dict[str, Any]]:
    counts: Counts = {}
    for session in sessions:
        with _filled_data(build, session) as (server, data, about):
            counts[session] = {call: _instructions(server, data, session, call) for call in CALLS}
    return counts, about


@contextlib.contextmanager
def _filled_data(build: Path, session: str) -> Iterator[tuple[Server, Path, dict[str, Any]]]:
    """The data of a server that has stopped: 100 memories and 20 messages of the user ana."""
    with running_server("system") as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("create extension vector")
            connection.execute(build.read_bytes())
            api = Api(connection)
            for number in range(100):
                api.add_memory(user_id="ana", content=f"Stored before, number {number}, about trains")
            for _ in range(20):
                api.add_message(user_id="ana", thread_id="t", role="user", content="Hello")
            if session != "any user":
                connection.execute(EVERYBODY_IS_A_TENANT)
            if session == "bound":
                connection.execute("insert into memory.bound_roles (role_name, user_id) values (current_user, 'ana')")
            elif session == "token":
                api.set_token_key(key=text_of(KEY))
            connection.execute("vacuum analyze")
            data = Path(str(api.value("show data_directory")))
            about = environment(connection)
        stop(server, data)
        yield server, data, about


def _instructions(server: Server, data: Path, session: str, call: str) -> float:
    with ThreadPoolExecutor(2) as pool:
        few, many = pool.map(lambda calls: _total(server, data, session, call, calls), (10, 60))
    return (many - few) / 50


def _total(server: Server, data: Path, session: str, call: str, calls: int) -> int:
    """Instructions of a server that starts on a copy of the data, runs the call so often, and stops."""
    with copied(data) as copy:
        statements = [CALLS[call].format(n=n) for n in range(calls)]
        if session == "token":
            statements.insert(0, f"set agent_memory.token = '{token_of('ana')}'")
        output = copy.parent / "callgrind.out"
        command = [*counting(output), server.bin_dir / "postgres", "--single", "-D", copy]
        command += ["-c", "autovacuum=off", "postgres"]
        printed = run_as_owner(server, data, command, "\n".join(statements) + "\n")
        if "ERROR" in printed:
            raise RuntimeError(f"{call} failed in the session {session!r}: {printed}")
        return counted(output)


def _page(results: dict[str, Any]) -> str:
    counts: dict[str, Counts] = results["counts"]
    rows = [("no tenant, an earlier version", counts["before"]["any user"])] if "before" in counts else []
    rows += [(SESSIONS[session], count) for session, count in counts["now"].items()]
    base = rows[0][1]
    cells = [
        [name, *(f"{count[call] / 1000:,.0f} ({count[call] / base[call]:.3f})" for call in CALLS)]
        for name, count in rows
    ]
    return f"""# Instructions of a call

{describe(results)}, counted by callgrind in a single-user server; each call is a transaction of its own, parsed and
planned anew. Thousands of instructions, and the ratio to the first row. A durable commit and the way between client and
server come on top and are the same for all.

{table(["session", *(f"`{call}`" for call in CALLS)], cells)}
"""


if __name__ == "__main__":
    main()
