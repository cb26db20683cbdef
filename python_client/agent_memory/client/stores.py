"""The embedded store of a client: SyncStore opens at once, AsyncStore in the first call."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any

from .. import embedded
from ..errors import AgentMemoryError

if TYPE_CHECKING:
    from ..embedded.store import Store


class _ClientStore:
    """What SyncStore and AsyncStore share."""

    def __init__(self, client: Any, path: str | os.PathLike[str] | None) -> None:
        embedded.check_packages()
        from ..embedded.folder import resolved

        self._client = client
        self._path = path if path == embedded.IN_MEMORY else resolved(path)
        self._store: Store | None = None
        self._is_forked = False
        self._one_at_a_time = threading.Lock()

    def _running(self) -> str:
        with self._one_at_a_time:
            if self._store is None:
                if self._is_forked and self._path == embedded.IN_MEMORY:
                    raise AgentMemoryError(
                        "a store in memory is its process's own, and this process was forked from it",
                        hint="Make the client in the process that uses it, or name a folder with path.",
                    )
                self._store = embedded.open_store(self._path, worker=True)
                self._store.serve(self._client)
        return self._store.ensure_running()

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()

    def forget(self) -> None:
        """Forget the store of the process that this one was forked from."""
        self._store, self._is_forked = None, True
        self._one_at_a_time = threading.Lock()  # a thread of the other process may have held the first


class SyncStore(_ClientStore):
    """The embedded store of a synchronous client."""

    def __init__(self, client: Any, path: str | os.PathLike[str] | None) -> None:
        super().__init__(client, path)
        self._running()

    def running(self) -> str:
        """Return the connection string of the store, whose server runs."""
        return self._running()

    def close(self) -> None:
        """Leave the store."""
        self._close()


class AsyncStore(_ClientStore):
    """The embedded store of an asynchronous client. What would block the event loop is done in threads."""

    async def running(self) -> str:
        """Return the connection string of the store, whose server runs."""
        return await asyncio.to_thread(self._running)

    async def close(self) -> None:
        """Leave the store."""
        await asyncio.to_thread(self._close)
