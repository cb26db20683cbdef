# Generated from _async/stored.py by generate_sync.py; do not edit.
"""What a caller needs of an embedded store."""

from __future__ import annotations

from typing import Protocol


class SyncServedStore(Protocol):
    """An embedded store, whose server runs for as long as clients use it."""

    def running(self) -> str:
        """Return the connection string of the store, whose server runs."""

    def close(self) -> None:
        """Leave the store."""

    def forget(self) -> None:
        """Forget the store of the process that this one was forked from."""
