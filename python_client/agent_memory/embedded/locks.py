"""Locks on files that the kernel releases when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

_POLL_INTERVAL = 0.01

_open_locks: set[FileLock] = set()


class FileLock:
    """A lock on a file, held by everybody who has its descriptor: this process, and a program that inherits it.

    A child that this process forks closes the descriptor, so it neither holds nor releases what is its parent's.

    Args:
        path: the file, which is made where it is missing and is never removed: others may wait for it.

    Raises:
        OSError: the file cannot be opened for writing.
    """

    def __init__(self, path: Path) -> None:
        self.descriptor = open_for_owner(path, os.O_RDWR)
        _open_locks.add(self)

    def acquire(self, *, shared: bool = False, timeout: float = 0.0) -> bool:
        """Take the lock, or change how it is held, within so many seconds; return whether that was possible.

        Raises:
            OSError: the file system has no locks.
        """
        deadline = time.monotonic() + timeout
        while not self._try(fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_INTERVAL)
        return True

    def release(self) -> None:
        """Release the lock for everybody who has this descriptor, and close it."""
        if self in _open_locks:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
            self.close()

    def close(self) -> None:
        """Close the descriptor; the lock stays with programs that have inherited it."""
        if self in _open_locks:
            _open_locks.discard(self)
            os.close(self.descriptor)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_held(path: Path) -> bool:
    """Return whether any process holds the lock on this file alone.

    Raises:
        OSError: the file cannot be opened for writing.
    """
    lock = FileLock(path)
    try:
        return not lock.acquire(shared=True)
    finally:
        lock.close()


def open_for_owner(path: Path, flags: int) -> int:
    """Open a file, which is made if it is missing; one that root makes belongs to the owner of its folder."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def _close_in_child() -> None:
    for lock in list(_open_locks):
        lock.close()


os.register_at_fork(after_in_child=_close_in_child)
