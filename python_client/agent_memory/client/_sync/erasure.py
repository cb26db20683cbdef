# Generated from _async/erasure.py by generate_sync.py; do not edit.
"""The methods that forget, export, import and list users, and that forget a memory."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO
from uuid import UUID

from psycopg.pq import TransactionStatus

from ...types import UserRecord
from ..notices import Notices
from ..user_files import ROWS, UserFile, begun, opened, parts_of
from .caller import SyncCaller, translated

if TYPE_CHECKING:
    from typing_extensions import Self


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
        max_rows: int | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return everything about a user: for each kind a list of rows, see docs/export.schema.json.

        With ``max_rows`` it is a part of so many rows of one kind, or of 32 MB. Its ``next``, None in the last part, is
        passed as ``after`` to get the following one; ``export_user_to`` does that. Raise LimitExceededError for more
        than 250 MB at once.
        """
        return self._value(dict, "export_user", {"user_id": user_id}, kinds=kinds, max_rows=max_rows, after=after)

    def export_user_to(self, user_id: str, file: str | os.PathLike[str] | TextIO, overwrite: bool = False) -> int:
        """Write everything about a user to a file, however much that is, and return the number of rows.

        All of one moment, unless the connection of this client is in a transaction that is not repeatable read. A file
        that is named by its path can be read by this user only. Raise ConflictError where there is one already, unless
        ``overwrite`` is True.
        """
        with begun(file, overwrite=overwrite) as output:
            written = UserFile(output)
            with self._in_a_transaction("repeatable read") as bound:
                part = bound.export_user(user_id, max_rows=ROWS)
                written.add(part)
                while part["next"] is not None:
                    part = bound.export_user(user_id, max_rows=ROWS, after=part["next"])
                    written.add(part)
            written.end()
        return written.rows

    def import_user(
        self,
        user_id: str,
        export: Mapping[str, Any],
        lift_tombstones: bool | None = False,
        is_last: bool = True,
    ) -> dict[str, int]:
        """Store what ``export_user`` returned, and return the counts by kind; ``left_out`` was forgotten here before.

        Parts are passed in their order in one transaction, with ``is_last`` False but for the last one;
        ``import_user_from`` does that.

        Raise ConflictError where the user has rows, InvalidValueError where the export is malformed, and
        PermissionDeniedError where ``lift_tombstones`` is True and the role is not an administrator's.
        """
        return self._value(
            dict,
            "import_user",
            {"user_id": user_id, "export": export},
            lift_tombstones=lift_tombstones,
            is_last=is_last,
        )

    def import_user_from(
        self, user_id: str, file: str | os.PathLike[str] | TextIO, lift_tombstones: bool | None = False
    ) -> dict[str, int]:
        """Store what ``export_user_to`` has written, or a file with what ``export_user`` returned; all or nothing.

        Return the counts, and raise the errors of ``import_user``.
        """
        with opened(file) as content:
            parts = parts_of(content)
            part = next(parts)
            with self._in_a_transaction("read committed") as bound:
                for following in parts:
                    bound.import_user(user_id, part, lift_tombstones, is_last=False)
                    part = following
                return bound.import_user(user_id, part, lift_tombstones)

    @contextmanager
    def _in_a_transaction(self, isolation: str) -> Iterator[Self]:
        """Yield this client on one connection in a transaction: the caller's, or one of its own at this isolation."""
        notices = Notices(self._warned)
        with self._borrowed(notices) as connection, translated(connection):
            is_own = connection.info.transaction_status == TransactionStatus.IDLE
            with connection.transaction() if is_own else nullcontext():
                if is_own:
                    connection.execute(f"set transaction isolation level {isolation}")
                bound = copy.copy(self)
                bound._connection, bound._pool = connection, None
                bound._one_at_a_time = threading.Lock()
                yield bound
        notices.warn()

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
