"""A plugin of pytest: the adapter stands in for LangGraph's stores, which its tests import."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

import langgraph.store.memory
import langgraph.store.postgres
import psycopg
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.langgraph import AgentMemoryStore, AsyncAgentMemoryStore

URI = os.environ["SUITE_URI"]
OTHER_TABLE = "makes rows of PostgresStore's table old in SQL; test_langgraph_store.py does so with ours"
LEFT_OUT = {
    "test_omit_expired_filters_read_paths": OTHER_TABLE,
    "test_omit_expired_refresh_ttl_only_refreshes_live_rows": OTHER_TABLE,
    "test_omit_expired_search_pagination": OTHER_TABLE,
    "test_omit_expired_disabled_preserves_expired_rows": "wants expired items back; agent_memory never returns them",
    "test_abatch_uses_single_pool_checkout": "counts the calls of an internal function of AsyncPostgresStore",
    "test_escape_like_literal": "calls an internal function of PostgresStore",
    "test_namespace_match_pattern": "calls an internal function of PostgresStore",
    "test_nonnull_migrations": "reads the statements that make PostgresStore's tables",
}


class _Administered:
    """The methods that are not the protocol's: to make tables, to delete what has expired, to reach the database."""

    MIGRATIONS: list[str] = []

    def setup(self) -> None:
        pass

    start_ttl_sweeper = stop_ttl_sweeper = setup

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Any]]:
        with psycopg.connect(URI) as connection:
            yield connection.cursor()


class PostgresStore(_Administered, AgentMemoryStore):
    @classmethod
    @contextmanager
    def from_conn_string(cls, dsn: str, *, index: Any = None, ttl: Any = None, **_: Any) -> Iterator[PostgresStore]:
        with Memory(dsn) as memory:
            yield cls(memory, "ana", index=index, ttl=ttl)


class AsyncPostgresStore(AsyncAgentMemoryStore):
    MIGRATIONS: list[str] = []

    async def setup(self) -> None:
        pass

    start_ttl_sweeper = stop_ttl_sweeper = setup

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[psycopg.AsyncCursor[Any]]:
        async with await psycopg.AsyncConnection.connect(URI) as connection:
            yield connection.cursor()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, dsn: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> AsyncIterator[AsyncPostgresStore]:
        async with AsyncMemory(dsn) as memory:
            yield cls(memory, "ana", index=index, ttl=ttl)


class InMemoryStore(AgentMemoryStore):
    """A store in a database of its own."""

    def __init__(self, *, index: Any = None) -> None:
        name = f"test_{uuid4().hex[:16]}"
        with psycopg.connect(URI, autocommit=True) as connection:
            connection.execute(f"create database {name}")
        super().__init__(Memory(URI.replace("/postgres?", f"/{name}?"), pool_size=2), "ana", index=index)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Give the tests the server of this run, before the modules are imported that copy its address."""
    with contextlib.suppress(ImportError):
        import_module("tests.conftest").DEFAULT_URI = URI  # type: ignore[attr-defined]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what LEFT_OUT names."""
    left_out = [item for item in items if getattr(item, "originalname", "") in LEFT_OUT]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


langgraph.store.postgres.PostgresStore = PostgresStore  # type: ignore[misc,assignment]
langgraph.store.postgres.AsyncPostgresStore = AsyncPostgresStore  # type: ignore[misc,assignment]
langgraph.store.memory.InMemoryStore = InMemoryStore  # type: ignore[misc,assignment]
