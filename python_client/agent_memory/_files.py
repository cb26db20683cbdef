"""Files that nobody else has a hand in: no link is followed, and no file of another user is taken for one's own.

A folder that others may write to, such as /tmp, can hold a link where a file of ours is expected. Whoever opened the
link would overwrite or give away the file behind it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .errors import AgentMemoryError, ConflictError

# Windows has neither links that anybody may make, nor these flags.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_DESCRIPTOR = re.compile("/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,9})")
_ELSEWHERE = "Move it away, or name another place."


class UnsafeFileError(AgentMemoryError):
    """A file or folder is a link, is of another kind than it should be, or belongs to somebody else."""


def open_own(path: Path, flags: int, *, owner: tuple[int, int] | None = None) -> int:
    """Open a regular file that belongs to this user, or to ``owner``, and return its descriptor.

    Args:
        path: the file.
        flags: those of ``os.open``. With O_CREAT a missing file is made, which only its owner can read. O_TRUNC is not
            among them: it would empty a file before the file is checked.
        owner: the ids of the user and group whose file it is, if that is not this user.

    Raises:
        UnsafeFileError: it is a link, has a second name, is no regular file or belongs to somebody else.
        OSError: it cannot be opened.
    """
    if flags & os.O_CREAT:
        with suppress(FileExistsError):
            descriptor = os.open(path, flags | os.O_EXCL | _NOFOLLOW, 0o600)
            try:
                if owner is not None:
                    os.fchown(descriptor, *owner)
            except BaseException:
                os.close(descriptor)
                path.unlink()
                raise
            return descriptor
    try:
        descriptor = os.open(path, (flags & ~os.O_CREAT) | _NOFOLLOW)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a pipe that nobody reads, or a socket
            raise UnsafeFileError(f"{path} is no regular file", hint=_ELSEWHERE) from None
        raise
    try:
        check_own(path, os.fstat(descriptor), owner=owner)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_own(path: Path, *companions: str) -> None:
    """Make a file that only this user can read, or check the one that is there; a library opens it by its path then.

    It is not opened here, because closing a file drops all locks that the process has on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600))
    for suffix in ("", *companions):
        file = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            check_own(file, file.lstat())


def check_own(path: Path, found: os.stat_result, *, owner: tuple[int, int] | None = None) -> None:
    """Check that a file is a regular one of this user, or of ``owner``, with one name only."""
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeFileError(f"{path} is no regular file", hint=_ELSEWHERE)
    if found.st_nlink > 1:
        raise UnsafeFileError(
            f"{path} has a second name elsewhere (a hard link)",
            hint="Put a copy of its own in its place (cp -p, then mv), or name another place.",
        )
    check_owner(path, found.st_uid, owner=owner)


def check_owner(path: Path, uid: int, *, owner: tuple[int, int] | None = None) -> None:
    """Check that a file or folder belongs to this user, or to ``owner``."""
    if os.name == "posix" and uid != (os.geteuid() if owner is None else owner[0]):
        raise UnsafeFileError(f"{path} belongs to {user_name(uid)}", hint=_ELSEWHERE)


def user_name(uid: int) -> str:
    """Return the name of a user of this machine, or "user" and the number of one that has no name."""
    return name_of(uid) or f"user {uid}"


def name_of(uid: int) -> str | None:
    """Return the name of a user of this machine; None for one that has no name."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


@contextmanager
def written(path: Path, *, overwrites: bool = False, mode: int = 0o600) -> Iterator[TextIO]:
    """Yield a text file for writing. It gets its name when it is complete, and is removed after an error.

    A process that is killed leaves the unfinished file beside it, as ``.agent-memory.`` and a random number. A device
    or a pipe of that name, such as /dev/stdout or that of ``>(gzip)`` in a shell, is written to as it is.
    """
    stream = _opened_stream(path)
    if stream is not None:
        with os.fdopen(stream, "w", encoding="utf-8") as output:
            yield output
        return
    if not overwrites and os.path.lexists(path):  # before all is written for nothing
        raise _is_there(path)
    beside = path.with_name(f".agent-memory.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as output:
            yield output
        if not overwrites:
            _take_name(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _take_name(path: Path, beside: Path) -> None:
    """Have a name that is free lead to the file beside it, or to an empty one where a file cannot have two names."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError:  # a file system such as FAT
        path.touch(exist_ok=False)


def _is_there(path: Path) -> ConflictError:
    return ConflictError(
        f"{path} is there already", hint="Name another file, or overwrite this one with --force or overwrite=True."
    )


def _opened_stream(path: Path) -> int | None:
    """Open what has this name for writing if it is a device or a pipe; return None where it is not, or is missing."""
    named = _DESCRIPTOR.fullmatch(str(path))
    if named is not None:
        return os.dup({"stdout": 1, "stderr": 2}.get(named[1]) or int(named[2]))
    try:
        named_at, found = path.lstat(), path.stat()
    except OSError:  # missing, or a link that leads nowhere
        return None
    if stat.S_ISREG(found.st_mode):
        return None
    _check_maker(path, named_at)
    _check_maker(path, found)
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        opened = os.fstat(descriptor)
        if stat.S_ISREG(opened.st_mode):
            raise UnsafeFileError(f"{path} was replaced while it was opened", hint=_ELSEWHERE)
        _check_maker(path, opened)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_maker(path: Path, found: os.stat_result) -> None:
    if os.name == "posix" and found.st_uid != 0:
        check_owner(path, found.st_uid)
