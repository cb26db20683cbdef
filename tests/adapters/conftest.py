"""Fixtures of the tests of adapters."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.adapters.langgraph import AgentMemorySaver

from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.sqlapi import Api


@pytest.fixture
def memory(api: Api) -> Memory:
    """A client of the database that the tests of a module share; what a test stores is rolled back at its end."""
    return Memory(api.connection)


@pytest.fixture
def stored(db: psycopg.Connection) -> Memory:
    """A client of the database that the examples use."""
    return Memory(db)


@pytest.fixture
def failing_memory() -> Iterator[Memory]:
    """A client of a server that does not run."""
    with Memory("host=localhost port=1 dbname=nothing connect_timeout=1") as memory:
        yield memory


@pytest.fixture
def model() -> Iterator[FakeModelServer]:
    with FakeModelServer(Behaviour(answer="Noted.")) as server:
        yield server


@pytest.fixture
def environment(dsn: str, model: FakeModelServer, monkeypatch: pytest.MonkeyPatch) -> FakeModelServer:
    """The environment that the examples expect: the test's database and the model server, which is returned."""
    monkeypatch.setenv("AGENT_MEMORY_DSN", dsn)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("CHAT_MODEL", "m")
    return model


@pytest.fixture
def saver(memory: Memory) -> AgentMemorySaver:
    return AgentMemorySaver(memory, "ana")
