"""Copies users from one database to another, row by row as they are, such as from an embedded server to a real one.

Each user is copied in one transaction at the target from one snapshot of the source, and the transaction ends only if
both sides have the same rows. So a move that is interrupted has moved users whole or not at all, and goes on with the
others when it is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import psycopg
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from ..calls import translated
from ..errors import (
    InvalidValueError,
    NotFoundError,
    NotInstalledError,
    PermissionDeniedError,
    RetryableError,
    client_version,
)
from ..install import install, installed_version
from .settings import copy_settings
from .tables import Contents, Side

_SESSION = """
set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 1;
set bytea_output = 'hex'; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
set search_path = pg_catalog, pg_temp
"""

_LOCK = "hashtextextended('agent_memory move', 0)"

_SAME_DATABASE = """
select pg_postmaster_start_time()::text, oid::text, datname from pg_database where datname = current_database()
"""

Outcome = Literal["moved", "present", "refused", "changed"]
Report = Callable[[str, str, int, int], None]
"""Is told the user, the table, how many rows of the user are copied, and how many there are."""


@dataclass(frozen=True)
class MovedUser:
    """The outcome of one user.

    Attributes:
        user_id: who; "" stands for what belongs to no user, such as the policy of all users.
        outcome: ``moved``: copied and compared now. ``present``: the target had the same rows already. ``refused``: the
            target has other rows of this user, and nothing was done. ``changed``: the source changed after the user
            was copied, so that the target lacks the change.
        contents: the rows and checksums at the source, by table.
        problem: why, and what helps, where the outcome is refused or changed.
    """

    user_id: str
    outcome: Outcome
    contents: Contents = field(default_factory=dict)
    problem: str | None = None

    @property
    def rows(self) -> int:
        """How many rows the user has at the source."""
        return sum(number for number, _ in self.contents.values())


def move(
    source: Connection[Any],
    target: Connection[Any],
    users: Sequence[str] | None = None,
    report: Report | None = None,
) -> Iterator[MovedUser]:
    """Copy users from one database to another, and yield the outcome of each. The source stays as it is.

    Where the target has no agent_memory, it is installed. A target without users gets the settings too: policies,
    models (which hold no keys), prompts and kinds of memories. One with users keeps its settings, and gets those models
    and kinds of memories that it lacks, not active.

    Writers at the source should be stopped. Who is written to after being copied is yielded again at the end, with the
    outcome ``changed``.

    Args:
        source: an autocommit connection that may read all tables of schema ``memory``.
        target: an autocommit connection of the owner of schema ``memory``, or of who may install it.
        users: their ids; all users when None.
        report: is told about the progress.

    Raises:
        NotInstalledError: one side has another version of agent_memory than the other.
        PermissionDeniedError: the role at the target is not the owner of schema ``memory``.
        NotFoundError: one of the users has nothing at the source.
        ConflictError: a model has the same name on both sides and is another one.
        RetryableError: another move into the target is running.
    """
    with copying(source, target) as (from_side, to_side):
        yield from _move(from_side, to_side, users, report)


@contextmanager
def copying(source: Connection[Any], target: Connection[Any]) -> Iterator[tuple[Side, Side]]:
    """Make two databases ready for copies of users, keep other moves out, and yield their tables.

    Raises the errors of ``move``.
    """
    with translated(source), translated(target):
        _prepare(source, target)
        try:
            yield Side(source), Side(target)
        finally:
            if not target.closed:
                target.execute(f"select pg_advisory_unlock({_LOCK})")


def _move(source: Side, target: Side, users: Sequence[str] | None, report: Report | None) -> Iterator[MovedUser]:
    wanted = _users(source, users)
    with _snapshot(source.connection):
        added = copy_settings(source.connection, target.connection, is_new=not target.users())
    yield MovedUser("", "moved", {name: (number, "") for name, number in added.items()})
    moved = []
    for user_id in wanted:
        result = copy_user(source, target, user_id, report)
        if result.outcome == "moved":
            moved.append(user_id)
        yield result
    if moved:
        for table in target.tables:
            target.connection.execute(sql.SQL("analyze {}").format(sql.Identifier("memory", table.name)))
    for user_id in moved:
        result = _compared(target, user_id, source.contents(user_id))
        if result.outcome != "present":
            yield result


class _DifferentError(Exception):
    """After copying, the target has other rows of the user than the source."""


_CHANGED = (
    "the source was written to after this user was copied: stop its writers, delete the user at the target and run the"
    " move again"
)
_FORGOTTEN = (
    "the target has forgotten this user, or something that the user said, and the source has not: export the user there"
    " and import the export with lift_tombstones; nothing was changed"
)
_OTHER = (
    "the target has other rows of this user already: delete the user there, or move into another database; nothing was"
    " changed"
)


def _prepare(source: Connection[Any], target: Connection[Any]) -> None:
    """Set both sessions up, install the schema at the target if it is missing, and keep other moves out."""
    for connection in (source, target):
        if not connection.autocommit:
            raise InvalidValueError("both connections must be in autocommit mode", hint="connect(..., autocommit=True)")
        connection.execute(_SESSION)
    if source.execute(_SAME_DATABASE).fetchone() == target.execute(_SAME_DATABASE).fetchone():
        raise InvalidValueError("source and target are the same database", hint="Name another one with --to or --from.")
    have = installed_version(source)
    if target.execute("select to_regnamespace('memory') is null").fetchone() == (True,):
        if have != client_version():
            raise _versions_differ(f"the source has agent_memory {have}, this package would install {client_version()}")
        install(target)
    has = installed_version(target)
    tables = "select max(string_to_array(version, '.')::int[]) from memory.migrations"
    if has != have or source.execute(tables).fetchone() != target.execute(tables).fetchone():
        raise _versions_differ(f"the source has agent_memory {have}, the target {has}")
    if target.execute("select has_schema_privilege(session_user, 'memory', 'create')").fetchone() != (True,):
        raise PermissionDeniedError(
            "users are moved by the owner of schema memory at the target",
            hint="Connect to the target as that owner; a superuser is not needed.",
        )
    if target.execute(f"select pg_try_advisory_lock({_LOCK})").fetchone() != (True,):
        raise RetryableError(
            "another move into the target is running", hint="Wait for its end. One that was killed ends within minutes."
        )


def _versions_differ(message: str) -> NotInstalledError:
    return NotInstalledError(
        message,
        hint="Run agent-memory install --dsn ... with the newer package on the older side; versions must agree.",
    )


def _users(source: Side, users: Sequence[str] | None) -> list[str]:
    """Return the users to move, each once."""
    for user_id in users or []:
        if not user_id or not source.has_user(user_id):
            raise NotFoundError(f'user "{user_id}" has nothing at the source', hint="See memory.thread_stats there.")
    return source.users() if users is None else list(dict.fromkeys(users))


@contextmanager
def _snapshot(source: Connection[Any]) -> Iterator[None]:
    """Let all statements of the source see one moment."""
    with source.transaction():
        source.execute("set transaction isolation level repeatable read, read only")
        yield


def copy_user(source: Side, target: Side, user_id: str, report: Report | None = None) -> MovedUser:
    """Copy one user from one moment of the source, and compare both sides; nothing where the target has the user."""
    with _snapshot(source.connection):
        contents = source.contents(user_id)
        if target.has_user(user_id):
            return _compared(target, user_id, contents)
        if target.forgotten_at(user_id) > source.forgotten_at(user_id):
            return MovedUser(user_id, "refused", contents, _FORGOTTEN)
        _reserve_job_ids(source.connection, target.connection, user_id)
        try:
            with target.connection.transaction():
                _copy(source, target, user_id, contents, report)
        except (psycopg.errors.UniqueViolation, _DifferentError):
            # An application at the target wrote to this user meanwhile, or has triggers of its own.
            return MovedUser(user_id, "refused", contents, _OTHER)
    return MovedUser(user_id, "moved", contents)


def _compared(target: Side, user_id: str, contents: Contents) -> MovedUser:
    """Say what is to be done about a user that the target has: nothing in any case."""
    query = "select contents from memory.moved_users where user_id = %s"
    otherwise: Outcome
    before = target.connection.execute(query, [user_id]).fetchone()
    if before is None:
        is_same, otherwise, problem = target.contents(user_id) == contents, "refused", _OTHER
    else:  # what the target has done with the user since is its own
        is_same, otherwise, problem = before[0] == _as_json(contents), "changed", _CHANGED
    return MovedUser(user_id, "present", contents) if is_same else MovedUser(user_id, otherwise, contents, problem)


def _copy(source: Side, target: Side, user_id: str, contents: Contents, report: Report | None) -> None:
    """Copy the rows of a user within the open transactions, and compare both sides.

    The triggers at the target let these rows pass by: what they would do was done at the source. Disabling triggers
    instead would lock out all writers of the target until the user is copied, and session_replication_role takes a
    superuser. With the settings the triggers of other sessions work as ever.
    """
    target.connection.execute("select set_config('memory.rows_are_copied', 'yes', true)")
    total, done = sum(number for number, _ in contents.values()), 0
    for table in source.tables:
        if table.name not in contents:
            continue
        with (
            source.connection.cursor().copy(table.copy_out(user_id)) as rows,
            target.connection.cursor().copy(table.copy_in()) as copied,
        ):
            for row in rows:
                copied.write(row)
                done += 1
                if report is not None and done % 1000 == 0:
                    report(user_id, table.name, min(done, total), total)
    if target.contents(user_id) != contents:
        raise _DifferentError
    target.connection.execute(
        "insert into memory.moved_users (user_id, contents) values (%s, %s)"
        " on conflict (user_id) do update set contents = excluded.contents, moved_at = excluded.moved_at",
        [user_id, Jsonb(_as_json(contents))],
    )


def _as_json(contents: Contents) -> dict[str, list[int | str]]:
    return {name: [number, checksum] for name, (number, checksum) in contents.items()}


def _reserve_job_ids(source: Connection[Any], target: Connection[Any], user_id: str) -> None:
    """Make the target give no id that the user's jobs have: applications keep asking for jobs by these ids.

    ALTER SEQUENCE holds other sessions off for the moment between reading the sequence and setting it.
    """
    newest = source.execute("select max(job_id) from memory.jobs where user_id = %s", [user_id]).fetchone()
    if newest is None or newest[0] is None:
        return
    with target.transaction():
        target.execute("alter sequence memory.jobs_job_id_seq cache 1")
        target.execute(
            # On a node of a cluster the ids keep the remainder that tells them from those of other nodes.
            "select setval('memory.jobs_job_id_seq', case q.seqincrement when 1 then %(newest)s"
            " else (%(newest)s / q.seqincrement + 1) * q.seqincrement + s.last_value %% q.seqincrement end)"
            " from memory.jobs_job_id_seq as s, pg_sequence as q"
            " where q.seqrelid = 'memory.jobs_job_id_seq'::regclass and s.last_value < %(newest)s",
            {"newest": newest[0]},
        )
