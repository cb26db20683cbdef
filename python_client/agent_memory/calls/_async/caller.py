"""One call of one SQL function: its connection, its notices and its errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import scalar_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ... import _hooks
from ...errors import (
    AgentMemoryError,
    InvalidValueError,
    NotConnectedError,
    connecting,
    may_come_from_an_upgrade,
)
from ...schema import SCHEMA, async_cursors_in, in_schema, schema_of
from ..arguments import Vector, VectorDumper
from ..forks import abandon, begin_anew_in_children
from ..function import Function, Keys, Rows, T
from ..masks import MAY_MASK, keys_of_environment, masked
from ..notices import Cause, Notices, warned_of_stores
from ..pools import AsyncPool
from ..rows import loaded_anew
from ..statements import statement
from .sessions import async_carrying, async_prepare_nothing_behind_a_pooler, async_set_locally
from .translating import async_raise_translated, async_translated

if TYPE_CHECKING:
    from typing_extensions import LiteralString

    from ...client.stores import AsyncStore

_CLIENT = "AsyncMemory"


class AsyncCaller:
    """The connection or pool of a client, and how the client's methods call SQL functions with it.

    Attributes:
        schema: the schema of the functions.
        connection: the connection of the caller, for a client that was made of one.
        store: the store.
        warned: the causes that the client has warned of.
    """

    def __init__(
        self,
        source: AsyncConnection[Any] | AsyncConnectionPool[Any] | str | None,
        store: AsyncStore | None = None,
        *,
        pool_size: int = 10,
        token: str | Callable[[], str] | None = None,
        prepare: bool | None = None,
        schema: str | None = None,
    ) -> None:
        self.schema = SCHEMA if source is None and schema is None else schema_of(source, schema)
        self.connection: AsyncConnection[Any] | None = None
        self.store = store
        self.warned: set[Cause] = set() if store is None else warned_of_stores
        self._pool: AsyncConnectionPool[Any] | None = None
        self._conninfo = source if isinstance(source, str) else ""
        self._owns_pool = source is None or isinstance(source, str)
        self._pool_size = pool_size
        self._is_closed = False
        self._token = token
        self._prepares = prepare
        self._belongs_to_parent = False
        self._one_at_a_time = asyncio.Lock()
        self._refusals = 0
        self._refusal = Exception()
        if isinstance(source, AsyncConnection):
            self.connection = source
        elif isinstance(source, AsyncConnectionPool):
            self._pool = source
        elif self._owns_pool:
            self._pool = self._new_pool()
        else:
            accepted = ", ".join(kind.__name__ for kind in (AsyncConnection, AsyncConnectionPool, str))
            raise TypeError(
                f"source must be one of {accepted}, not {type(source).__name__}"
                " (AsyncMemory takes the asynchronous ones, Memory the others)"
            )
        begin_anew_in_children(self)

    async def close(self) -> None:
        """Close the client's own pool, and leave its embedded store. What was passed in stays open."""
        self._is_closed = True
        if self._owns_pool and self._pool is not None:
            await self._pool.close()
        if self.store is not None:
            await self.store.close()

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from; the next call opens a pool of its own."""
        if self.store is not None:
            self.store.forget()
        if self._owns_pool:
            abandon(self._pool)
            self._pool = self._new_pool()
        elif self._pool is None or not self._pool.closed:
            self._belongs_to_parent = True
        self._one_at_a_time = asyncio.Lock()

    def _new_pool(self) -> AsyncConnectionPool[Any]:
        return AsyncPool(
            self._conninfo if self.store is None else self.store.running,
            min_size=1,
            max_size=self._pool_size,
            open=False,
            check=None if self.store is None else AsyncPool.check_connection,
            configure=async_prepare_nothing_behind_a_pooler if self._prepares is None else None,
            kwargs={
                "autocommit": True,
                "cursor_factory": async_cursors_in(self.schema),
                **({"prepare_threshold": None} if self._prepares is False else {}),
            },
        )

    async def of(self, user_id: str, *, is_fresh: bool = False) -> AsyncCaller:  # noqa: ARG002  (for routed callers)
        """Return the caller for statements about a user: this one, which leads to one server."""
        return self

    async def node_names(self) -> list[str]:
        """Return the names of the nodes; a single server has the empty name."""
        return [""]

    async def node(self, name: str) -> AsyncCaller:  # noqa: ARG002  (for routed callers)
        """Return the caller of a node."""
        return self

    def pool_figure(self, name: str) -> int:
        """Return a figure of the pools, such as pool_size and requests_waiting, over all nodes."""
        return 0 if self._pool is None else int(self._pool.get_stats().get(name, 0))

    async def call(self, function: Function[T], given: Mapping[str, Any]) -> T:
        """Call a function with arguments by name, and return what its method returns."""
        arguments = function.sendable(given)
        query = statement(function.verb, function.name, tuple(arguments), self.schema)
        notices = Notices(self.warned)
        async with self.borrowed(notices) as connection:
            # The caller's connection may have another cursor type and row factory.
            cursor = AsyncCursor(connection, row_factory=function.row_factory)
            cursor.format = function.format
            if any(type(argument) is Vector for argument in arguments.values()):
                cursor.adapters.register_dumper(Vector, VectorDumper)
            try:
                if function.keys is not None:
                    await self._execute_masked(cursor, query, arguments, function.keys)
                else:
                    await self._execute_anew(cursor, query, arguments)
                rows = await async_fetched(cursor)
            except psycopg.Error as error:
                await async_raise_translated(connection, error, function.name, self.schema)
        notices.warn()
        return function.read(rows)

    async def call_procedure(self, function: Function[Any], given: Mapping[str, Any]) -> None:
        """Call a procedure that commits."""
        arguments = function.sendable(given)
        query = statement("call", function.name, tuple(arguments), self.schema)
        async with self.borrowed(Notices(self.warned)) as connection:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                raise AgentMemoryError(
                    f"{function.name} commits between jobs and cannot run inside a transaction",
                    hint="Commit first, or use a connection of its own.",
                )
            # Without autocommit, psycopg would open a transaction around the call.
            autocommit = connection.autocommit
            await connection.set_autocommit(True)
            try:
                async with async_translated(connection, function.name, self.schema):
                    await connection.execute(query, arguments)
            finally:
                if not connection.closed:
                    await connection.set_autocommit(autocommit)

    async def _execute_anew(self, cursor: AsyncCursor[Any], query: bytes, arguments: Mapping[str, Any]) -> None:
        """Execute a statement, and again where an upgrade of the database came in between."""
        connection = cursor.connection
        try:
            await self._execute(cursor, query, arguments)
        except psycopg.Error as error:
            if not (_is_alone(connection) and may_come_from_an_upgrade(error)):
                raise
            # The failed call was a transaction of its own, so nothing came of it. A rollback has psycopg prepare its
            # statements anew.
            async with connection.transaction(force_rollback=True):
                pass
            await self._execute(cursor, query, arguments)

    async def _execute_masked(
        self, cursor: AsyncCursor[Any], query: bytes, arguments: dict[str, Any], need: Keys
    ) -> None:
        """Execute the statement of a function that may need a key. The key and an argument ``value`` go masked."""
        keys, connection = keys_of_environment(), cursor.connection
        # The mask lives as long as the transaction: the caller's own where there is one.
        async with connection.transaction() if _is_alone(connection) else nullcontext():
            await self.send_token(connection)
            asking = AsyncCursor(connection, row_factory=scalar_row)
            if keys and need == "wanted":
                await asking.execute(in_schema(MAY_MASK, self.schema))
                keys = keys if await asking.fetchone() else {}
            if keys or "value" in arguments:
                await asking.execute(in_schema("select memory._secret_mask()", self.schema))
                mask: bytes = await asking.fetchone() or b""
                for setting, key in keys.items():
                    await asking.execute(
                        "select set_config(%s, %s, true) is null", [setting, masked(key, mask, setting)]
                    )
                if "value" in arguments:
                    arguments["value"] = masked(arguments["value"], mask, "value")
            await cursor.execute(query, arguments)

    async def _execute(self, cursor: AsyncCursor[Any], query: bytes, arguments: Mapping[str, Any]) -> None:
        connection = cursor.connection
        traceparent = None if _hooks.traceparent is None else _hooks.traceparent(connection.info)
        if self._token is None and traceparent is None:
            await cursor.execute(query, arguments)
            return
        carried = async_carrying(connection, traceparent, is_alone=_is_alone(connection))
        async with self._with_settings(connection), carried:
            await cursor.execute(query, arguments)

    @asynccontextmanager
    async def _with_settings(self, connection: AsyncConnection[Any]) -> AsyncIterator[None]:
        """Send the token and the statements inside in one transaction, and in one round trip where that is safe.

        Behind a pooler the next transaction may be another client's, so no setting must outlive this one. Where
        nothing is prepared because of a pooler, statements are sent one by one: PgBouncer 1.18 now and then gave a
        client that pipelines a session and did not forward its statements (4 of 12 runs with 16 clients).
        """
        if connection.prepare_threshold is not None and psycopg.capabilities.has_pipeline():
            # What a pipeline sends up to its end is one transaction, also in autocommit mode.
            async with connection.pipeline():
                await self.send_token(connection)
                yield
        else:
            async with connection.transaction():
                await self.send_token(connection)
                yield

    async def send_token(self, connection: AsyncConnection[Any]) -> None:
        """Set the token of this client, if it has one, for the rest of the connection's transaction."""
        if self._token is not None:
            token = self._token if isinstance(self._token, str) else self._token()
            if not isinstance(token, str):
                raise InvalidValueError(f"token must be a str, or return one, not {type(token).__name__}")
            await async_set_locally(connection, "agent_memory.token", token)

    def warn_degraded(self, text: str, hint: str | None = None, *, sqlstate: str) -> None:
        """Name what degrades answers and is known in this process alone, once per cause and client."""
        (notices := Notices(self.warned)).degrade(text, hint, sqlstate)
        notices.warn()

    @asynccontextmanager
    async def in_a_transaction(self, isolation: LiteralString) -> AsyncIterator[AsyncCaller]:
        """Yield a caller on one connection in a transaction: the client's, or one of its own at this isolation."""
        notices = Notices(self.warned)
        async with self.borrowed(notices) as connection, async_translated(connection, schema=self.schema):
            is_own = connection.info.transaction_status == TransactionStatus.IDLE
            async with connection.transaction() if is_own else nullcontext():
                if is_own:
                    await connection.execute(f"set transaction isolation level {isolation}")
                bound = AsyncCaller(connection, token=self._token, schema=self.schema)
                bound.warned = self.warned
                yield bound
        notices.warn()

    @asynccontextmanager
    async def borrowed(self, notices: Notices) -> AsyncIterator[AsyncConnection[Any]]:
        """Yield the connection of one call; its notices are collected."""
        if self._belongs_to_parent:
            raise AgentMemoryError(
                f"this {_CLIENT} has a {'connection' if self._pool is None else 'pool'} of the process that"
                " this one was forked from; two processes on one connection read each other's answers",
                hint="Open it after the fork, or make the client of a connection string: it connects anew by itself.",
            )
        if self._pool is None:
            assert self.connection is not None
            async with self._one_at_a_time:
                self.connection.add_notice_handler(notices.hear)
                try:
                    yield self.connection
                finally:
                    self.connection.remove_notice_handler(notices.hear)
        else:
            if self._owns_pool and self._pool.closed:
                if self._is_closed:
                    raise NotConnectedError(f"this {_CLIENT} was closed", hint="Make a new one.")
                await self._open()
            pool = self._pool
            try:
                connection = await self._lent(pool)
            except PoolTimeout as error:
                reason = f"all {pool.max_size} connections are in use, or the server is out of reach"
                raise PoolTimeout(f"{error}: {reason}") from None
            connection.add_notice_handler(notices.hear)
            try:
                async with connection:
                    yield connection
            finally:
                self._has_lost = connection.closed
                connection.remove_notice_handler(notices.hear)
                await pool.putconn(connection)

    async def _lent(self, pool: AsyncConnectionPool[Any]) -> Any:
        return await pool.getconn()

    async def _open(self) -> None:
        """Open the client's own pool, once for all calls that come at the same time."""
        refused_before = self._refusals
        async with self._one_at_a_time:
            if self._pool is not None and not self._pool.closed:
                return
            if self._refusals > refused_before:
                # The failure that this call waited for: if each tried again in turn, the last would wait long.
                raise self._refusal
            try:
                # A plain connection first reports an error at once; a pool would retry for half a minute.
                conninfo = self._conninfo if self.store is None else await self.store.running()
                with connecting(conninfo):
                    tried = await AsyncConnection.connect(conninfo)
            except Exception as error:
                self._refusals, self._refusal = self._refusals + 1, error
                raise
            await tried.close()
            self._pool = self._new_pool()  # a pool whose opening failed cannot be opened again
            await self._pool.open(wait=True)  # else the first call would have a second connection made


async def async_fetched(cursor: AsyncCursor[Any]) -> Rows:
    """Return the rows of a cursor. A time that datetime cannot hold is None."""
    try:
        return await cursor.fetchall()
    except psycopg.DataError:
        return loaded_anew(cursor)


def _is_alone(connection: AsyncConnection[Any]) -> bool:
    """Whether a statement is a transaction of its own."""
    return connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE


class AsyncMethods:
    """Methods that call SQL functions.

    Attributes:
        caller: makes the calls, with the connections of the client.
    """

    def __init__(self, caller: AsyncCaller) -> None:
        self.caller = caller
