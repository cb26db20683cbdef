# Generated from _async/erasure.py by generate_sync.py; do not edit.
"""The methods that forget, export, import and list users, and that forget a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ...types import UserRecord
from .caller import SyncCaller


class SyncErasure(SyncCaller):
    """The methods that forget, export, import and list users, and that forget a memory."""

    def forget_memory(self, user_id: str, memory_id: UUID | str, reason: str | None = None) -> dict[str, Any]:
        """Remove a memory for good with all that says or came from it; no model or import brings it back.

        Return the receipt: ``receipt_id``, ``forgotten_at`` and ``tables``, the rows removed by table. Raise
        NotFoundError when the user has no such memory.
        """
        return self._value(dict, "forget_memory", {"user_id": user_id, "memory_id": memory_id}, reason=reason)

    def forget_user(self, user_id: str, reason: str | None = None) -> dict[str, Any]:
        """Remove everything about a user, and return the receipt, as ``forget_memory`` does.

        The ledger keeps what calls cost, without the user. Raise RetryableError where the user is written to all the
        time.
        """
        return self._value(dict, "forget_user", {"user_id": user_id}, reason=reason)

    def export_user(
        self,
        user_id: str,
        kinds: Sequence[str] | None = None,
        from_row: int | None = 0,
        max_rows: int | None = None,
    ) -> dict[str, Any]:
        """Return everything about a user: for each kind a list of rows, see docs/export.schema.json.

        ``kinds``, ``from_row`` and ``max_rows`` return a part. Raise LimitExceededError for more than 250 MB.
        """
        return self._value(dict, "export_user", {"user_id": user_id}, kinds=kinds, from_row=from_row, max_rows=max_rows)

    def import_user(
        self, user_id: str, export: Mapping[str, Any], lift_tombstones: bool | None = False
    ) -> dict[str, int]:
        """Store what ``export_user`` returned, and return the counts by kind; ``left_out`` was forgotten here before.

        Raise ConflictError where the user has rows, InvalidValueError where the export is malformed, and
        PermissionDeniedError where ``lift_tombstones`` is True and the role is not an administrator's.
        """
        return self._value(dict, "import_user", {"user_id": user_id, "export": export}, lift_tombstones=lift_tombstones)

    def was_forgotten(self, user_id: str, messages: Sequence[Mapping[str, Any]]) -> list[bool]:
        """Return for each text whether the user had it forgotten, or was forgotten after it was said; for imports.

        Each of ``messages`` has ``content`` and ``created_at``, without which nobody knows when it was said.
        """
        return self._value(list, "was_forgotten", {"user_id": user_id, "messages": messages})

    def list_users(
        self, search: str | None = None, row_limit: int | None = 50, row_offset: int | None = 0
    ) -> list[UserRecord]:
        """Return the users that something is stored about, the last heard of first; ``search`` is a part of the id."""
        return self._rows(UserRecord, "list_users", {}, search=search, row_limit=row_limit, row_offset=row_offset)
