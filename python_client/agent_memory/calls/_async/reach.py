"""The connections of one node: as the pool of an application has them, and with an answer at once when it is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo
from psycopg.rows import scalar_row
from psycopg_pool import AsyncConnectionPool

from ...errors import connecting
from ...schema import in_schema
from ..nodes import CONNECT_SECONDS, NO_MAP, PLACE, ClusterMap
from ..notices import Notices
from ..pools import AsyncPool, has_ended
from .caller import AsyncCaller

_PARAMETERS = {option.keyword.decode() for option in Conninfo.get_defaults()}
"""What a connection string may say, in the words of libpq."""
_RECONNECT_SECONDS = 1.0
"""Seconds for which the pool of a node tries to open a connection again. Then the next call tries anew, without the
pauses of a pool, which double up to minutes."""
_UP_SECONDS = 1.0
"""How long a client relies on what it has found out about a node: that it accepts connections, or that it does not."""


def _place_of(pool: AsyncConnectionPool[Any]) -> str | None:
    """Return where a pool connects to, and as whom; None where a function of its owner says that each time."""
    if isinstance(pool.conninfo, str) and isinstance(pool.kwargs, Mapping):
        return make_conninfo(pool.conninfo, **{name: pool.kwargs[name] for name in pool.kwargs.keys() & _PARAMETERS})
    return None


class AsyncNodeCaller(AsyncCaller):
    """The caller of a database that may be a node; the client's own pool has the settings of the pool ``like``."""

    map: ClusterMap | None = None
    """The map that the database had, when it was read last."""
    _has_lost = False  # whether the last call ended without its connection
    _tried_at = float("-inf")
    _failure: Exception | None = None

    def __init__(
        self, source: AsyncConnectionPool[Any] | str, *, like: AsyncConnectionPool[Any] | None = None, **options: Any
    ) -> None:
        self._like = like
        super().__init__(source, **options)
        self._trying = asyncio.Lock()

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from."""
        super().begin_anew()
        self._trying = asyncio.Lock()

    def _new_pool(self) -> AsyncConnectionPool[Any]:
        like = self._like
        if like is None:
            return super()._new_pool()
        known = like.kwargs
        return AsyncPool(
            self._conninfo,
            connection_class=like.connection_class,
            kwargs={name: known[name] for name in known if name not in PLACE} if isinstance(known, Mapping) else known,
            min_size=like.min_size,
            max_size=like.max_size,
            timeout=like.timeout,
            max_idle=like.max_idle,
            max_lifetime=like.max_lifetime,
            max_waiting=like.max_waiting,
            # The pool has no public names for how its owner has connections prepared.
            configure=like._configure,
            check=like._check,
            reset=like._reset,
            open=False,
        )

    async def place(self) -> str:
        """Return where the pool connects to, and as whom."""
        assert self._pool is not None
        place = _place_of(self._pool)
        if place is not None:  # without a connection: its node may be out of reach, and the others are not
            return place
        async with self._pool.connection() as connection:
            return make_conninfo(**connection.info.get_parameters(), password=connection.info.password)

    async def read_map(self) -> ClusterMap | None:
        """Return the map that the database has; None for a single server."""
        try:
            async with self.borrowed(Notices(self.warned)) as connection:
                cursor = AsyncCursor(connection, row_factory=scalar_row)
                await self._execute(cursor, in_schema(b"select memory._cluster_map()", self.schema), {})
                row = await cursor.fetchone()
        except NO_MAP:
            return None
        return None if row is None else ClusterMap(**row)

    async def _lent(self, pool: AsyncConnectionPool[Any]) -> Any:
        """Return a connection that the server has not ended, or say at once that the server is out of reach.

        After a restart each connection of a pool would fail a call, and while the server is away a pool waits half a
        minute for a connection. So a call connects by itself first where a connection has ended, or where there is none
        to spare and the last call has lost its own. A node, which others of the cluster may stand in for, is tried
        whenever there is none to spare, by one call a second.
        """
        asked_at = time.monotonic()
        if (self._has_lost or self.map is not None) and not pool.get_stats()["pool_available"]:
            await self._check_reach(pool, asked_at)
        while True:
            connection = await pool.getconn()
            if not has_ended(connection):
                return connection
            self._has_lost = True
            try:
                await connection.close()
            finally:
                await pool.putconn(connection)  # which has the pool make another one
            await self._check_reach(pool, asked_at)

    async def _check_reach(self, pool: AsyncConnectionPool[Any], asked_at: float) -> None:
        """Raise why the server cannot be reached, where it cannot, and a pool has said where it is."""
        place = _place_of(pool)
        if place is None:
            return
        if self._owns_pool:
            pool.reconnect_timeout = _RECONNECT_SECONDS
        async with self._trying:
            if self._tried_at < (asked_at if self.map is None else time.monotonic() - _UP_SECONDS):
                try:
                    with connecting(place):
                        within: Any = {"connect_timeout": CONNECT_SECONDS, **conninfo_to_dict(place)}
                        await (await AsyncConnection.connect(**within)).close()
                    self._failure = None
                except psycopg.OperationalError as error:
                    self._failure = error
                self._tried_at = time.monotonic()
            if self._failure is not None:
                raise self._failure
