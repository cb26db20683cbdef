"""Several sessions of which one waits for a lock that another one holds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg

from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api


class Sessions:
    """Sessions that wait for each other; ``api`` is one that never waits."""

    def __init__(self, connect: Callable[..., psycopg.Connection], pool: ThreadPoolExecutor) -> None:
        self.connect = connect
        self.pool = pool
        self.api = Api(connect())
        self.held: list[psycopg.Connection] = []

    def new(self, **parameters: Any) -> Api:
        """A further session; the arguments are connection parameters."""
        return Api(self.connect(**parameters))

    def hold(self, statement: str) -> psycopg.Connection:
        """A session with an open transaction that has locked the rows of a query."""
        holding = self.connect()
        self.held.append(holding)
        holding.execute("begin")
        assert holding.execute(statement).fetchall() != []
        return holding

    def start(self, function: str, **arguments: Any) -> Future[Any]:
        """Call a function in a session of its own; goes on when the call waits for a lock, or is over."""
        return self.submit(lambda session: getattr(session, function)(**arguments))

    def submit(self, work: Callable[[Api], Any]) -> Future[Any]:
        """Have a session of its own do something; goes on when that waits for a lock, or is over."""
        session = self.new()
        call = self.pool.submit(work, session)
        self.until_waiting(session, call)
        return call

    def until_waiting(self, session: Api, call: Future[Any], blocker: Api | None = None) -> None:
        """Go on when the call waits (for that session), or is over."""
        pids = {
            "waiting": session.connection.info.backend_pid,
            "blocker": blocker.connection.info.backend_pid if blocker else None,
        }
        waits = (
            "select case when %(blocker)s::int is null then cardinality(b) > 0 else %(blocker)s = any (b) end"
            " from pg_blocking_pids(%(waiting)s) as b"
        )
        wait_until(lambda: call.done() or self.api.value(waits, **pids))


def code(call: Future[Any]) -> str | None:
    """The SQLSTATE that a call ended with."""
    error = call.exception(PATIENCE)
    assert error is None or isinstance(error, psycopg.Error)
    return error.sqlstate if error else None
