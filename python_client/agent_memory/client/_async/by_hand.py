"""The methods that do more than call their function."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, TextIO
from uuid import UUID

from ...calls import functions
from ...calls.pieces import PIECE, Cutter, LongText, async_parts_of
from ...errors import NotSupportedError
from ...types import StoredArtifact
from ..user_files import ROWS, UserFile, begun
from .functions import AsyncFunctions


class AsyncByHand(AsyncFunctions):
    """The methods that do more than call their function."""

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
        given = locals()
        await self._send_pieces(given)
        return await self.caller.call(functions.STORE_ARTIFACT, given)

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

    async def export_user_to(self, user_id: str, file: str | os.PathLike[str] | TextIO, overwrite: bool = False) -> int:
        """Write everything about a user to a file, however much that is, and return the number of rows.

        All of one moment, unless the connection of this client is in a transaction that is not repeatable read. A file
        that is named by its path can be read by this user only. Raise ConflictError where there is one already, unless
        ``overwrite`` is True.
        """
        with begun(file, overwrite=overwrite) as output:
            written = UserFile(output)
            async with (await self.caller.of(user_id, is_fresh=True)).in_a_transaction("repeatable read") as caller:
                bound = AsyncFunctions(caller)
                part = await bound.export_user(user_id, max_rows=ROWS)
                written.add(part)
                while part["next"] is not None:
                    part = await bound.export_user(user_id, max_rows=ROWS, after=part["next"])
                    written.add(part)
            written.end()
        return written.rows

    async def run_jobs(self, max_jobs: int | None = 100, max_seconds: int | None = 60) -> None:
        """Run queued jobs inside the database; needs plpython3u there and no open transaction here.

        Raises:
            AgentMemoryError: the connection is inside a transaction.
            NotSupportedError: the server has no PL/Python, which an embedded one never has.
        """
        if self.caller.store is not None:
            raise NotSupportedError(
                "run_jobs() needs PL/Python, which an embedded store does not have",
                hint="The store's own worker does this work: leave the call out. get_job() says when it is done.",
            )
        await self.caller.call_procedure(functions.RUN_JOBS, locals())
