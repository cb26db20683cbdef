# Generated from _async/caller.py by generate_sync.py; do not edit.
"""One call of one SQL function: its connection, its notices and its errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import psycopg
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ...errors import (
    QUESTIONS,
    AgentMemoryError,
    InvalidValueError,
    connecting,
    from_psycopg,
    may_come_from_an_upgrade,
)
from ...source import named_database
from ..arguments import Sender, parameters
from ..forks import abandon, begin_anew_in_children
from ..notices import Cause, Notices, warned_of_stores
from ..pools import SyncPool
from ..servers import Server, Vectors
from ..statements import TimeLoader, records, statement
from ..stores import SyncStore
from .poolers import prepare_nothing_behind_a_pooler

if TYPE_CHECKING:
    from ..due_jobs import DueJobs

Row = TypeVar("Row")
Value = TypeVar("Value")


class SyncCaller:
    """The connection or pool of a client, and how the client's methods call SQL functions with it.

    Args:
        source: a psycopg connection, a psycopg pool or a connection string.
        path: the folder of an embedded store.
        pool_size: how many connections the client's own pool may open.
        embed_queries: whether the client embeds queries where the server cannot.
        catch_up_seconds: how long such a search may first do the user's due embed jobs, ten times as long the first
            time; 0 for not at all.
        token: the token of a tenant's session, or what returns one before each call.
        prepare: whether the client's own connections prepare statements; None: unless a pooler is in between.
    """

    _senders: ClassVar[dict[str, dict[str, Sender]]]
    """For each method how each of its arguments is sent; the class that has all methods sets it."""

    def __init__(
        self,
        source: Connection[Any] | ConnectionPool[Any] | str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        pool_size: int = 10,
        embed_queries: bool = True,
        catch_up_seconds: float = 0.2,
        token: str | Callable[[], str] | None = None,
        prepare: bool | None = None,
    ) -> None:
        source = named_database(source, path)
        self._connection: Connection[Any] | None = None
        self._pool: ConnectionPool[Any] | None = None
        self._conninfo = source if isinstance(source, str) else ""
        self._store = SyncStore(self, path) if source is None else None
        self._owns_pool = source is None or isinstance(source, str)
        self._pool_size = pool_size
        self._is_closed = False
        self._warned: set[Cause] = set() if self._store is None else warned_of_stores
        self._embeds_queries = embed_queries
        self._catch_up_seconds = catch_up_seconds
        self._token = token
        self._prepares = prepare
        self._is_parents = False
        self._known: Server | None = None
        self._is_warm = False
        self._vectors = Vectors()
        self._due: dict[str, DueJobs] = {}
        self._one_at_a_time = threading.Lock()
        self._refusals = 0
        self._refusal = Exception()
        if isinstance(source, Connection):
            self._connection = source
        elif isinstance(source, ConnectionPool):
            self._pool = source
        elif self._owns_pool:
            self._pool = self._new_pool()
        else:
            accepted = ", ".join(kind.__name__ for kind in (Connection, ConnectionPool, str))
            raise TypeError(
                f"source must be one of {accepted}, not {type(source).__name__}"
                " (AsyncMemory takes the asynchronous ones, Memory the others)"
            )
        begin_anew_in_children(self)

    def close(self) -> None:
        """Close the client's own pool, and leave its embedded store. What was passed in stays open."""
        self._is_closed = True
        if self._owns_pool and self._pool is not None:
            self._pool.close()
        if self._store is not None:
            self._store.close()

    def _begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from; the next call opens a pool of its own."""
        if self._store is not None:
            self._store.forget()
        if self._owns_pool:
            abandon(self._pool)
            self._pool = self._new_pool()
        elif self._pool is None or not self._pool.closed:
            self._is_parents = True
        self._one_at_a_time = threading.Lock()
        self._vectors = Vectors()
        self._due = {}

    def _new_pool(self) -> ConnectionPool[Any]:
        return SyncPool(
            self._conninfo if self._store is None else self._store.running,
            min_size=1,
            max_size=self._pool_size,
            open=False,
            check=None if self._store is None else SyncPool.check_connection,
            configure=prepare_nothing_behind_a_pooler if self._prepares is None else None,
            kwargs={"autocommit": True, **({"prepare_threshold": None} if self._prepares is False else {})},
        )

    def _rows(self, row_type: type[Row], function: str, required: Mapping[str, Any], **optional: Any) -> list[Row]:
        return records(row_type, self._select(function, required, **optional))

    def _row(self, row_type: type[Row], function: str, required: Mapping[str, Any], **optional: Any) -> Row:
        return (self._rows(row_type, function, required, **optional))[0]

    def _value(self, _: type[Value], function: str, required: Mapping[str, Any], **optional: Any) -> Value:
        [row] = self._select(function, required, **optional)
        [value] = row.values()
        result: Value = value
        return result

    def _select(self, function: str, required: Mapping[str, Any], **optional: Any) -> list[dict[str, Any]]:
        arguments = parameters(self._senders[function], required, optional)
        query = statement("select * from", function, tuple(arguments))
        notices = Notices(self._warned)
        with self._borrowed(notices) as connection:
            # The caller's connection may have another cursor type and row factory.
            cursor = Cursor(connection, row_factory=dict_row)
            cursor.adapters.register_loader("timestamptz", TimeLoader)
            with translated(connection, function):
                try:
                    self._execute(cursor, query, arguments)
                except psycopg.Error as error:
                    is_alone = connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE
                    if not (is_alone and may_come_from_an_upgrade(error)):
                        raise
                    # The failed call was a transaction of its own, so nothing came of it. A rollback has psycopg
                    # prepare its statements anew.
                    with connection.transaction(force_rollback=True):
                        pass
                    self._execute(cursor, query, arguments)
                rows = cursor.fetchall()
        notices.warn()
        return rows

    def _execute(self, cursor: Cursor[Any], query: bytes, arguments: Mapping[str, Any]) -> None:
        with nullcontext() if self._token is None else self._as_tenant(cursor.connection):
            cursor.execute(query, arguments)

    @contextmanager
    def _as_tenant(self, connection: Connection[Any]) -> Iterator[None]:
        """Send the token and the one statement inside in one transaction, and in one round trip where that is safe.

        Behind a pooler the next transaction may be another client's, so the token must not outlive this one. Where
        nothing is prepared because of a pooler, statements are sent one by one: PgBouncer 1.18 now and then gave a
        client that pipelines a session and did not forward its statements (4 of 12 runs with 16 clients).
        """
        if connection.prepare_threshold is not None and psycopg.capabilities.has_pipeline():
            # What a pipeline sends up to its end is one transaction, also in autocommit mode.
            with connection.pipeline():
                self._send_token(connection)
                yield
        else:
            with connection.transaction():
                self._send_token(connection)
                yield

    def _send_token(self, connection: Connection[Any]) -> None:
        """Set the token of this client, if it has one, for the rest of the connection's transaction."""
        if self._token is not None:
            token = self._token if isinstance(self._token, str) else self._token()
            if not isinstance(token, str):
                raise InvalidValueError(f"token must be a str, or return one, not {type(token).__name__}")
            Cursor(connection).execute("select set_config('agent_memory.token', %s, true)", [token])

    def _warn_degraded(self, text: str, hint: str | None = None, *, sqlstate: str) -> None:
        """Name what degrades answers and is known in this process alone, once per cause and client."""
        notices = Notices(self._warned)
        notices.degrade(text, hint, sqlstate)
        notices.warn()

    @contextmanager
    def _borrowed(self, notices: Notices) -> Iterator[Connection[Any]]:
        """Yield the connection of one call; its notices are collected."""
        if self._is_parents:
            raise AgentMemoryError(
                f"this {type(self).__name__} has a {'connection' if self._pool is None else 'pool'} of the process that"
                " this one was forked from; two processes on one connection read each other's answers",
                hint="Open it after the fork, or make the client of a connection string: it connects anew by itself.",
            )
        if self._pool is None:
            assert self._connection is not None
            with self._one_at_a_time, self._heard(self._connection, notices) as connection:
                yield connection
        else:
            if self._owns_pool and self._pool.closed:
                if self._is_closed:
                    raise PoolClosed(f"this {type(self).__name__} was closed; make a new one")
                self._open()
            try:
                with self._pool.connection() as borrowed, self._heard(borrowed, notices) as connection:
                    yield connection
            except PoolTimeout as error:
                raise PoolTimeout(
                    f"{error}: all {self._pool.max_size} connections are in use, or the server is out of reach"
                ) from None

    def _open(self) -> None:
        """Open the client's own pool, once for all calls that come at the same time."""
        refused_before = self._refusals
        with self._one_at_a_time:
            if self._pool is not None and not self._pool.closed:
                return
            if self._refusals > refused_before:
                raise self._refusal  # that this call has waited for; each trying anew, the last would wait for long
            try:
                # A plain connection first reports an error at once; a pool would retry for half a minute.
                conninfo = self._conninfo if self._store is None else self._store.running()
                with connecting(conninfo):
                    tried = Connection.connect(conninfo)
            except Exception as error:
                self._refusals, self._refusal = self._refusals + 1, error
                raise
            tried.close()
            self._pool = self._new_pool()  # a pool whose opening failed cannot be opened again
            self._pool.open(wait=True)  # else the first call would have a second connection made

    @contextmanager
    def _heard(self, connection: Connection[Any], notices: Notices) -> Iterator[Connection[Any]]:
        connection.add_notice_handler(notices.hear)
        try:
            yield connection
        finally:
            connection.remove_notice_handler(notices.hear)


@contextmanager
def translated(connection: Connection[Any], function: str | None = None) -> Iterator[None]:
    """Raise the errors of the SQL API as the exceptions of this package; the psycopg error is their ``__cause__``.

    Args:
        connection: where the statements inside run.
        function: the function of the SQL API that they call, if it is one.
    """
    try:
        yield
    except psycopg.Error as error:
        translation = from_psycopg(error, connection.info, function, _answer(connection, error))
        if translation is None:
            raise
        raise translation from error


def _answer(connection: Connection[Any], error: psycopg.Error) -> str | None:
    """Ask the server for facts that explain an error, unless the error ended its transaction."""
    question = QUESTIONS.get(error.sqlstate or "")
    if question is None or connection.info.transaction_status != TransactionStatus.IDLE:
        return None
    try:
        [answer] = (Cursor(connection).execute(question)).fetchone() or [None]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
        return ""
    except psycopg.Error:
        return None
    return str(answer)
