"""The methods for models and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncCursor
from psycopg.rows import dict_row

from ...choices import ModelKind, Provider
from ...types import Backfill
from ..notices import Notices
from .caller import AsyncCaller, translated


class AsyncModels(AsyncCaller):
    """The methods for models and prompts."""

    async def register_model(
        self,
        name: str,
        kind: ModelKind,
        provider: Provider | str,
        model: str,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a model that jobs may use; a key is not a setting, ``api_key_env`` names where a worker finds it."""
        await self._select(
            "register_model",
            {"name": name, "kind": kind, "provider": provider, "model": model},
            settings=settings,
        )

    async def activate_model(self, name: str) -> None:
        """Make a registered model the active model of its kind, which jobs and searches use."""
        await self._select("activate_model", {"name": name})

    async def deactivate_model(self, name: str) -> None:
        """Switch a model off until it is activated again. Its embeddings stay.

        Without an active embedding model searches go by keyword; without a chat model jobs wait.
        """
        await self._select("deactivate_model", {"name": name})

    async def backfill_status(self) -> list[Backfill]:
        """Return how many of the searchable texts each embedding model has embedded."""
        return await self._rows(Backfill, "backfill_status", {})

    async def vector_index(self, model: str) -> list[str]:
        """Return the statements that make the approximate index of an embedding model.

        Execute them in autocommit mode as the owner of the schema, one after the other: they cannot run in a
        transaction. See "Users with very many memories" in docs/operations.md.

        Raises:
            InvalidValueError: the model has not embedded anything yet.
            NotFoundError: there is no such embedding model.
            RetryableError: the index is being built.
        """
        rows = await self._select("vector_index", {"model": model})
        return [statement for row in rows for statement in row.values()]

    async def drop_model(self, name: str) -> None:
        """Remove a model that is not active, with its embeddings and their index."""
        await self._select("drop_model", {"name": name})

    async def set_prompt(self, name: str, template: str) -> int:
        """Replace the prompt of a kind of job and return its new version; every variable it needs must stay."""
        return await self._value(int, "set_prompt", {"name": name, "template": template})

    async def reset_prompt(self, name: str) -> int:
        """Return to the built-in prompt, as a new version, and return that."""
        return await self._value(int, "reset_prompt", {"name": name})

    async def _has_embedding_model(self) -> bool:
        """Whether an embedding model is registered; for a role that may read memory.models."""
        async with self._borrowed(Notices(self._warned)) as connection, translated(connection):
            cursor = AsyncCursor(connection, row_factory=dict_row)
            await cursor.execute("select from memory.models where kind = 'embedding' limit 1")
            return await cursor.fetchone() is not None
