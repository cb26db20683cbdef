# Generated from _async/trust.py by generate_sync.py; do not edit.
"""The methods for what is in quarantine."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ...choices import QuarantineSource
from ...types import Quarantined
from .caller import SyncCaller


class SyncTrust(SyncCaller):
    """The methods for what is in quarantine."""

    def quarantine_memory(self, user_id: str, memory_id: UUID | str, reason: str) -> None:
        """Hide a memory from every reader until it is released; what it had superseded is current again."""
        self._select("quarantine_memory", {"user_id": user_id, "memory_id": memory_id, "reason": reason})

    def release_memory(self, user_id: str, memory_id: UUID | str) -> None:
        """Take a memory out of quarantine; no rule puts it back while its content stays.

        Raises:
            NotFoundError: the user has no such memory, or it is not in quarantine.
            ConflictError: the same content is stored by now as another memory.
        """
        self._select("release_memory", {"user_id": user_id, "memory_id": memory_id})

    def quarantine_source(self, user_id: str, source: QuarantineSource, id: str, reason: str) -> dict[str, Any]:
        """Take back a poisoned source with everything that derives from it, and return the counts by kind.

        Args:
            user_id: whose source it is.
            source: message, thread, document, artifact, summary or memory.
            id: as search shows it: of a message ``thread_id/seq``, of an artifact its key.
            reason: why, in 1 to 255 characters; it is shown wherever the quarantine is listed.

        Raises:
            NotFoundError: the user has no such source.
        """
        return self._value(
            dict,
            "quarantine_source",
            {"user_id": user_id, "source": source, "id": id, "reason": reason},
        )

    def release_source(self, user_id: str, source: QuarantineSource, id: str) -> dict[str, Any]:
        """Undo ``quarantine_source`` and return the counts by kind; what another poisoned source accounts for stays."""
        return self._value(dict, "release_source", {"user_id": user_id, "source": source, "id": id})

    def list_quarantined(
        self, user_id: str, source: str | None = None, row_limit: int | None = 50, row_offset: int | None = 0
    ) -> list[Quarantined]:
        """Return what is in quarantine, newest first: memories, messages, documents and artifacts, or one of these."""
        return self._rows(
            Quarantined,
            "list_quarantined",
            {"user_id": user_id},
            source=source,
            row_limit=row_limit,
            row_offset=row_offset,
        )
