"""A plugin of pytest: the adapter stands in for LangGraph's checkpointers, which its tests import."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any

import langgraph.checkpoint.postgres
import langgraph.checkpoint.postgres.aio
import psycopg
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.langgraph import AgentMemorySaver, AsyncAgentMemorySaver
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

URI = os.environ["SUITE_URI"]
INTERNALS = "calls or reads internals of PostgresSaver"
OLD_FORMAT = "reads checkpoints of before LangGraph 0.5, which agent_memory never stored"
BETWEEN = "acts between two statements of PostgresSaver; here pruning chooses in one statement"
LEFT_OUT = {
    "test_get_checkpoint_no_channel_values": INTERNALS,
    "test_nonnull_migrations": INTERNALS,
    "test_from_conn_string_closes_conn": INTERNALS,
    "test_delta_channel_conformance": "asks for a capability that the published conformance suite does not have",
    "test_pending_sends_migration": OLD_FORMAT,
    "test_keep_latest_keeps_the_parent_holding_a_pre_v4_heads_sends": OLD_FORMAT,
    "test_keep_latest_keeps_a_checkpoint_saved_while_it_runs": BETWEEN,
    "test_keep_latest_refuses_a_thread_that_turns_delta_after_the_batch_check": BETWEEN,
    "test_keep_latest_keeps_the_history_of_a_delta_checkpoint_saved_after_the_thread_check": BETWEEN,
    "test_keep_latest_keeps_a_checkpoint_saved_meanwhile_whatever_its_id": BETWEEN,
}
NAMES = {"checkpoint_ns": "namespace", "idx": "place"}
"""The columns of PostgresSaver that have another name here."""


def ours(statement: str) -> str:
    """A statement on PostgresSaver's tables, for those of agent_memory."""
    for theirs, name in NAMES.items():
        statement = statement.replace(theirs, name)
    return statement.replace("FROM checkpoint", "FROM memory.checkpoint")


class _Cursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(ours(query), params, **options)


class _AsyncCursor(psycopg.AsyncCursor[Any]):
    async def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return await super().execute(ours(query), params, **options)


def dsn_of(source: Any) -> str:
    """The address of a connection or a pool."""
    return source.conninfo if hasattr(source, "conninfo") else make_conninfo(URI, dbname=source.info.dbname)


class PostgresSaver(AgentMemorySaver):
    def __init__(self, conn: Any, pipe: Any = None, serde: Any = None) -> None:
        super().__init__(Memory(conn), "ana", serde=serde)
        self.conn, self.pipe = conn, pipe

    def setup(self) -> None:
        pass

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        if self.pipe:
            self.pipe.sync()  # commits what was sent
        with psycopg.connect(dsn_of(self.conn), cursor_factory=_Cursor, row_factory=dict_row) as connection:
            yield connection.cursor()

    @classmethod
    @contextmanager
    def from_conn_string(cls, dsn: str, **_: Any) -> Iterator[PostgresSaver]:
        with psycopg.Connection.connect(dsn, autocommit=True) as connection:
            yield cls(connection)


class AsyncPostgresSaver(AsyncAgentMemorySaver):
    def __init__(self, conn: Any, pipe: Any = None, serde: Any = None) -> None:
        super().__init__(AsyncMemory(conn), "ana", serde=serde)
        self.conn, self.pipe = conn, pipe

    async def setup(self) -> None:
        pass

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[Any]:
        if self.pipe:
            await self.pipe.sync()
        connection = await psycopg.AsyncConnection.connect(
            dsn_of(self.conn), cursor_factory=_AsyncCursor, row_factory=dict_row
        )
        async with connection:
            yield connection.cursor()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, dsn: str, **_: Any) -> AsyncIterator[AsyncPostgresSaver]:
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
            yield cls(connection)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Give the tests the server of this run, before the modules are imported that copy its address."""
    conftest: Any = import_module("tests.conftest")
    conftest.DEFAULT_URI = URI
    conftest.DEFAULT_POSTGRES_URI = _Base(URI)


class _Base(str):
    """An address to which a database is added."""

    def __add__(self, database: str) -> str:
        return make_conninfo(self, dbname=database)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what LEFT_OUT names, and the savers of one state, which agent_memory does not have."""
    left_out = [item for item in items if getattr(item, "originalname", "") in LEFT_OUT or "shallow" in item.name]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


langgraph.checkpoint.postgres.PostgresSaver = PostgresSaver  # type: ignore[misc,assignment]
langgraph.checkpoint.postgres.aio.AsyncPostgresSaver = AsyncPostgresSaver  # type: ignore[misc,assignment]
