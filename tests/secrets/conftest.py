"""A server that logs every statement and has a key of secrets in its environment."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from agent_memory import Memory

from tests.support.servers import Server, install_agent_memory, running_server
from tests.support.sqlapi import Api

LOUD = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_connections": "on",
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "all",
    "compute_query_id": "on",
}


def new_key() -> str:
    return b64encode(os.urandom(32)).decode()


@dataclass(frozen=True)
class Loud:
    """A server that logs every statement, and its database."""

    server: Server
    dsn: str

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(self.dsn, autocommit=True)

    def log(self) -> str:
        return self.server.log_file.read_text()

    def set_keys(self, key: str | None, previous: str | None = None) -> None:
        """Give the server these keys, which takes a restart, as for an administrator."""
        assert isinstance(self.server.env, dict)
        for name, value in (("AGENT_MEMORY_SECRET_KEY", key), ("AGENT_MEMORY_SECRET_KEY_PREVIOUS", previous)):
            self.server.env.pop(name, None)
            if value is not None:
                self.server.env[name] = value
        self.server.restart()


@pytest.fixture(scope="module")
def loud(server: Server) -> Iterator[Loud]:
    """Secrets need PL/Python on a server that reads its own environment, and pgcrypto everywhere."""
    if server.kind == "embedded":
        pytest.skip("this server has neither PL/Python nor pgcrypto")
    with running_server("system", LOUD) as started:
        with psycopg.connect(started.conninfo(), autocommit=True) as connection:
            connection.execute("create database loud")
        install_agent_memory(started, "loud")
        yield Loud(started, started.conninfo("loud"))


@pytest.fixture(autouse=True)
def _no_key_of_the_test_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGENT_MEMORY_SECRET_KEY", "AGENT_MEMORY_SECRET_KEY_PREVIOUS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keyed(api: Api) -> Api:
    """A transaction on a server without a key, which is given one as a client of a managed server gives it."""
    if not api.query("select from pg_extension where extname = 'pgcrypto'"):
        pytest.skip("this server has no pgcrypto")
    use_keys(api, new_key())
    return api


def use_keys(api: Api, key: str, previous: str = "") -> None:
    for setting, value in (("secret_key", key), ("secret_key_previous", previous)):
        api.query("select set_config(%(setting)s, %(value)s, true)", setting=f"agent_memory.{setting}", value=value)


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)
