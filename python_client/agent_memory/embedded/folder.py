"""Where a store is, and whether it can be one."""

from __future__ import annotations

import os
import pwd
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

from ..errors import AgentMemoryError, InvalidValueError

_NAME = "agent-memory"
_TEMPORARY = f"{_NAME}-temporary-"
_OURS = {"data", "data.new", "gate", "installed", "server", "server.log", "server.log.old", "users"}
_NEXT_ATTEMPT = 600.0
"""Seconds after which an opening looks for the default model again: it takes 4 s on a machine without a network."""
_ELSEWHERE = "Name another folder with Memory(path=...), or a database with AGENT_MEMORY_DSN."


def resolved(path: str | os.PathLike[str] | None) -> Path:
    """Return the absolute path of a store's folder, that of the user's own store for None.

    Raises:
        InvalidValueError: the path is no path.
        AgentMemoryError: the user has no home folder.
    """
    if path is None:
        folder = Path(platformdirs.user_data_dir(_NAME, appauthor=False))
        if not folder.is_absolute():
            raise AgentMemoryError(f"this user has no home folder, but {folder}", hint=f"Set HOME. {_ELSEWHERE}")
        return folder.resolve()
    try:
        text = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise InvalidValueError(f"path: must be a string or a path, not {type(path).__name__}")
    if not text or any(ord(character) < 32 for character in text):
        raise InvalidValueError("path: must not be empty or have control characters", hint="Name a folder.")
    return Path(text).expanduser().resolve()


def make_temporary() -> Path:
    """Make the folder of a store that this process deletes."""
    return Path(tempfile.mkdtemp(prefix=_TEMPORARY)).resolve()


def temporary() -> list[Path]:
    """Return the folders of such stores of this user, also those of other processes, which may have been killed."""
    found = Path(tempfile.gettempdir()).resolve().glob(f"{_TEMPORARY}*")
    return [folder for folder in found if folder.lstat().st_uid == os.geteuid()]


def make(folder: Path) -> None:
    """Make the folder of a store if it is missing.

    Raises:
        AgentMemoryError: it cannot be made, it has files that are not a store's, or it belongs to another user.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in _OURS)
    except FileExistsError:
        raise AgentMemoryError(f"{folder} is not a folder", hint=_ELSEWHERE) from None
    except OSError as error:
        raise unusable(folder, error) from error
    if foreign:
        raise AgentMemoryError(
            f"{folder} is not a store: there is {foreign[0]}", hint="Name a folder that is new, empty or a store."
        )


def lacks_model() -> bool:
    """Return whether the weights of the default model could not be had a short while ago."""
    with suppress(OSError):
        return time.time() - _lack_of_model().stat().st_mtime < _NEXT_ATTEMPT
    return False


def remember_lack_of_model() -> None:
    """Remember that the weights of the default model cannot be had."""
    with suppress(OSError):  # then the next opening tries again
        _lack_of_model().parent.mkdir(parents=True, exist_ok=True)
        _lack_of_model().touch()


def _lack_of_model() -> Path:
    return Path(platformdirs.user_cache_dir(_NAME, appauthor=False), "no-model")


def unusable(folder: Path, error: OSError) -> AgentMemoryError:
    """Return the error for a folder in which files cannot be made."""
    existing = next(path for path in (folder, *folder.parents) if _exists(path))
    whose = ""
    if isinstance(error, PermissionError) and existing.stat().st_uid != os.geteuid():
        whose = f"; {existing} belongs to {_user_name(existing.stat().st_uid)}"
    return AgentMemoryError(f"the store {folder} cannot be used: {error.strerror or error}{whose}", hint=_ELSEWHERE)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
