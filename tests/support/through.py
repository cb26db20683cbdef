"""Runs tests of one database through a cluster: ``--through=proxy`` or ``--through=nodes``.

Where a test asks for a database it gets two nodes, and before them a proxy, or the routing of the client. ``Api`` then
calls through these. The tests stay as they are. One that needs what neither can do is skipped, and the rule that skips
it says why:

- it takes connections, whole databases or the server, as a test of locks, roles or commands does;
- it needs a session or a transaction over several calls: settings, roles (which the server has for all databases), a
  rollback;
- it looks into tables or changes them by plain SQL while it has named users of both nodes, or none. With users of one
  node it does so there;
- it counts what one server has read or worked;
- it asks a proxy for what is done beside a node, such as run_jobs();
- ``DIFFERENT`` names it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest
from agent_memory import AgentMemoryError, DegradedWarning
from agent_memory.cluster.proxy import OF_NODES
from psycopg import sql
from psycopg.pq import Format
from psycopg.rows import namedtuple_row

from tests.support.again import TESTS, paths_of
from tests.support.fronts import FRONTS, LOOKS_AT_TWO, TEMPLATE, Front, Way, skip
from tests.support.sqlapi import Api, parameter

ROOMS = ("messages", "memories", "documents", "artifacts", "search", "context", "queue", "erasure")
FAST = {
    "artifacts": ["storing"],
    "context": ["opening", "acknowledgements"],
    "documents": ["storing"],
    "erasure": ["forget_memory", "list_users"],
    "memories": ["storing", "updating"],
    "messages": ["storing"],
    "queue": ["protocol"],
    "search": ["defaults"],
}
"""What ``make test`` runs; ``make nightly`` runs all tests of the rooms."""
ROOM_PATHS = {TESTS / room for room in ROOMS}
FAST_PATHS = paths_of(FAST)

DIFFERENT = {
    "test_an_import_takes_parts_in_one_transaction": "an import of several parts is one transaction",
    "test_a_job_keeps_the_words_of_the_messages_it_read_where_it_keeps_token_counts": "asks what a transaction wrote",
    "test_messages_that_are_being_cleared_are_handed_to_nobody": "each call is a transaction of its own",
    "test_workers_for_other_kinds_take_nobody_s_turn": "users take turns on each node",
    "test_an_open_append_keeps_no_job_of_its_thread_back": "each call is a transaction of its own",
    "test_claims_take_turns_between_users": "users take turns on each node",
    "test_one_claim_of_many_jobs_takes_turns_too": "users take turns on each node",
    "test_users_come_with_their_counters_the_last_heard_of_first": "calls of one transaction have the same time",
}
"""Tests that are not true of a cluster, and why."""
ONE_SERVER = {"connect", "db", "dsn", "dump", "empty_dsn", "run", "server", "sessions"}
"""Fixtures that give a test more than calls."""
_TABLE = re.compile(r"\bmemory\.(\w+)(?![\w(])")
_NEEDS_A_SESSION = "needs a session or a transaction over several calls"
_OF_A_SESSION = re.compile(
    r"\s*(set|reset|begin|commit|rollback|savepoint|lock|discard|call|listen|prepare|grant|revoke"
    r"|(create|alter|drop) role|select set_config)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(rb"\A(?:\w+\.\w+\(\d+\): \[[^\]]*\] REMOTE [A-Z]+: |Remote (?:hint|detail): )")
_OF_TWO_ROWS = {"backfill_status", "doctor", "list_users", "status"}
"""What the client makes of the answers of all nodes is made of its own classes of rows."""


def is_outside(path: Path, *, is_fast: bool) -> bool:
    """Whether a module is of no room with users, or not of the part that ``make test`` runs."""
    return path not in FAST_PATHS if is_fast else not ROOM_PATHS & set(path.parents)


def skip_others(way: Way, items: Sequence[pytest.Item]) -> None:
    """Skip what cannot run through a cluster."""
    for item in items:
        taken = ONE_SERVER & set(item._fixtureinfo.argnames)  # type: ignore[attr-defined]
        reason = DIFFERENT.get(item.name, DIFFERENT.get(item.name.partition("[")[0]))
        if reason is None and taken:
            reason = f"takes {', '.join(sorted(taken))}: through --through={way} there are only calls"
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def is_beside_a_node(error: BaseException) -> bool:
    """Whether a proxy has refused what is done beside a node."""
    return isinstance(error, psycopg.errors.FeatureNotSupported) and "a proxy does not do this" in str(error)


@contextlib.contextmanager
def clusters(way: Way, database: Any, conninfo: Callable[[str], str]) -> Iterator[Any]:
    """Yield what makes a cluster instead of a database where agent_memory is installed in it."""
    Api.through = staticmethod(lambda name: ThroughApi if name in FRONTS else None)
    numbers = itertools.count(1)
    spare: list[Front] = []
    asked: dict[str, Front] = {}  # by the names that tests have asked for, such as those of their templates
    with contextlib.ExitStack() as session:

        def made(name: str, original: Front, stack: contextlib.ExitStack) -> Front:
            front = Front(way, name, conninfo)
            original.close()
            for part, database_name in front.names.items():
                stack.enter_context(database(database_name, original.names[part]))
            front.name_places()
            FRONTS[name] = front
            return front

        def first(template: str) -> Front:
            """Make the cluster of which all are copies, of the template of all tests, which is installed by now."""
            if template not in FRONTS:
                front = Front(way, TEMPLATE, conninfo)
                for part in front.names.values():
                    session.enter_context(database(part, template))
                front.begin()
                FRONTS[template] = front
            return FRONTS[template]

        @contextlib.contextmanager
        def through(name: str, template: str | None = None, as_template: bool = False) -> Iterator[str]:
            if template is None:
                with database(name, template, as_template) as only:
                    yield only
            elif template in asked:
                with contextlib.ExitStack() as stack:
                    front = made(name, asked[template], stack)
                    yield conninfo(name)
                    front.close()
                    del FRONTS[name]
            else:
                front = spare.pop() if spare else made(f"through_{next(numbers)}", first(template), session)
                asked[name] = front
                with front.kept(is_as_before=True):
                    yield conninfo(front.name)
                front.users.clear()
                del asked[name]
                spare.append(front)

        yield through


class ThroughApi(Api):
    """Calls the functions through a proxy, or by the client's routing."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection)
        self._front = FRONTS[connection.info.dbname]
        self._depth = 0

    @property
    def connection(self) -> Any:
        """Plain SQL on the node of the users whom the test has named."""
        return _Statements(self)

    @connection.setter
    def connection(self, connection: psycopg.Connection[Any]) -> None:
        """Nothing is done by the connection that the test has opened."""

    def __getattr__(self, function: str) -> Callable[..., Any]:
        if function.startswith("_"):
            raise AttributeError(function)
        returns_set = self._returns_set[function]

        def call(**arguments: Any) -> Any:
            user_id = arguments.get("user_id")
            if isinstance(user_id, str):
                self._front.users.add(user_id)
            sent = {name: parameter(value) for name, value in arguments.items()}
            if self._front.way == "nodes":
                return self._by_client(function, sent, returns_set, arguments)
            if function in OF_NODES:
                skip("a proxy does not do this")
            named = sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in arguments
            )
            statement = sql.SQL("select * from {}({})").format(sql.Identifier("memory", function), named)
            return _one_or_all(self._run(self._front.open("proxy"), statement, sent), returns_set)

        return call

    def claim_jobs(self, **arguments: Any) -> list[Any]:
        """Claim from each node, as its worker does, or from that of the user."""
        user_id = arguments.get("user_id")
        if user_id is not None:
            self._front.users.add(user_id)
        jobs: list[Any] = []
        for node in "ab" if user_id is None else self._front.node_of_users(user_id):
            rest = arguments.get("max_jobs", 1) - len(jobs)
            if rest > 0:
                jobs += Api(self._front.open(node), is_plain=True).claim_jobs(**{**arguments, "max_jobs": rest})
        return jobs

    def query(self, statement: Any, **parameters: Any) -> list[Any]:
        """Rows of any other statement, from the node of the users whom the test has named."""
        text = _text_of(statement)
        if _OF_A_SESSION.match(text):
            skip(_NEEDS_A_SESSION)
        if "pg_class" in text:
            skip("looks into one server's catalog")
        if not any("memory." in str(each) for each in (text, *parameters.values())):
            return self._run(self._front.open("a"), statement, parameters)
        is_public = "memory._" not in text
        if (
            self._front.way == "proxy"
            and is_public
            and not {name for name in _TABLE.findall(text) if name not in self._returns_set}
        ):
            return self._run(self._front.open("proxy"), statement, parameters)
        with _own_node():
            return self._run(self._front.open(self._node_for(text, parameters)), statement, parameters)

    def execute(self, statement: Any, parameters: Any = None) -> psycopg.Cursor[Any]:
        """Execute plain SQL on the node of the users whom the test has named."""
        text = _text_of(statement)
        if _OF_A_SESSION.match(text):
            skip(_NEEDS_A_SESSION)
        with _own_node():
            return self._front.open(self._node_for(text, parameters)).execute(statement, parameters)

    def _node_for(self, text: str, parameters: Any) -> str:
        values = [*parameters.values()] if isinstance(parameters, dict) else [*(parameters or ())]
        named = parameters.get("user_id", parameters.get("user")) if isinstance(parameters, dict) else None
        if named is None and not self._front.users and ("'ana'" in text or "ana" in values):
            named = "ana"
        return self._front.node_of_users(named)

    def entries_read(self, call: Callable[[], Any]) -> int:  # noqa: ARG002
        skip("counts what one server reads")

    @contextlib.contextmanager
    def at_most(self, cpu_seconds: float) -> Iterator[None]:  # noqa: ARG002
        """Measure nothing: what a call costs is known from one server."""
        yield

    def cpu_seconds(self) -> float:
        skip("measures one server")

    def state(self) -> dict[str, Any]:
        a, b = (Api(self._front.open(node), is_plain=True).state() for node in "ab")
        return {table: (a[table], b[table]) for table in a}

    @contextlib.contextmanager
    def rolled_back(self) -> Iterator[Api]:
        """Put the databases back as they were, because each call commits by itself."""
        self.notices.clear()
        outer = set(self._front.users)
        self._depth += 1
        try:
            with self._front.kept(is_as_before=self._depth == 1):
                yield self
        finally:
            self._depth -= 1
            self._front.users = outer

    def _by_client(self, function: str, sent: dict[str, Any], returns_set: bool, given: dict[str, Any]) -> Any:
        try:
            if function in _OF_TWO_ROWS:
                answer = getattr(self._front.memory.admin, function)(**given)
                return [_as_row(each) for each in answer] if isinstance(answer, list) else answer
            called: Any = _Called(function, returns_set)
            self._front.hear = self._hear
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegradedWarning)
                return self._front.caller.call(called, sent)
        except AgentMemoryError as error:
            if isinstance(error.__cause__, psycopg.Error):
                raise error.__cause__ from None
            raise

    def _run(self, connection: psycopg.Connection[Any], statement: Any, parameters: dict[str, Any]) -> list[Any]:
        connection.add_notice_handler(self._hear)
        try:
            with connection.cursor(row_factory=namedtuple_row) as cursor:
                return cursor.execute(statement, parameters).fetchall()
        except psycopg.Error as error:
            raise _as_the_node_said(error) from None
        finally:
            connection.remove_notice_handler(self._hear)

    def _hear(self, notice: psycopg.errors.Diagnostic) -> None:
        text = (notice.message_primary or "").encode()
        if notice.severity_nonlocalized != "INFO" and b"] REMOTE INFO: " not in text:
            self.notices.append(_PREFIX.sub(b"", text).decode())


class _Statements:
    """The part of a connection that a cluster has, too."""

    def __init__(self, api: ThroughApi) -> None:
        self.execute = api.execute

    @contextlib.contextmanager
    def transaction(self, *_: Any, force_rollback: bool = False) -> Iterator[None]:
        """Let a refused call be a savepoint's, which needs none here."""
        if force_rollback:
            skip(_NEEDS_A_SESSION)
        yield

    def __getattr__(self, name: str) -> NoReturn:
        skip(_NEEDS_A_SESSION)


class _Called:
    """A function as the client calls it, with rows as tests read them."""

    keys = None
    format = Format.TEXT
    verb = "select * from"

    def __init__(self, name: str, returns_set: bool) -> None:
        self.name = name
        self.row_factory = namedtuple_row
        self._returns_set = returns_set

    def sendable(self, given: dict[str, Any]) -> dict[str, Any]:
        return given

    def read(self, rows: list[Any]) -> Any:
        return _one_or_all(rows, self._returns_set)


@contextlib.contextmanager
def _own_node() -> Iterator[None]:
    """Skip a test whose plain SQL is for a user of the other node."""
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate == "AM003":
            skip(LOOKS_AT_TWO)
        raise


def _text_of(statement: Any) -> str:
    """Return a statement with the names of tables as most tests write them, memory.messages."""
    if isinstance(statement, (str, bytes)):
        return statement if isinstance(statement, str) else statement.decode()
    text: str = statement.as_string()
    return text.replace('"', "")


def _one_or_all(rows: list[Any], returns_set: bool) -> Any:
    if returns_set:
        return rows
    [row] = rows
    return row[0] if len(row) == 1 else row


def _as_row(answer: Any) -> Any:
    """Return an object of the client as a row of the function."""
    names = [field.name for field in dataclasses.fields(answer)]
    return namedtuple(type(answer).__name__, names)(*(getattr(answer, name) for name in names))


def _as_the_node_said(error: psycopg.Error) -> psycopg.Error:
    """Return an error without the words of PL/Proxy, which the client removes too."""
    known: Any = psycopg.errors._info_to_dict(error._info)
    fields = {field: value and _PREFIX.sub(b"", value) for field, value in known.items()}
    text = _PREFIX.sub(b"", str(error).encode()).decode()
    return type(error)(text, info=fields, encoding=error._encoding)
