"""Turns the payload of a job into its result, by the provider that the payload names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import local_extraction, local_summary
from .errors import ModelError

if TYPE_CHECKING:
    from .openai_chat import OpenAIChat

_LOCAL: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "extract_memories": local_extraction.extract,
    "summarize_thread": local_summary.summarize,
}


class Models:
    """Runs jobs, any number at a time, within one event loop.

    Use it as an asynchronous context manager, which closes the connections at its end.
    """

    def __init__(self) -> None:
        self._openai: OpenAIChat | None = None
        self._slots: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> Models:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._openai is not None:
            await self._openai.close()

    async def run(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """The result of a job, ready for memory.complete_job; `generation_time_ms` is the time of the call itself.

        Raises RateLimitedError when the job should be released, and ModelError when it failed.
        """
        async with self._slot(payload["model"]):
            started = time.monotonic()
            result = await self._dispatch(kind, payload)
            return {**result, "generation_time_ms": round((time.monotonic() - started) * 1000)}

    async def _dispatch(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        if kind not in _LOCAL:
            raise ModelError(f"unknown kind of job: {kind}")
        provider = payload["model"]["provider"]
        if provider == "local":
            return _LOCAL[kind](payload)
        if provider in ("openai", "azure"):
            chat = self._openai_chat()
            return await (chat.extract(payload) if kind == "extract_memories" else chat.summarize(payload))
        raise ModelError(f"unknown provider: {provider}")

    def _openai_chat(self) -> OpenAIChat:
        if self._openai is None:
            # Imported by the first job that needs it: it costs a backend half a second and 40 MB.
            try:
                from .openai_chat import OpenAIChat
            except ImportError as error:
                raise ModelError(f"provider openai needs the Python packages openai and pydantic: {error}") from error
            self._openai = OpenAIChat()
        return self._openai

    def _slot(self, model: dict[str, Any]) -> AbstractAsyncContextManager[None]:
        """One of the model's `max_concurrency` places, where the setting is given."""
        limit = (model.get("settings") or {}).get("max_concurrency")
        if not limit:
            return nullcontext()
        return self._slots.setdefault(model["name"], asyncio.Semaphore(int(limit)))
