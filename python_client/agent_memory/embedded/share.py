"""The share of a process in a store: it opens the store, and leaves it."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from ..errors import AgentMemoryError, RetryableError, client_version, version_numbers
from ..install import install, sql_file
from ..schema import SCHEMA, cursors_in
from . import folder as folders
from .background import BackgroundWorker
from .locks import FileLock
from .programs import programs_for
from .server import START_TIMEOUT, Server

logger = logging.getLogger("agent_memory.embedded")

WORKER_TIMEOUT = 1.2
"""Seconds that a process waits for its worker when it leaves; the worker gives running calls 0.5 s."""
STOP_TIMEOUT = 0.5
"""Seconds that a process waits for the server which it stops; the server finishes by itself what takes longer."""
LEAVE_TIMEOUT = 1.0
"""Seconds that a process waits to find out whether it is the last user. Whoever holds it up is a user itself."""

_END_LEASES = "update memory.jobs set lease_expires_at = statement_timestamp() where status = 'running'"
"""For the first user of a store: running jobs were those of processes that are gone."""
_KEEPS_MESSAGES = """select memory.set_policy('{"messages": {"expires_after": "never"}}')"""


class ProcessShare:
    """The share of this process in a store.

    Three files of a store are locked (locks.py): ``gate`` by the one process that opens or leaves the store just now,
    ``users`` by all processes that use the store, together, and ``server`` by the server. A process that can lock
    ``users`` alone is the last. The kernel releases the locks of a killed process, so there is nothing to clean up.

    Attributes:
        is_alone: whether no other process used the store when this one began to.
        users_lock: the lock that makes this process a user; a program that inherits its descriptor is one, too.
    """

    def __init__(self, folder: Path | None, *, chooses_model: bool = True) -> None:
        self._is_temporary = folder is None
        self.folder = folders.make_temporary() if folder is None else folder
        self._worker: BackgroundWorker | None = None
        folders.make(self.folder)
        try:
            self.server = Server(self.folder, programs_for(self.folder), is_volatile=self._is_temporary)
            self._enter()
        except OSError as error:
            raise folders.unusable(self.folder, error) from error
        if not chooses_model:
            return
        try:
            self._choose_model()
        except BaseException:
            self.leave()
            raise

    def _enter(self) -> None:
        """Become a user of the store, and have its server run with this version installed."""
        with self._gate(START_TIMEOUT):
            self.users_lock = FileLock(self.folder / "users")
            self.is_alone = self.users_lock.acquire()
            self.users_lock.acquire(shared=True, timeout=START_TIMEOUT)
            try:
                with self.server.ensure_running() as connection:
                    self._install(connection)
                    if self.is_alone:
                        connection.execute(_END_LEASES)
            except BaseException:
                self._leave()
                raise

    def start_worker(self) -> None:
        """Run queued jobs in the background, if that is not done already."""
        if self._worker is None:
            self._worker = BackgroundWorker(self.server.conninfo)

    def stop_worker(self) -> None:
        """Tell the worker to stop, if there is one."""
        if self._worker is not None:
            self._worker.stop()

    def wait_for_worker(self) -> None:
        """Wait until the worker has stopped, but no longer than WORKER_TIMEOUT."""
        if self._worker is not None:
            self._worker.wait(WORKER_TIMEOUT)
            self._worker = None

    def ensure_running(self) -> None:
        """Start the server if it was killed."""
        if not self.server.is_running:
            with self._gate(START_TIMEOUT):
                self.server.ensure_running().close()

    def leave(self) -> None:
        """Leave the store, and stop its server if no other process uses it."""
        try:
            with self._gate(LEAVE_TIMEOUT):
                self._leave()
        except (AgentMemoryError, OSError) as error:
            logger.warning("left the store %s without looking for other users: %s", self.folder, error)
            self.users_lock.release()

    def _choose_model(self) -> None:
        """Activate the default embedding model if there is none, and the extra ``local`` is installed."""
        if find_spec("fastembed") is None or (folders.lacks_model() and not os.environ.get("AGENT_MEMORY_MODEL_DIR")):
            return
        from ..local import activate_default

        # Loading or downloading the weights may take long, and other processes may open the store meanwhile.
        with psycopg.connect(self.server.conninfo, autocommit=True, cursor_factory=cursors_in(SCHEMA)) as connection:
            if not activate_default(connection):
                folders.remember_lack_of_model()

    def _leave(self) -> None:
        is_last = self.users_lock.acquire()
        if is_last:
            self.server.stop(STOP_TIMEOUT)
            if self._is_temporary:
                shutil.rmtree(self.folder, ignore_errors=True)
        self.users_lock.release()
        self.server.forget()

    @contextmanager
    def _gate(self, timeout: float) -> Iterator[None]:
        gate = FileLock(self.folder / "gate")
        try:
            if not gate.acquire(timeout=timeout):
                raise AgentMemoryError(
                    f"another process has been opening or closing the store {self.folder} for {timeout:g} s",
                    hint=f"Find it with: fuser {shlex.quote(str(self.folder / 'gate'))}",
                )
            yield
        finally:
            gate.release()

    def _install(self, connection: psycopg.Connection[Any]) -> None:
        """Install this version, unless it is there or a newer one is."""
        ours, installed = client_version(), None
        with suppress(psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName):
            [installed] = connection.execute("select memory.version()").fetchone() or [None]
        if installed is not None and version_numbers(installed) > version_numbers(ours):
            raise AgentMemoryError(
                f"the store {self.folder} was upgraded to agent_memory {installed}; this package is {ours}",
                hint=f"Run: pip install --upgrade 'pg-agent-memory[embedded]>={installed}'",
            )
        # Between two releases the version stays while the file changes.
        file, before = hashlib.sha256(sql_file(SCHEMA)).hexdigest(), folders.read(self.folder / "installed")
        if installed is not None and before == file:
            return
        try:
            install(connection)
            if not before:  # a new store: a person does not expect a folder on a disk to forget
                connection.execute(_KEEPS_MESSAGES)
        except psycopg.errors.LockNotAvailable as error:
            raise RetryableError(
                f"the store {self.folder} could not be upgraded to agent_memory {ours}: {error.diag.message_primary}",
                hint="Other processes are busy with the store. Run this again, or end them first.",
            ) from error
        except psycopg.Error as error:
            raise AgentMemoryError(
                f"agent_memory {ours} could not be installed in the store {self.folder}: {error}",
                hint=error.diag.message_hint or f"{self.folder / 'server.log'} may say why.",
            ) from error
        folders.write(self.folder / "installed", file)


def remove_abandoned() -> None:
    """Stop the servers and delete the data of temporary stores whose processes were killed."""
    for folder in folders.temporary():
        with suppress(AgentMemoryError, OSError):  # somebody else may be doing the same
            _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    gate = FileLock(folder / "gate")
    try:
        # A store without the file "users" is being made.
        if gate.acquire() and (folder / "users").exists():
            users = FileLock(folder / "users")
            try:
                if users.acquire():
                    Server(folder, programs_for(folder), is_volatile=True).stop(STOP_TIMEOUT)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                users.close()
    finally:
        gate.close()
