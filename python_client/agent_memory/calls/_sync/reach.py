# Generated from _async/reach.py by generate_sync.py; do not edit.
"""The connections of one node: as the pool of an application has them, and with an answer at once when it is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo
from psycopg_pool import ConnectionPool

from ...errors import connecting
from ..nodes import CONNECT_SECONDS, PLACE, ClusterMap
from ..pools import SyncPool, has_ended
from .caller import SyncCaller

_PARAMETERS = {option.keyword.decode() for option in Conninfo.get_defaults()}
"""What a connection string may say, in the words of libpq."""
_RECONNECT_SECONDS = 1.0
"""Seconds for which the pool of a node tries to open a connection again. Then the next call tries anew, without the
pauses of a pool, which double up to minutes."""
_UP_SECONDS = 1.0
"""How long a client relies on what it has found out about a node: that it accepts connections, or that it does not."""


def _without_place(parameters: Any) -> Any:
    """Return the parameters of a pool's connections without those that say where its database is."""
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: value for name, value in parameters.items() if name not in PLACE}


def _conninfo(conninfo: str, parameters: Mapping[str, Any]) -> str:
    """Return a connection string with those of a pool's parameters that libpq knows."""
    return make_conninfo(conninfo, **{name: parameters[name] for name in parameters.keys() & _PARAMETERS})


class SyncNodeCaller(SyncCaller):
    """The caller of a database that may be a node.

    Args:
        source: a psycopg pool or a connection string.
        like: an application's pool, whose settings the client's own has.
        options: pool_size, token, prepare and schema, as in AsyncCaller.
    """

    _map: ClusterMap | None = None
    _has_lost = False  # whether the last call ended without its connection
    _tried_at = float("-inf")
    _failure: Exception | None = None

    def __init__(
        self, source: ConnectionPool[Any] | str, *, like: ConnectionPool[Any] | None = None, **options: Any
    ) -> None:
        self._like = like
        super().__init__(source, **options)
        self._trying = threading.Lock()

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from."""
        super().begin_anew()
        self._trying = threading.Lock()

    def _new_pool(self) -> ConnectionPool[Any]:
        like = self._like
        if like is None:
            return super()._new_pool()
        return SyncPool(
            self._conninfo,
            connection_class=like.connection_class,
            kwargs=_without_place(like.kwargs),
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

    def place(self) -> str:
        """Return where the pool connects to, and as whom."""
        pool = self._pool
        if self._owns_pool or pool is None:
            return self._conninfo
        if isinstance(pool.conninfo, str) and isinstance(pool.kwargs, Mapping):
            # Without a connection: its node may be out of reach, and the others are not.
            return _conninfo(pool.conninfo, pool.kwargs)
        with pool.connection() as connection:
            return make_conninfo(**connection.info.get_parameters(), password=connection.info.password)

    def _lent(self, pool: ConnectionPool[Any]) -> Any:
        """Return a connection that the server has not ended, or say at once that the server is out of reach.

        After a restart each connection of a pool would fail a call, and while the server is away a pool waits half a
        minute for a connection. So a call connects by itself first where a connection has ended, or where there is none
        to spare and the last call has lost its own. A node, which others of the cluster may stand in for, is tried
        whenever there is none to spare, by one call a second.
        """
        asked_at = time.monotonic()
        if (self._has_lost or self._map is not None) and not pool.get_stats()["pool_available"]:
            self._check_reach(pool, asked_at)
        while True:
            connection = pool.getconn()
            if not has_ended(connection):
                return connection
            self._has_lost = True
            try:
                connection.close()
            finally:
                pool.putconn(connection)  # which has the pool make another one
            self._check_reach(pool, asked_at)

    def _check_reach(self, pool: ConnectionPool[Any], asked_at: float) -> None:
        """Raise why the server cannot be reached, where it cannot, and a pool has said where it is."""
        if not (isinstance(pool.conninfo, str) and isinstance(pool.kwargs, Mapping)):
            return
        if self._owns_pool:
            pool.reconnect_timeout = _RECONNECT_SECONDS
        with self._trying:
            if self._tried_at < (asked_at if self._map is None else time.monotonic() - _UP_SECONDS):
                try:
                    conninfo = _conninfo(pool.conninfo, {"connect_timeout": CONNECT_SECONDS, **pool.kwargs})
                    with connecting(pool.conninfo):
                        (Connection.connect(conninfo)).close()
                    self._failure = None
                except psycopg.OperationalError as error:
                    self._failure = error
                self._tried_at = time.monotonic()
            if self._failure is not None:
                raise self._failure
