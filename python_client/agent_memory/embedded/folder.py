"""Finds the folder of a store, and checks it."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

from .._files import UnsafeFileError, open_own, user_name
from ..errors import AgentMemoryError, InvalidValueError

_NAME = "agent-memory"
_TEMPORARY = f"{_NAME}-temporary-"
_OURS = {"data", "data.new", "gate", "installed", "installed.new", "server", "server.log", "server.log.old", "users"}
_NEXT_ATTEMPT = 600.0
"""Seconds after which an opening looks for the default model again: it takes 4 s on a machine without a network."""
_ELSEWHERE = "Name another folder with Memory(path=...), or a database with AGENT_MEMORY_DSN."
_OWN_DATA = (
    "If you made a link there, put the file or folder that it leads to in its place, copied; if not, restore the data "
    "from a backup, or name another folder."
)


def read(file: Path, owner: tuple[int, int] | None = None) -> str:
    """Return the text of a file of this user, or of ``owner``; "" where it is missing."""
    try:
        descriptor = open_own(file, os.O_RDONLY, owner=owner)
    except FileNotFoundError:
        return ""
    with os.fdopen(descriptor, errors="replace") as stream:
        return stream.read()


def write(file: Path, text: str, owner: tuple[int, int] | None = None) -> None:
    """Replace a file, or make it."""
    beside = file.with_name(f"{file.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(open_own(beside, os.O_WRONLY | os.O_CREAT, owner=owner), "w") as stream:
        stream.write(text)
    beside.replace(file)


def resolved(path: str | os.PathLike[str] | None) -> Path:
    """Return the absolute path of a store's folder, that of the user's own store for None."""
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
    return [folder for folder in found if _owner(folder) == os.geteuid()]


def _owner(folder: Path) -> int | None:
    with suppress(FileNotFoundError):  # another process was faster to remove it
        return folder.lstat().st_uid
    return None


def make(path: Path) -> None:
    """Make the folder of a store if it is missing. Only its owner can enter it from then on."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
        check_folder(path, found)
        if found.st_uid != os.geteuid():
            raise UnsafeFileError(
                f"the store {path} cannot be used: the folder belongs to {user_name(found.st_uid)}",
                hint="Be that user, or name a folder of your own with Memory(path=...).",
            )
        if os.geteuid() == 0:
            _check_parents(path)
        foreign = sorted({file.name for file in path.iterdir()} - _OURS)
        if foreign:
            raise AgentMemoryError(
                f"{path} is not a store: there is {foreign[0]}", hint="Name a folder that is new, empty or a store."
            )
        if stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o700)
    except FileExistsError:
        raise AgentMemoryError(f"{path} is not a folder", hint=_ELSEWHERE) from None
    except OSError as error:
        raise unusable(path, error) from error


def check_folder(path: Path, found: os.stat_result) -> None:
    """Check that a folder is one: what a link leads to, which anybody may have put there, is left alone."""
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeFileError(f"{path} is not a folder", hint=_ELSEWHERE)


def _check_parents(path: Path) -> None:
    """Check that nobody but root can put another folder in the place of root's.

    Other users need no such check: a folder in the place of theirs would belong to somebody else, or its server would
    run as somebody else, and the client refuses both.
    """
    for parent in path.parents:
        found = parent.stat()
        if found.st_uid != 0:
            raise UnsafeFileError(
                f"{parent} belongs to {user_name(found.st_uid)}, who could put another folder in the place of {path}",
                hint=_ELSEWHERE,
            )
        if found.st_mode & stat.S_ISVTX:
            continue
        if found.st_mode & stat.S_IWOTH:
            who, mode = "everybody", "o-w"
        elif found.st_mode & stat.S_IWGRP and found.st_gid != 0:
            who, mode = "its group", "g-w"
        else:
            continue
        raise UnsafeFileError(
            f"{who} may write to {parent}, and could put another folder in the place of {path}",
            hint=f"Run: chmod {mode} {parent}. Or: {_ELSEWHERE}",
        )


def give(path: Path, owner: tuple[int, int]) -> None:
    """Make a folder, and all that is in it, an account's own.

    It is root's meanwhile, so that its owner before cannot put links into it, and is not taken for done if this ends.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _give(descriptor, owner, path)
    finally:
        os.close(descriptor)


def _give(descriptor: int, owner: tuple[int, int], path: Path) -> None:
    os.fchown(descriptor, 0, 0)
    for name in os.listdir(descriptor):
        try:
            inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor)
        except OSError as error:
            raise UnsafeFileError(f"{path / name}: {error.strerror}", hint=_OWN_DATA) from error
        try:
            found = os.fstat(inner)
            if stat.S_ISDIR(found.st_mode):
                _give(inner, owner, path / name)
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                os.fchown(inner, *owner)
            else:
                raise UnsafeFileError(f"{path / name} is no regular file with one name", hint=_OWN_DATA)
        finally:
            os.close(inner)
    os.fchown(descriptor, *owner)


def lacks_model() -> bool:
    """Return whether the weights of the default model could not be had a short while ago."""
    with suppress(OSError):
        return time.time() - _lack_of_model().stat().st_mtime < _NEXT_ATTEMPT
    return False


def remember_lack_of_model() -> None:
    """Remember that the weights of the default model cannot be had."""
    with suppress(OSError, UnsafeFileError):  # then the next opening tries again
        _lack_of_model().parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_own(_lack_of_model(), os.O_WRONLY | os.O_CREAT)
        os.utime(descriptor)
        os.close(descriptor)


def _lack_of_model() -> Path:
    return Path(platformdirs.user_cache_dir(_NAME, appauthor=False), "no-model")


def unusable(folder: Path, error: OSError) -> AgentMemoryError:
    """Return the error for a folder in which files cannot be made."""
    existing = next(path for path in (folder, *folder.parents) if _exists(path))
    whose = ""
    if isinstance(error, PermissionError) and existing.stat().st_uid != os.geteuid():
        whose = f"; {existing} belongs to {user_name(existing.stat().st_uid)}"
    return AgentMemoryError(f"the store {folder} cannot be used: {error.strerror or error}{whose}", hint=_ELSEWHERE)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
