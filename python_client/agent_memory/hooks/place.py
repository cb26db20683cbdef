"""Opens the memory of a hook: a database, or an embedded store that goes on running when the hook has ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from ..errors import AgentMemoryError
from ..schema import SCHEMA, cursors_in

_CONNECT_TIMEOUT = 3
_NAME = "agent-memory hooks"
_AGENT = "default"
"""The agent whose messages hooks store, because they name none."""
_OTHER_NODE = "AM003"
_POLICY = '{"secrets": {"mask_in_threads": true}}'
_TRIED = "password = not-a-password-of-anybody-7251"


@contextmanager
def connected(memory: dict[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection to the memory of a user; its transaction is committed at the end."""
    with ExitStack() as stack:
        conninfo = memory.get("dsn") or stack.enter_context(_running(memory["store"]))
        schema = memory.get("schema", SCHEMA)
        connection = _connection(conninfo, schema)
        stack.callback(lambda: connection.close())
        try:
            with connection.transaction():
                connection.execute("select from memory.list_threads(user_id => %s, row_limit => 1)", [memory["user"]])
        except psycopg.Error as error:
            if error.sqlstate != _OTHER_NODE:
                raise
            from .._nodes import node_connections

            connection.close()
            connection = stack.enter_context(node_connections(conninfo, _NAME, schema)).of(memory["user"])
        with connection.transaction():
            yield connection


def mask_credentials(connection: psycopg.Connection[Any], user: str) -> None:
    """Have the messages of a user stored with marks in place of credentials, in this transaction and from then on."""
    for agent in (None, _AGENT):  # a policy of the agent counts more than one of the user for all agents
        if _masks(connection, user):
            return
        changed = "select memory.set_policy(settings => %s::jsonb, agent_id => %s, user_id => %s)"
        try:
            with connection.transaction():
                connection.execute(changed, [_POLICY, agent, user])
        except psycopg.errors.InsufficientPrivilege as error:
            raise AgentMemoryError(
                "this role may not set policies, and credentials in messages would be stored",
                hint="Let an administrator run: agent-memory policy set secrets.mask_in_threads true"
                f" --user {user} --agent {_AGENT}",
            ) from error


def _masks(connection: psycopg.Connection[Any], user: str) -> bool:
    """Tell whether credentials in messages of a user become marks."""
    asked = "select memory.get_policy(agent_id => %s, user_id => %s) #>> '{secrets,mask_in_threads}' = 'true'"
    try:
        with connection.transaction():
            return connection.execute(asked, [_AGENT, user]).fetchone() == (True,)
    except psycopg.errors.InsufficientPrivilege:
        # A role of an application sees no policies, but what becomes of a message.
        with connection.transaction(force_rollback=True):
            tried = (
                "select content from memory.add_message(user_id => %s, thread_id => %s, role => 'user', content => %s)"
            )
            return connection.execute(tried, [user, _NAME, _TRIED]).fetchone() != (_TRIED,)


def _connection(conninfo: str, schema: str) -> psycopg.Connection[Any]:
    # Nothing is prepared, because the database may be behind a pooler, and a hook runs each statement once.
    return psycopg.connect(
        conninfo,
        autocommit=True,
        prepare_threshold=None,
        connect_timeout=_CONNECT_TIMEOUT,
        application_name=_NAME,
        cursor_factory=cursors_in(schema),
    )


@contextmanager
def _running(store: str) -> Iterator[str]:
    """Yield the connection string of a store, whose server runs.

    The process is a user of the store from now on. It never leaves: its end counts as leaving, and lets the server run.
    """
    from ..embedded import check_packages

    check_packages()
    from ..embedded.share import ProcessShare

    share = ProcessShare(Path(store), chooses_model=False)
    if share.is_alone:
        # From here, so that no folder of the assistant is searched for modules.
        lock = share.users_lock.descriptor
        command = [sys.executable, "-m", "agent_memory.hooks.keep", store, str(lock)]
        subprocess.Popen(
            command,
            pass_fds=[lock],
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        yield share.server.conninfo
    finally:
        share.server.forget()
