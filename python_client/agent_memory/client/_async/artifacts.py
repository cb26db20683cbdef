"""The methods for artifacts: long texts that a context names by a placeholder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from ...calls import AsyncMethods, sql_function
from ...calls.pieces import PIECE, Cutter, LongText, async_parts_of
from ...types import Artifact, StoredArtifact


class AsyncArtifacts(AsyncMethods):
    """The methods for artifacts: long texts that a context names by a placeholder."""

    async def _send_pieces(self, given: dict[str, Any]) -> None:
        """Send a text that is longer than one piece, and put its upload in the place of the content."""
        if given["content"] is None or given.get("upload_id") is not None:
            return
        cutter = Cutter("content")
        upload_id = None
        async for part in async_parts_of("content", given["content"]):
            for piece in cutter.add(part):
                upload_id = await self.add_artifact_piece(given["user_id"], piece, upload_id)
        rest = cutter.rest()
        if upload_id is not None and rest:
            await self.add_artifact_piece(given["user_id"], rest, upload_id)
        given |= {"content": rest if upload_id is None else None, "upload_id": upload_id}

    @sql_function(before=_send_pieces)
    async def store_artifact(
        self,
        user_id: str,
        content: LongText | None,
        description: str | None = None,
        key: str | None = None,
        artifact_type: str | None = "command_output",
        agent_id: str | None = "default",
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        upload_id: UUID | str | None = None,
    ) -> StoredArtifact:
        """Keep a long text whole and return the placeholder that a context shows in its place.

        ``content`` is the text, a ``pathlib.Path`` of a text file, or an iterable of text or of bytes (UTF-8), also an
        asynchronous one with ``AsyncMemory``; 200 MiB at most. What is longer than a million characters is sent in
        pieces, each in a call of its own, and never held as a whole. If that is broken off, nobody sees the pieces, and
        ``sweep`` deletes them after a day. ``upload_id`` stores what ``add_artifact_piece`` has sent; ``content`` is
        None then.

        ``description`` has one line of 500 characters at most. A ``key`` has letters and digits of ASCII and
        ``. _ : / @ # = + -``; without one, one is made. ``artifact_type`` is "command_output" unless given. Storing the
        same content again under its ``key`` can only prolong its life.

        Raises ConflictError if ``key`` has other content already, InvalidValueError for bytes that are not UTF-8,
        LimitError for more than 200 MiB, and OSError for a file that cannot be read.
        """

    @sql_function
    async def add_artifact_piece(self, user_id: str, content: str, upload_id: UUID | str | None = None) -> UUID:
        """Send a piece of a long text and return the id of the upload, which the first call begins.

        ``store_artifact(user_id, None, upload_id=...)`` makes an artifact of all pieces.

        Raises NotFoundError where the user has no such upload, and LimitError for more than 200 MiB in all.
        """

    @sql_function
    async def retrieve_artifact(
        self,
        user_id: str,
        key: str,
        from_token: int | None = 0,
        max_tokens: int | None = None,
        from_line: int | None = None,
        max_lines: int | None = None,
        grep: str | None = None,
        context_lines: int | None = 2,
    ) -> str:
        """Return the content of an artifact or a part of it; beyond its end "".

        A part is ``max_tokens`` tokens (of four bytes) from ``from_token`` on, or ``max_lines`` lines from
        ``from_line`` on (the first line is 1). ``grep`` returns the numbered lines that hold every one of its words,
        with ``context_lines`` (2) lines around each. ``key`` may be a placeholder. ``artifact_pieces`` reads what is
        too long for the memory of this process.

        Raises NotFoundError where the user has no artifact of that key.
        """

    async def artifact_pieces(
        self, user_id: str, key: str, from_token: int = 0, max_tokens: int | None = None
    ) -> AsyncIterator[str]:
        """Yield the content of an artifact, or a slice of it, in pieces of a MiB, which join to the whole.

        Each piece is a call of its own.

        Raises NotFoundError where the user has no artifact of that key, also when it is deleted meanwhile.
        """
        end = None if max_tokens is None else from_token + max_tokens
        while end is None or from_token < end:
            tokens = PIECE // 4 if end is None else min(PIECE // 4, end - from_token)
            piece = await self.retrieve_artifact(user_id, key, from_token, tokens)
            if not piece:
                break
            yield piece
            from_token += tokens

    @sql_function
    async def list_artifacts(
        self,
        user_id: str,
        artifact_type: str | None = None,
        thread_id: str | None = None,
        row_limit: int | None = 50,
        row_offset: int | None = 0,
    ) -> list[Artifact]:
        """Return artifacts without their contents, newest first; ``total_count`` is the size of the whole match."""

    @sql_function
    async def delete_artifact(self, user_id: str, key: str) -> bool:
        """Delete an artifact, named by its key or a placeholder, and return whether it existed."""
