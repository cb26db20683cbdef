"""Runs tests of one database through a cluster: ``--through=proxy`` or ``--through=nodes``.

Where a test asks for a database it gets two nodes, and before them a proxy, or the routing of the client. ``Api`` then
calls through these. The tests stay as they are. One that needs what neither can do is skipped, and the rule that skips
it says why:

- it takes connections, whole databases or the server, as a test of locks, roles or commands does;
- it needs a session or a transaction over several calls: settings, roles (which the server has for all databases), a
  rollback;
- it looks into tables or changes them by plain SQL while it has named users of both nodes, or none. With users of one
  node it does so there;
- it counts what one server has read or worked.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import psycopg
import pytest
from agent_memory import AgentMemoryError, DegradedWarning, Memory
from agent_memory.calls import SyncRoutedCaller
from agent_memory.calls.nodes import ClusterMap
from agent_memory.cluster import nodes
from agent_memory.cluster.proxy import make_proxy
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from tests.support.sqlapi import Api, parameter

Way = Literal["proxy", "nodes"]

ROOMS = ("messages", "memories", "documents", "artifacts", "search", "context", "queue", "erasure")
FAST = {
    "artifacts": ["reading"],
    "context": ["opening", "acknowledgements"],
    "documents": ["storing"],
    "erasure": ["forget_memory", "list_users"],
    "memories": ["storing", "updating"],
    "messages": ["storing"],
    "queue": ["queue"],
    "search": ["defaults"],
}
"""What ``make test`` runs; ``make nightly`` runs all tests of the rooms."""

TEMPLATE = "through_template"
OWNERS = ["a", "b"] * 32
ONE_SERVER = {"connect", "db", "dsn", "dump", "empty_dsn", "run", "server", "sessions"}
"""Fixtures that give a test more than calls."""
_TABLE = re.compile(r"\bmemory\.(\w+)(?![\w(])")
_NEEDS_A_SESSION = "needs a session or a transaction over several calls"
_OF_A_SESSION = re.compile(
    r"\s*(set|reset|begin|commit|rollback|savepoint|lock|discard|call|listen|prepare|grant|revoke|(create|alter|drop) role)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(rb"\A(?:\w+\.\w+\(\d+\): \[[^\]]*\] REMOTE [A-Z]+: |Remote (?:hint|detail): )")
_OF_TWO_ROWS = {"backfill_status", "doctor", "list_users", "status"}
"""What the client makes of the answers of all nodes is made of its own classes of rows."""

FRONTS: dict[str, Front] = {}
"""The clusters by the name of the database that a test takes for its own."""


def leave_out(way: Way, items: Sequence[pytest.Item], tests: Path, *, is_fast: bool) -> list[pytest.Item]:
    """Mark what cannot run through a cluster, and return what shall not."""
    fast = {tests / room / f"test_{module}.py" for room, modules in FAST.items() for module in modules}
    rooms = [tests / room for room in ROOMS]
    left_out = []
    for item in items:
        if not any(room in item.path.parents for room in rooms) or (is_fast and item.path not in fast):
            left_out.append(item)
            continue
        taken = ONE_SERVER & set(item._fixtureinfo.argnames)  # type: ignore[attr-defined]
        if taken:
            reason = f"takes {', '.join(sorted(taken))}: through --through={way} there are only calls"
            item.add_marker(pytest.mark.skip(reason=reason))
    return left_out


def _skip(reason: str) -> NoReturn:
    pytest.skip(reason)


class Front:
    """Two nodes and what stands before them, all made of one template; ``name`` is what a test connects to."""

    def __init__(self, way: Way, name: str, conninfo: Callable[[str], str]) -> None:
        self.way = way
        self.names = {"b": name, "a": f"{name}__a"} | ({"b": f"{name}__b", "proxy": name} if way == "proxy" else {})
        self.conninfo = conninfo
        self.users: set[str] = set()
        self.is_saved = False
        self.hear: Callable[[psycopg.errors.Diagnostic], None] = lambda _notice: None
        self._opened = contextlib.ExitStack()
        self._known: dict[str, Any] = {}

    def dsn(self, part: str) -> str:
        return self.conninfo(self.names[part])

    def places(self) -> dict[str, str]:
        known = {node: conninfo_to_dict(self.dsn(node)) for node in "ab"}
        return {
            node: make_conninfo(**{key: str(value[key]) for key in ("host", "port", "dbname")})
            for node, value in known.items()
        }

    def begin(self) -> None:
        """Make the first cluster, of which all others are copies."""
        nodes.begin(self.places(), OWNERS, self.dsn("a"))
        if self.way == "proxy":
            with nodes.opened(self.dsn("a")) as opened, psycopg.connect(self.dsn("proxy"), autocommit=True) as proxy:
                make_proxy(opened, proxy, str(conninfo_to_dict(self.dsn("a"))["user"]))

    def name_places(self) -> None:
        """Tell a copy where its own nodes are."""
        places = self.places()
        for node in "ab":
            with psycopg.connect(self.dsn(node)) as connection:
                known = nodes.read_map(connection)
                assert known is not None
                numbered = {name: {"dsn": places[name], "number": known.nodes[name]["number"]} for name in "ab"}
                connection.execute(
                    "select memory._set_cluster_map(%s, %s, %s, %s)",
                    [node, known.version + 1, OWNERS, Jsonb(numbered)],
                )
        if self.way == "proxy":
            with psycopg.connect(self.dsn("proxy")) as connection:
                for number, node in enumerate("ab"):
                    connection.execute(
                        sql.SQL("alter server agent_memory options (set {} {})").format(
                            sql.Identifier(f"p{number}"), sql.Literal(places[node])
                        )
                    )

    def open(self, part: str) -> psycopg.Connection[Any]:
        """Return a connection to a database of the cluster, which is open until ``close``."""
        if part not in self._known:
            connection = psycopg.connect(self.dsn(part), autocommit=True)
            self._known[part] = self._opened.enter_context(contextlib.closing(connection))
        found: psycopg.Connection[Any] = self._known[part]
        return found

    @property
    def caller(self) -> SyncRoutedCaller:
        if "caller" not in self._known:
            pool = ConnectionPool(
                self.dsn("b"),
                min_size=1,
                max_size=1,
                kwargs={"autocommit": True},
                configure=lambda connection: connection.add_notice_handler(lambda notice: self.hear(notice)),
                open=True,
            )
            self._opened.callback(pool.close)
            self._known["caller"] = SyncRoutedCaller(pool, like=pool)
            self._opened.callback(self._known["caller"].close)
        found: SyncRoutedCaller = self._known["caller"]
        return found

    @property
    def memory(self) -> Memory:
        if "memory" not in self._known:
            self._known["memory"] = self._opened.enter_context(Memory(self.dsn("b"), pool_size=1))
        found: Memory = self._known["memory"]
        return found

    def map(self) -> ClusterMap:
        found = nodes.read_map(self.open("a"))
        assert found is not None
        return found

    def node_of_users(self, named: str | None = None) -> str:
        """Return the node of the users whom the test has named."""
        users = self.users if named is None else {named}
        known = self.map()
        found = {known.node_of(user) for user in users}
        if len(found) != 1:
            _skip("looks into tables for users of both nodes" if found else "looks into tables, and has named nobody")
        return found.pop()

    def close(self) -> None:
        self._opened.close()
        self._known.clear()


@contextlib.contextmanager
def clusters(way: Way, database: Any, conninfo: Callable[[str], str]) -> Iterator[Any]:
    """Yield what makes a cluster instead of a database where agent_memory is installed in it."""
    Api.through = staticmethod(lambda name: ThroughApi if name in FRONTS else None)
    with contextlib.ExitStack() as session:

        @contextlib.contextmanager
        def through(name: str, template: str | None = None, as_template: bool = False) -> Iterator[str]:
            if template is None:
                with database(name, template, as_template) as made:
                    yield made
                return
            if template not in FRONTS:  # that of all tests, which is installed by now
                front = Front(way, TEMPLATE, conninfo)
                for part in front.names.values():
                    session.enter_context(database(part, template))
                front.begin()
                FRONTS[template] = front
            original, front = FRONTS[template], Front(way, name, conninfo)
            original.close()
            with contextlib.ExitStack() as stack:
                for part, database_name in front.names.items():
                    stack.enter_context(database(database_name, original.names[part]))
                front.name_places()
                FRONTS[name] = front
                yield conninfo(name)
                front.close()
                del FRONTS[name]

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
        text = statement if isinstance(statement, str) else _text_of(statement)
        if "memory." not in text:
            return self._run(self._front.open("a"), statement, parameters)
        if self._front.way == "proxy" and not {name for name in _TABLE.findall(text) if name not in self._returns_set}:
            return self._run(self._front.open("proxy"), statement, parameters)
        return self._run(self._front.open(self._node_for(text, parameters)), statement, parameters)

    def execute(self, statement: Any, parameters: Any = None) -> psycopg.Cursor[Any]:
        """Execute plain SQL on the node of the users whom the test has named."""
        text = statement if isinstance(statement, str) else _text_of(statement)
        if _OF_A_SESSION.match(text):
            _skip(_NEEDS_A_SESSION)
        return self._front.open(self._node_for(text, parameters)).execute(statement, parameters)

    def _node_for(self, text: str, parameters: Any) -> str:
        values = [*parameters.values()] if isinstance(parameters, dict) else [*(parameters or ())]
        named = parameters.get("user_id", parameters.get("user")) if isinstance(parameters, dict) else None
        if named is None and not self._front.users and ("'ana'" in text or "ana" in values):
            named = "ana"
        return self._front.node_of_users(named)

    def entries_read(self, call: Callable[[], Any]) -> int:  # noqa: ARG002
        _skip("counts what one server reads")

    def at_most(self, cpu_seconds: float) -> NoReturn:  # noqa: ARG002
        _skip("measures one server")

    def cpu_seconds(self) -> float:
        _skip("measures one server")

    def state(self) -> dict[str, Any]:
        return {node: Api(self._front.open(node), is_plain=True).state() for node in "ab"}

    @contextlib.contextmanager
    def rolled_back(self) -> Iterator[Api]:
        """Put the databases back as they were, because each call commits by itself."""
        self.notices.clear()
        front = self._front
        outer = set(front.users)
        front.close()
        self._depth += 1
        if self._depth > 1 or not front.is_saved:
            _copy({f"{name}__{self._depth}": name for name in front.names.values()}, front.conninfo("postgres"))
            front.is_saved = self._depth == 1
        try:
            yield self
        finally:
            front.close()
            _copy({name: f"{name}__{self._depth}" for name in front.names.values()}, front.conninfo("postgres"))
            self._depth -= 1
            front.users = outer

    def _by_client(self, function: str, sent: dict[str, Any], returns_set: bool, given: dict[str, Any]) -> Any:
        try:
            if function in _OF_TWO_ROWS:
                return getattr(self._front.memory.admin, function)(**given)
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
        if notice.severity_nonlocalized != "INFO":
            self.notices.append(_PREFIX.sub(b"", text).decode())


class _Statements:
    """The part of a connection that a cluster has, too."""

    def __init__(self, api: ThroughApi) -> None:
        self.execute = api.execute

    @contextlib.contextmanager
    def transaction(self, *_: Any, force_rollback: bool = False) -> Iterator[None]:
        """Let a refused call be a savepoint's, which needs none here."""
        if force_rollback:
            _skip(_NEEDS_A_SESSION)
        yield

    def __getattr__(self, name: str) -> NoReturn:
        _skip(_NEEDS_A_SESSION)


class _Called:
    """A function as the client calls it, with rows as tests read them."""

    keys = None

    def __init__(self, name: str, returns_set: bool) -> None:
        self.name = name
        self.row_factory = namedtuple_row
        self._returns_set = returns_set

    def sendable(self, given: dict[str, Any]) -> dict[str, Any]:
        return given

    def read(self, rows: list[Any]) -> Any:
        return _one_or_all(rows, self._returns_set)


def _text_of(statement: Any) -> str:
    text: str = statement.decode() if isinstance(statement, bytes) else statement.as_string()
    return text


def _one_or_all(rows: list[Any], returns_set: bool) -> Any:
    if returns_set:
        return rows
    [row] = rows
    return row[0] if len(row) == 1 else row


def _as_the_node_said(error: psycopg.Error) -> psycopg.Error:
    """Return an error without the words of PL/Proxy, which the client removes too."""
    fields = {
        field: value and _PREFIX.sub(b"", value) for field, value in psycopg.errors._info_to_dict(error._info).items()
    }
    text = _PREFIX.sub(b"", str(error).encode()).decode()
    return type(error)(text, info=fields, encoding=error._encoding)


def _copy(template_of: dict[str, str], maintenance: str) -> None:
    """Make databases anew, each as a copy of another one."""
    with psycopg.connect(maintenance, autocommit=True) as connection:
        for name, template in template_of.items():
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
            connection.execute(
                sql.SQL("select pg_terminate_backend(pid) from pg_stat_activity where datname = {}").format(
                    sql.Literal(template)
                )
            )
            connection.execute(
                sql.SQL("create database {} template {} strategy file_copy").format(
                    sql.Identifier(name), sql.Identifier(template)
                )
            )
