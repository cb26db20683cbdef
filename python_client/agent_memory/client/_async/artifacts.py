"""The methods for artifacts: long texts that a context names by a placeholder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...types import Artifact, StoredArtifact
from .caller import AsyncCaller


class AsyncArtifacts(AsyncCaller):
    """The methods for artifacts: long texts that a context names by a placeholder."""

    async def store_artifact(
        self,
        user_id: str,
        content: str,
        description: str | None = None,
        key: str | None = None,
        artifact_type: str | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
    ) -> StoredArtifact:
        """Keep a long text whole and return the placeholder that a context shows in its place.

        ``content`` holds 10 MiB at most, ``description`` one line of 500 characters. A ``key`` has letters and digits
        of ASCII and ``. _ : / @ # = + -``; without one, one is made. ``artifact_type`` is "command_output" unless
        given. Storing the same content again under its ``key`` can only prolong its life.

        Raises ConflictError if ``key`` has other content already.
        """
        return await self._row(
            StoredArtifact,
            "store_artifact",
            {"user_id": user_id, "content": content},
            description=description,
            key=key,
            artifact_type=artifact_type,
            agent_id=agent_id,
            thread_id=thread_id,
            metadata=metadata,
            expires_at=expires_at,
        )

    async def retrieve_artifact(
        self, user_id: str, key: str, from_token: int | None = None, max_tokens: int | None = None
    ) -> str:
        """Return the content of an artifact, or ``max_tokens`` of it from ``from_token`` on; beyond its end "".

        Raises NotFoundError where the user has no artifact of that key.
        """
        return await self._value(
            str, "retrieve_artifact", {"user_id": user_id, "key": key}, from_token=from_token, max_tokens=max_tokens
        )

    async def list_artifacts(
        self,
        user_id: str,
        artifact_type: str | None = None,
        thread_id: str | None = None,
        row_limit: int | None = None,
        row_offset: int | None = None,
    ) -> list[Artifact]:
        """Return artifacts without their contents, newest first; ``total_count`` is the size of the whole match."""
        return await self._rows(
            Artifact,
            "list_artifacts",
            {"user_id": user_id},
            artifact_type=artifact_type,
            thread_id=thread_id,
            row_limit=row_limit,
            row_offset=row_offset,
        )

    async def delete_artifact(self, user_id: str, key: str) -> bool:
        """Delete an artifact and return whether it existed."""
        return await self._value(bool, "delete_artifact", {"user_id": user_id, "key": key})
