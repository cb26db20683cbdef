"""The client: all methods in one class."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from ...calls import AsyncCaller, AsyncRoutedCaller
from ...source import named_database
from ..stores import AsyncStore
from .admin import AsyncAdmin
from .buffer import AsyncBuffer
from .by_hand import AsyncByHand
from .embedding import AsyncEmbedder


class AsyncMemory(AsyncByHand):
    """The functions of agent_memory that applications use: one method for each, with its name and arguments.

    ``admin`` has the functions of administrators. Those of workers (docs/jobs.md) are no methods.

    A client made of an open connection joins the caller's transaction with each call; it commits, rolls back and closes
    nothing. A client made of a pool borrows a connection for each call, which is a transaction of its own. A client
    made of a connection string opens a pool of its own, and closes it in ``close()`` or at the end of ``with``.

    Without a source the client takes the database of the environment variable AGENT_MEMORY_DSN. Where that is not set,
    it takes the embedded store of this user: a PostgreSQL of the extra ``embedded``, in the user's data folder (on
    Linux ~/.local/share/agent-memory). The store is made, started and upgraded when it is opened: by the constructor of
    Memory, by the first call of AsyncMemory. All processes of the user share it, and queued jobs run in the background
    of those that have a client. Whoever leaves last, by ``close()`` or at the end of the process, stops it. A process
    that is killed loses nothing that a call had returned for, and leaves the server to the others. ``path`` names
    another folder; ":memory:" is a store of this client alone, which is deleted when the client is closed or the
    process ends.

    A process that was forked connects anew by itself: to the database of a connection string, or to the store. A
    connection or an open pool that was passed in stays with the process that opened it: calls in another one are
    refused.

    An optional argument that is None takes the database's default. Arguments have the types that the signatures name;
    times have a time zone. ``datetime.max`` is sent as infinity, which means never. A time that is None in a result
    means never, or is a time that datetime cannot hold.

    Every method raises the exceptions of ``agent_memory.errors`` for refusals of the SQL API, and psycopg's own for
    all other errors. After an error of the server, the caller has to roll back the transaction, as after any statement.
    Notices of the server go to the logger ``agent_memory``. A notice that the answer is degraded is also a
    ``DegradedWarning``, once per cause and client.

    Args:
        source: a psycopg connection, a psycopg pool or a connection string.
        path: the folder of an embedded store, or ":memory:"; only without a source.
        pool_size: how many connections the client's own pool may open.
        embed_queries: whether the client embeds queries where the server cannot.
        catch_up_seconds: how long such a search may first do the user's due embed jobs, so that what was stored a
            moment ago is compared, too; ten times as long in the client's first search; 0 for not at all.
        token: the signed token of a user, or a function that returns one, which is called before each call. A login
            role that is a member of memory_tenant reaches that user only. The token is set for the transaction of each
            call, so it works behind PgBouncer in transaction mode; in the same round trip where there is no pooler.
        prepare: whether the client's own connections prepare statements, which saves planning a call. None means yes,
            unless they go through a pooler. True is for poolers that know prepared statements, such as PgBouncer 1.21
            with max_prepared_statements. Of what is passed in, its own ``prepare_threshold`` counts.
        schema: the schema of the installation; None is that of the environment's AGENT_MEMORY_SCHEMA, else ``memory``.
            An embedded store has ``memory``.

    Raises:
        InvalidValueError: path is no path, or there is a source as well. Or the schema cannot be one, or is not
            ``memory`` for an embedded store.
        AgentMemoryError: the embedded store cannot be used, for example because the extra ``embedded`` is missing, the
            folder is read-only or another user's, or a newer version of this package has upgraded the store. The hint
            says what to do. AsyncMemory raises most of these in its first call.
    """

    def __init__(
        self,
        source: AsyncConnection[Any] | AsyncConnectionPool[Any] | str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        pool_size: int = 10,
        embed_queries: bool = True,
        catch_up_seconds: float = 0.2,
        token: str | Callable[[], str] | None = None,
        prepare: bool | None = None,
        schema: str | None = None,
    ) -> None:
        source = named_database(source, path, schema)
        store = AsyncStore(self, path) if source is None else None
        # A connection leads to one server, and so does a store; a string or a pool may lead into a cluster.
        options: dict[str, Any] = {"pool_size": pool_size, "token": token, "prepare": prepare, "schema": schema}
        if isinstance(source, (str, AsyncConnectionPool)):
            super().__init__(AsyncRoutedCaller(source, **options))
        else:
            super().__init__(AsyncCaller(source, store, **options))
        self._embedder = AsyncEmbedder(self.caller, embeds=embed_queries, catch_up_seconds=catch_up_seconds)
        self.admin = AsyncAdmin(self.caller)

    def buffer(self, path: str | os.PathLike[str] | None = None) -> AsyncBuffer:
        """Return a buffer that collects messages and memories without a server and pushes them in one call.

        Args:
            path: a file that keeps what was not pushed yet, also if this process is killed; what is in it already is
                pushed as well. None keeps it in the memory of this process.

        Raises:
            InvalidValueError: path is no path, or names something else than the file of a buffer.
            AgentMemoryError: the file cannot be opened or written.
        """
        return AsyncBuffer(self.caller, path)

    async def close(self) -> None:
        """Close the client's own pool, and give back the jobs that are under way behind a search.

        The embedded store is left. A connection or pool that was passed in stays open.
        """
        await self._embedder.close()
        await self.caller.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
