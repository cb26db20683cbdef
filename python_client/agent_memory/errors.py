"""One exception for each SQLSTATE of the SQL API.

The database names the problem and the way out (message and HINT); these classes let Python code tell the cases apart.
An error that the API does not define, such as a lost connection, stays the psycopg error it is.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import overload
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo
from psycopg.sql import Identifier


class AgentMemoryError(Exception):
    """Base class of every error this package raises.

    Attributes:
        message: what is wrong, naming the argument where there is one.
        hint: what to do about it, or None.
        sqlstate: the five-character code of the SQL API, or None when no SQL was involved.
    """

    sqlstate: str | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHINT:  {self.hint}"


class InvalidValueError(AgentMemoryError, ValueError):
    """An argument is unknown, malformed, empty or of the wrong type."""

    sqlstate = "22023"


class NotFoundError(AgentMemoryError):
    """There is no such row for this user."""

    sqlstate = "P0002"


class ConflictError(AgentMemoryError):
    """The row exists already, or somebody else has changed it in the meantime."""

    sqlstate = "23505"


class RetryableError(AgentMemoryError):
    """Concurrent work got in the way; the same transaction may succeed when it is run again."""

    sqlstate = "40001"


class WrongNodeError(RetryableError):
    """Another node of the cluster serves the user: the hint names the node.

    Clients follow such a refusal once. Whoever sees the error came during a move and tries again, or called with an
    open connection, which leads to one node.
    """

    sqlstate = "AM003"


class PermissionDeniedError(AgentMemoryError):
    """The role or the user has no right to use this row or this function."""

    sqlstate = "42501"


class LimitExceededError(AgentMemoryError):
    """The input is larger than the database accepts."""

    sqlstate = "54000"


class LeaseLostError(AgentMemoryError):
    """The job is no longer leased to this worker, so its result was refused."""

    sqlstate = "AM001"


class BudgetExceededError(AgentMemoryError):
    """The model budget of the user or agent is spent."""

    sqlstate = "AM002"


class NotInstalledError(AgentMemoryError):
    """The database has no agent_memory, or an older one that lacks what this client calls."""

    sqlstate = "3F000"


class NotConnectedError(AgentMemoryError, psycopg.OperationalError):
    """No server listens there, or it refuses the user, the password or the database; the hint says what to do."""

    sqlstate = "08001"


class NotSupportedError(AgentMemoryError, psycopg.errors.FeatureNotSupported):
    """This installation lacks what the function needs, such as PL/Python or a key; the hint says what helps."""

    sqlstate = "0A000"


class DegradedWarning(UserWarning):
    """An answer is less than it could be, such as a search by keyword alone because no embedding model is active.

    Warned of once per cause and client, or once per cause and process where the store is embedded; each time it happens
    the logger ``agent_memory`` gets a line.

    Attributes:
        message: what is missing from the answer, and why.
        hint: what to do about it, or None.
        sqlstate: the code of the cause, a key of ``DEGRADED``.
        cause: the name of the cause, the value of that key; "other" for one that a newer database added.
    """

    def __init__(self, message: str, *, hint: str | None = None, sqlstate: str | None = None) -> None:
        super().__init__(f"{message}. {hint}" if hint else message)
        self.message = message
        self.hint = hint
        self.sqlstate = sqlstate
        self.cause = DEGRADED.get(sqlstate or "", "other")


DEGRADED = {
    "01AM1": "no embedding model",
    "01AM2": "query not embedded",
    "01AM3": "texts not embedded yet",
    "01AM4": "earlier conversations not compared by meaning",
    "01AM5": "not reranked",
    "01AM6": "does not fit",
    "01AM7": "messages not parsed yet",
    "01AM8": "missing resource",
    "01AM9": "expired already",
}
"""The causes of degraded answers by the SQLSTATE of the database's NOTICE."""


_BY_SQLSTATE: dict[str, type[AgentMemoryError]] = {
    error.sqlstate: error
    for error in AgentMemoryError.__subclasses__()
    # Which of these two it is does not follow from the SQLSTATE.
    if error.sqlstate is not None and error not in (NotInstalledError, NotConnectedError)
} | {  # a deadlock, a lock not granted in time: as with a serialization failure, the remedy is to run it again
    "40P01": RetryableError,
    "55P03": RetryableError,
    "AM003": WrongNodeError,
}

_ANOTHER = 'name another database with AGENT_MEMORY_DSN or --dsn, such as "postgresql://user@localhost/app".'

# No such schema, function (or none with these arguments), relation.
_MISSING = {"3F000", "42883", "42P01"}
_NOT_PERMITTED = "42501"
_FAILED_TRANSACTION = "25P02"
# A prepared statement that exists already, does not exist, or takes other parameters than are sent.
_OTHER_STATEMENT = {"42P05", "26000", "08P01"}

# The schema that a function has looked into, in any language: 'schema "memory" ...' and 'relation "memory.jobs" ...'.
_ELSEWHERE = re.compile(r'"(\w+)(?:\.\w+"|"[^"]*\Z)')
_PROXIED = re.compile(r"\A(?:\w+\.\w+\(\d+\): \[[^\]]*\] REMOTE [A-Z]+: |Remote (?:hint|detail): )")

_VERSION = "select memory.version() || case when to_regclass('memory.artifacts') is null then '+core' else '' end"
QUESTIONS = dict.fromkeys(_MISSING, _VERSION) | {_NOT_PERMITTED: "select current_user"}
"""The question that explains an error with this SQLSTATE, for a server that still answers."""


# What libpq and the server say in English, and what helps; with other languages there is only the last resort.
_NOT_CONNECTED = (
    (r"no password supplied", "Put the password of {user} into the connection string, PGPASSWORD or ~/.pgpass."),
    (r"password authentication failed", "The password of {user} is another one: see the connection string."),
    (r'database ".*" does not exist', "Run: createdb {where}; then: agent-memory install --dsn {dsn}"),
    (r'role ".*" does not exist', "Run as a superuser: create role {user} login; or connect as another user."),
    (r"refused|No such file|timed? ?out|timeout", "Start the server there, or " + _ANOTHER),
    (r"resolve|Servname", "There is no such host or port: see the connection string, or " + _ANOTHER),
    (r"", "See the connection string, or " + _ANOTHER),
)


@contextmanager
def connecting(conninfo: str) -> Iterator[None]:
    """Raise NotConnectedError, which is an OperationalError of psycopg too, where a connection cannot be made.

    Args:
        conninfo: the connection string; its password is not repeated.
    """
    try:
        yield
    except psycopg.ProgrammingError as error:
        # What libpq says repeats a part of the string, which may be a part of its password.
        raise NotConnectedError(
            "the connection string cannot be read" + _unread_of(conninfo),
            hint="A connection string looks like postgresql://user@localhost/app. "
            "For a store in a folder: Memory(path=...).",
        ) from error
    except psycopg.OperationalError as error:
        if isinstance(error, AgentMemoryError):
            raise
        known = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value}
        server = {name: known[name] for name in ("host", "port", "user") if name in known}
        database = known.get("dbname", known.get("user", "DATABASE"))
        blanks = {
            "user": known.get("user", "the user"),
            "where": shlex.join(
                [*(f"--{name.replace('user', 'username')}={value}" for name, value in server.items()), database]
            ),
            "dsn": shlex.quote(make_conninfo(**server, dbname=database)),
        }
        said = re.sub(r"^connection (failed|is bad): ", "", str(error).partition("\n")[0])
        hint = next(help_ for pattern, help_ in _NOT_CONNECTED if re.search(pattern, said))
        raise NotConnectedError(said, hint=hint.format(**blanks)) from error


def _unread_of(conninfo: str) -> str:
    """Name what other programs write into a connection string and libpq cannot read; values may be secret."""
    scheme, is_url, rest = conninfo.partition("://")
    if not is_url:
        return ""
    if scheme not in ("postgresql", "postgres"):
        begins = re.fullmatch(r"postgres(?:ql)?\+\w+", scheme)
        return f": {scheme}:// is for SQLAlchemy, write postgresql://" if begins else ": it begins with another scheme"
    known = {option.keyword.decode() for option in Conninfo.get_defaults()} | {"ssl"}
    query = rest.rpartition("@")[2].partition("?")[2]  # a password may hold question marks
    others = [name for name, _ in parse_qsl(query, keep_blank_values=True) if name not in known]
    return f": libpq knows no parameter {', '.join(others)}, leave it out" if others else ""


def client_version() -> str:
    """Return the version of this package."""
    return version("pg-agent-memory")


def version_numbers(version: str) -> list[int]:
    """Return the numbers of a version, which compare as versions do."""
    return [int(number) for number in version.split(".")]


def may_come_from_an_upgrade(error: psycopg.Error) -> bool:
    """Whether an upgrade that was committed during a call, or since its statement was prepared, may explain the error.

    A call that an upgrade meets half way goes on with functions of the version before, and may miss one that the new
    version lacks. A prepared statement fails once if its function has got a new column.
    """
    sqlstate, diagnostic = error.sqlstate or "", error.diag
    if diagnostic.source_function == "RevalidateCachedQuery":  # "cached plan must not change result type"
        return True
    is_inside = diagnostic.context is not None
    return is_inside and sqlstate != _NOT_PERMITTED and (sqlstate[:2] in ("42", "XX") or sqlstate == "22P02")


@overload
def without_proxy(text: str) -> str: ...
@overload
def without_proxy(text: None) -> None: ...
def without_proxy(text: str | None) -> str | None:
    """Return what a node has said, without what PL/Proxy puts before that."""
    return None if text is None else _PROXIED.sub("", text, count=1)


def from_psycopg(
    error: psycopg.Error,
    info: psycopg.ConnectionInfo,
    function: str | None = None,
    answer: str | None = None,
    schema: str = "memory",
) -> AgentMemoryError | None:
    """Return the exception of this package for a psycopg error, or None when the SQL API does not define the error.

    Args:
        error: what psycopg raised.
        info: the connection that it happened on.
        function: the function that was called, if it was one.
        answer: what the server said to the question for this SQLSTATE; "" that it has no agent_memory, None nothing.
        schema: the schema of the functions.
    """
    sqlstate, message = error.sqlstate or "", without_proxy(error.diag.message_primary or str(error))
    # Without a context, the statement itself failed and not something inside the function that it called.
    is_ours = error.diag.context is None
    result: AgentMemoryError | None = None
    if sqlstate in _MISSING and is_ours:
        result = not_installed(message, info, "" if sqlstate == "3F000" else answer, schema)
    elif _looks_elsewhere(error, message, schema):
        result = NotInstalledError(
            f'the functions in schema "{schema}" call others elsewhere, as if it had been renamed: {message}',
            hint=f"Rename it back, or have its functions made anew: agent-memory install --schema {schema}",
        )
    elif sqlstate == _NOT_PERMITTED and is_ours:
        result = _not_permitted(message, info, function, answer, schema)
    elif sqlstate == _FAILED_TRANSACTION:
        result = AgentMemoryError(
            "an earlier statement of this transaction failed, so the server executes none any more",
            hint="Roll back first. Around a call that may fail, connection.transaction() keeps earlier statements.",
        )
    elif sqlstate in _OTHER_STATEMENT and is_ours and "prepared statement" in message:
        result = AgentMemoryError(
            f"{message}: a pooler such as PgBouncer before 1.21 gives this session statements of other clients",
            hint="Pass prepare=False where the client opens its connections, Memory(dsn, prepare=False), and "
            "prepare_threshold=None where you open them.",
        )
    elif sqlstate in _BY_SQLSTATE:
        result = _BY_SQLSTATE[sqlstate](message, hint=without_proxy(error.diag.message_hint))
    elif sqlstate.startswith("22"):  # "data exception": a value that PostgreSQL could not read as the argument's type
        result = InvalidValueError(message, hint=without_proxy(error.diag.message_hint) or "Check the arguments.")
    if result is not None:
        result.sqlstate = sqlstate
    if result is not None or isinstance(error, psycopg.errors.QueryCanceled):
        # The lines of its context are statements of ours. They stay in error.diag, and would fill each traceback.
        error.args = (error.diag.message_primary or str(error),)
    return result


def _looks_elsewhere(error: psycopg.Error, message: str, schema: str) -> bool:
    """Whether a function of the schema has looked for something in another schema, which none of them does."""
    elsewhere = _ELSEWHERE.search(message) if error.sqlstate in ("3F000", "42P01") else None
    if elsewhere is None or elsewhere[1] == schema:
        return False
    # A table may be missing from a function of the application's own, such as a trigger.
    return error.sqlstate == "3F000" or f"{schema}." in (error.diag.context or "").partition("\n")[0]


def not_installed(
    message: str, info: psycopg.ConnectionInfo, installed: str | None, schema: str = "memory"
) -> NotInstalledError:
    """Say that a database lacks agent_memory, or what this client calls of it, and which command helps.

    Args:
        message: what the server said.
        info: a connection to the database.
        installed: the version that is installed, with "+core" without add-ons; "" for none, None if not known.
        schema: where it should be.
    """
    wanted, database = client_version(), _database(info)
    # Users of agent_memory rarely connect as the role that may install it, so the command names no user.
    where = shlex.quote(make_conninfo(host=info.host, port=info.port, dbname=info.dbname))
    hint = f"Run, as the owner of the database: agent-memory install --dsn {where}"
    if schema != "memory":
        hint, database = f"{hint} --schema {schema}", f'schema "{schema}" of {database}'
    if installed == "":
        return NotInstalledError(f"there is no agent_memory in {database}", hint=hint)
    if installed == f"{wanted}+core":
        said = f"{database} has the core of agent_memory {wanted}, and this belongs to an add-on: {message}"
        return NotInstalledError(said, hint=f"To add the add-ons, {hint[0].lower()}{hint[1:]}")
    installed = installed and installed.removesuffix("+core")
    if installed is not None and version_numbers(installed) > version_numbers(wanted):
        hint = "Upgrade the client: pip install --upgrade pg-agent-memory"
    has = "has no agent_memory, or an older one" if installed is None else f"has agent_memory {installed}"
    return NotInstalledError(f"{database} {has}; this client is {wanted}: {message}", hint=hint)


def _not_permitted(
    message: str, info: psycopg.ConnectionInfo, function: str | None, current_user: str | None, schema: str
) -> PermissionDeniedError:
    role = Identifier(current_user or info.user).as_string(None)
    grants = f"grant usage on schema {schema} to {role};"
    if relation := re.fullmatch(r"permission denied for (?:view|table) (\w+)", message):
        grants = f"grant select on {schema}.{relation[1]} to {role};"
    elif function is not None:
        kind = "procedure" if function == "run_jobs" else "function"
        grants += f" grant execute on {kind} {schema}.{function} to {role};"
    return PermissionDeniedError(
        f"role {role} in {_database(info)}: {message}",
        hint=f"As the owner of schema {schema}: {grants} docs/roles.md lists the rights that each kind of role needs.",
    )


def _database(info: psycopg.ConnectionInfo) -> str:
    return f'database "{info.dbname}" on {info.host}:{info.port}'
