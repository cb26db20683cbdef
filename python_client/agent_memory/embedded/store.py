"""The stores that this process has open: shared by the users in the process, and left when it ends or forks."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  what it registers for the end of the main thread runs after ours
import inspect
import os
import threading
import weakref
from typing import Protocol

from ..errors import AgentMemoryError
from . import folder as folders
from .packages import IN_MEMORY
from .share import ProcessShare, remove_abandoned


class Store:
    """An embedded store as one user in this process has it open, such as a client. ``open_store`` makes it.

    Attributes:
        folder: the store's folder.
        conninfo: the connection string of its database, for as long as it is open.
    """

    def __init__(self, share: ProcessShare, *, has_worker: bool) -> None:
        self._share = share
        self._has_worker = has_worker
        self.folder = share.folder
        self.conninfo = share.server.conninfo

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ensure_running(self) -> str:
        """Return ``conninfo``, after the server was started again if it was killed.

        Raises:
            AgentMemoryError: it cannot be started, or this store was closed.
        """
        with _mutex:
            if self not in _stores:
                raise AgentMemoryError(f"the store {self.folder} was closed", hint="Open it again.")
            self._share.ensure_running()
        return self.conninfo

    def serve(self, client: _Client) -> None:
        """Close this client of the store when the process ends."""
        _clients.add(client)

    def close(self) -> None:
        """End this use of the store. The process leaves with its last user; the last process stops the server."""
        with _mutex:
            if self not in _stores:
                return  # closed already, or opened by the process that this one was forked from
            _stores.remove(self)
            others = [store for store in _stores if store._share is self._share]
            if not any(store._has_worker for store in others):
                self._share.stop_worker()
                self._share.wait_for_worker()
            if not others:
                self._share.leave()


class _Client(Protocol):
    def close(self) -> object:
        """Close the client."""


_mutex = threading.RLock()
_stores: list[Store] = []
_clients: weakref.WeakSet[_Client] = weakref.WeakSet()


def open_store(path: str | os.PathLike[str] | None = None, *, worker: bool = False) -> Store:
    """Open a store: make it, start its server and install agent_memory, as far as that is not done yet.

    Args:
        path: the store's folder; that of the user's own store for None; ":memory:" for a new store that ends with the
            returned object.
        worker: whether queued jobs run in the background of this process.

    Raises:
        AgentMemoryError: the store cannot be used, for a reason that the message and the hint say.
    """
    folder = None if path == IN_MEMORY else folders.resolved(path)
    with _mutex:
        share = next((store._share for store in _stores if store.folder == folder), None)
        if share is None:
            remove_abandoned()
            share = ProcessShare(folder)
        if worker:
            share.start_worker()
        store = Store(share, has_worker=worker)
        _stores.append(store)
    return store


def _stop_workers() -> None:
    shares = {store._share for store in _stores}
    for share in shares:
        share.stop_worker()
    for share in shares:
        share.wait_for_worker()


def _leave_all() -> None:
    for client in list(_clients):
        if not inspect.iscoroutinefunction(client.close):  # its event loop is gone
            client.close()
    while _stores:
        _stores[-1].close()


def _begin_anew() -> None:
    """Drop a child's copies of its parent's stores: their lock files are closed, and their threads do not exist."""
    global _mutex
    _mutex = threading.RLock()
    _stores.clear()


os.register_at_fork(after_in_child=_begin_anew)
atexit.register(_leave_all)
# A worker stops before the threads that do its blocking calls, such as finding a host: they refuse calls once the main
# thread has ended, and a running job would fail. Callbacks of atexit come later.
getattr(threading, "_register_atexit", atexit.register)(_stop_workers)
