"""The methods that take back: quarantine, forgetting, and exports of what is stored about a user."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TextIO
from uuid import UUID

from ...calls import AsyncMethods, sql_function
from ...choices import Fate, QuarantineSource
from ...types import Quarantined
from ..user_files import ROWS, UserFile, begun


class AsyncErasure(AsyncMethods):
    """The methods that take back: quarantine, forgetting, and exports of what is stored about a user."""

    @sql_function
    async def quarantine_memory(self, user_id: str, memory_id: UUID | str, reason: str) -> None:
        """Hide a memory from every reader until it is released; what it had superseded is current again."""

    @sql_function
    async def release_memory(self, user_id: str, memory_id: UUID | str) -> None:
        """Take a memory out of quarantine; no rule puts it back while its content stays.

        Raises:
            NotFoundError: the user has no such memory, or it is not in quarantine.
            ConflictError: the same content is stored by now as another memory.
        """

    @sql_function
    async def quarantine_source(self, user_id: str, source: QuarantineSource, id: str, reason: str) -> dict[str, Any]:
        """Take back a poisoned source with everything that derives from it, and return the counts by kind.

        Args:
            user_id: whose source it is.
            source: message, thread, document, artifact, summary or memory.
            id: as search shows it: of a message ``thread_id/seq``, of an artifact its key.
            reason: why, in 1 to 255 characters; it is shown wherever the quarantine is listed.

        Raises:
            NotFoundError: the user has no such source.
        """

    @sql_function
    async def release_source(self, user_id: str, source: QuarantineSource, id: str) -> dict[str, Any]:
        """Undo ``quarantine_source`` and return the counts by kind; what another poisoned source accounts for stays."""

    @sql_function
    async def list_quarantined(
        self, user_id: str, source: str | None = None, row_limit: int | None = 50, row_offset: int | None = 0
    ) -> list[Quarantined]:
        """Return what is in quarantine, newest first: memories, messages, documents and artifacts, or one of these."""

    @sql_function
    async def forget_memory(self, user_id: str, memory_id: UUID | str, reason: str | None = None) -> dict[str, Any]:
        """Remove a memory for good with all that says or came from it; no model or import brings it back.

        Return the receipt: ``receipt_id``, ``forgotten_at`` and ``tables``, the rows removed by table. Raise
        NotFoundError when the user has no such memory.
        """

    @sql_function
    async def forget_user(
        self, user_id: str, reason: str | None = None, spaces: Fate | None = "keep"
    ) -> dict[str, Any]:
        """Remove everything about a user, and return the receipt, as ``forget_memory`` does.

        The ledger keeps what calls cost, without the user. What the user wrote in spaces stays, without the user,
        unless ``spaces`` says forget: then what sessions of tenants wrote there as the user goes as well. Raise
        RetryableError where the user is written to all the time.
        """

    @sql_function
    async def was_forgotten(self, user_id: str, messages: Sequence[Mapping[str, Any]]) -> list[bool]:
        """Return for each text whether the user had it forgotten, or was forgotten after it was said; for imports.

        Each of ``messages`` has ``content`` and ``created_at``, without which nobody knows when it was said.
        """

    @sql_function
    async def export_user(
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

    async def export_user_to(self, user_id: str, file: str | os.PathLike[str] | TextIO, overwrite: bool = False) -> int:
        """Write everything about a user to a file, however much that is, and return the number of rows.

        All of one moment, unless the connection of this client is in a transaction that is not repeatable read. A file
        that is named by its path can be read by this user only. Raise ConflictError where there is one already, unless
        ``overwrite`` is True.
        """
        with begun(file, overwrite=overwrite) as output:
            written = UserFile(output)
            async with (await self.caller.of(user_id, is_fresh=True)).in_a_transaction("repeatable read") as caller:
                bound = AsyncErasure(caller)
                part = await bound.export_user(user_id, max_rows=ROWS)
                written.add(part)
                while part["next"] is not None:
                    part = await bound.export_user(user_id, max_rows=ROWS, after=part["next"])
                    written.add(part)
            written.end()
        return written.rows
