"""A database that the tests of a process share, and its connection, as long as they stay like new."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from tests.support.sqlapi import Api

GROWTH = 4 * 2**20
"""Bytes of rolled back rows, in which later tests would have to search."""

# A rollback takes back neither the size of a table nor the counts that "analyze" leaves in pg_class, and plans follow
# both.
STATE = """
select sum(pg_relation_size(oid)), md5(string_agg(concat_ws(' ', relname, reltuples), ',' order by oid))
from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'i')
"""


class Statements(psycopg.Connection[Any]):
    """Statements of a test that is rolled back: a refused one takes back itself alone, as without a transaction."""

    def execute(self, query: Any, *arguments: Any, **options: Any) -> psycopg.Cursor[Any]:
        is_setting = isinstance(query, str) and query.startswith("set ")  # "read only" would end with the savepoint
        if is_setting or self.info.transaction_status != TransactionStatus.INTRANS:
            return super().execute(query, *arguments, **options)
        with self.transaction():  # a savepoint
            return super().execute(query, *arguments, **options)


def connection_to(conninfo: str) -> Statements:
    """A connection to a database that tests share."""
    return Statements.connect(conninfo, autocommit=True)


class Kept:
    """Gives the database to each test, and makes a new one when a test has left traces that a rollback keeps."""

    def __init__(self, database: Callable[[], contextlib.AbstractContextManager[str]]) -> None:
        self._database = database
        self._stack = contextlib.ExitStack()
        self._api: Api | None = None
        self._size, self._counts = 0, ""

    def close(self) -> None:
        """Remove the database."""
        self._api = None
        self._stack.close()

    @contextlib.contextmanager
    def rolled_back(self) -> Iterator[Api]:
        """The database within a transaction, of which nothing stays."""
        if self._api is not None and not self._is_alive(self._api):
            self.close()
        if self._api is None:
            conninfo = self._stack.enter_context(self._database())
            self._api = Api(self._stack.enter_context(connection_to(conninfo)))
            self._size, self._counts = self._state(self._api)
        api, is_like_new = self._api, False
        try:
            with api.rolled_back():
                yield api
                has_committed = api.connection.info.transaction_status == TransactionStatus.IDLE
            size, counts = self._state(api)
            is_like_new = not has_committed and size <= self._size + GROWTH and counts == self._counts
        finally:
            if not is_like_new:
                self.close()

    def _is_alive(self, api: Api) -> bool:
        """Whether no test has ended the server since."""
        try:
            api.connection.execute("select")
        except psycopg.OperationalError:
            return False
        return True

    def _state(self, api: Api) -> tuple[int, str]:
        [state] = api.connection.execute(STATE).fetchall()
        size, counts = state
        return size, counts
