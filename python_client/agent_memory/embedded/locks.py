"""Locks on files that the kernel releases when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from .._files import open_own

_POLL_INTERVAL = 0.01

_open_locks: set[FileLock] = set()


class FileLock:
    """A lock on a file, held by everybody who has its descriptor: this process, and a program that inherits it.

    A child that this process forks closes the descriptor, so it neither holds nor releases what is its parent's.
    """

    def __init__(self, file: Path) -> None:
        self.descriptor = open_own(file, os.O_RDWR | os.O_CREAT)
        _open_locks.add(self)

    def acquire(self, *, shared: bool = False, timeout: float = 0.0) -> bool:
        """Take the lock, or change its mode, within some seconds; return whether that was possible."""
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


def is_held(file: Path) -> bool:
    """Return whether any process holds the lock on this file alone."""
    lock = FileLock(file)
    try:
        return not lock.acquire(shared=True)
    finally:
        lock.close()


def _close_in_child() -> None:
    for lock in list(_open_locks):
        lock.close()


os.register_at_fork(after_in_child=_close_in_child)
