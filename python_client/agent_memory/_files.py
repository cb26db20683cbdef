"""Files that nobody else has a hand in: no link is followed, and no file of another user is taken for one's own.

A folder that others may write to, such as /tmp, can hold a link where a file of ours is expected. Whoever opened the
link would overwrite or give away the file behind it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .errors import AgentMemoryError, ConflictError

# Windows has neither links that anybody may make, nor these flags.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class UnsafeFileError(AgentMemoryError):
    """A file or folder is a link, is of another kind than it should be, or belongs to somebody else."""


def open_own(path: Path, flags: int, *, folder: int | None = None, owner: tuple[int, int] | None = None) -> int:
    """Open a regular file that belongs to this user, or to ``owner``, and return its descriptor.

    Args:
        path: the file.
        flags: those of ``os.open``. With O_CREAT a missing file is made, which only its owner can read. O_TRUNC is not
            among them: it would empty a file before the file is checked.
        folder: the descriptor of the folder that the file is in, which the path may not lead to any more.
        owner: the ids of the user and group whose file it is, if that is not this user.

    Raises:
        UnsafeFileError: it is a link, has a second name, is no regular file or belongs to somebody else.
        OSError: it cannot be opened.
    """
    place = path if folder is None else path.name
    if flags & os.O_CREAT:
        with suppress(FileExistsError):
            descriptor = os.open(place, flags | os.O_EXCL | _NOFOLLOW, 0o600, dir_fd=folder)
            if owner is not None:
                os.fchown(descriptor, *owner)
            return descriptor
    try:
        descriptor = os.open(place, (flags & ~os.O_CREAT) | _NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a pipe that nobody reads, or a socket
            raise UnsafeFileError(f"{path} is no regular file", hint="Remove it.") from None
        raise
    try:
        check_own(path, os.fstat(descriptor), owner=owner)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_own(path: Path, *companions: str) -> None:
    """Make a file that only this user can read, or check the one that is there; a library opens it by its path then.

    It is not opened here: whoever closes a file drops all locks that its process has on the file.

    Args:
        path: the file.
        companions: what is added to its name for files beside it, which are checked as well. The library makes them.

    Raises:
        UnsafeFileError: it is a link, has a second name, is no regular file or belongs to somebody else.
        OSError: it cannot be made.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600))
    for suffix in ("", *companions):
        file = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            check_own(file, file.lstat())


def check_own(path: Path, found: os.stat_result, *, owner: tuple[int, int] | None = None) -> None:
    """Check that a file is a regular one of this user, or of ``owner``, with one name only.

    Raises:
        UnsafeFileError: it is not.
    """
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeFileError(f"{path} is no regular file", hint="Remove it.")
    if found.st_nlink > 1:
        raise UnsafeFileError(f"{path} has a second name elsewhere (a hard link)", hint="Remove it.")
    check_owner(path, found.st_uid, owner=owner)


def check_owner(path: Path, uid: int, *, owner: tuple[int, int] | None = None) -> None:
    """Check that a file or folder belongs to this user, or to ``owner``.

    Raises:
        UnsafeFileError: it does not.
    """
    if os.name == "posix" and uid != (os.geteuid() if owner is None else owner[0]):
        raise UnsafeFileError(f"{path} belongs to {user_name(uid)}", hint="Remove it, or name another place.")


def user_name(uid: int) -> str:
    """Return the name of a user of this machine, or "user" and the number of one that has no name."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


@contextmanager
def written(path: Path, *, overwrites: bool = False, mode: int = 0o600) -> Iterator[TextIO]:
    """Yield a new text file, which is there as a whole at the end, or not at all after an error.

    Args:
        path: the file. A link of that name is replaced and not followed.
        overwrites: whether a file of that name is replaced.
        mode: who may read the file.

    Raises:
        ConflictError: there is a file of that name already.
        OSError: it cannot be written.
    """
    place = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}") if overwrites else path
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, mode)
    except FileExistsError:
        raise ConflictError(
            f"{path} is there already", hint="Name another file, or overwrite this one with --force or overwrite=True."
        ) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            yield stream
        if overwrites:
            place.replace(path)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
