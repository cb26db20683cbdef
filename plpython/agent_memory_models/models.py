"""Turns the payload of a job into its result, by the provider that the payload names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import local_consolidation, local_extraction, local_reconciliation, local_summary, local_user_summary
from .calls import Calls, recorded_call
from .chunking import chunk_documents
from .errors import MissingPackageError, ModelError
from .token_counter import TokenCounter

if TYPE_CHECKING:
    from .openai_jobs import OpenAIJobs

_LOCAL: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "extract_memories": local_extraction.extract,
    "summarize_thread": local_summary.summarize,
    "compress_thread": local_summary.summarize,
    "summarize_user": local_user_summary.summarize,
    "reconcile_memories": local_reconciliation.reconcile,
    "consolidate": local_consolidation.consolidate,
}
# What a provider's model does and the built-in one does not.
_REMOTE = ("embed", "backfill", "rerank")
_KINDS = (*_LOCAL, *_REMOTE, "chunk_documents")
# The kinds whose messages are of one thread, so that a seq names one of them.
_KINDS_OF_ONE_THREAD = ("extract_memories", "summarize_thread", "compress_thread")
_SUMMARIES = ("summarize_thread", "compress_thread", "summarize_user")


class Models:
    """Runs jobs, any number at a time, within one event loop.

    Use it as an asynchronous context manager, which closes the connections at its end.

    Args:
        may_download: whether tiktoken may download an encoding that is missing; never within a server.
    """

    def __init__(self, *, may_download: bool = True) -> None:
        self._counter = TokenCounter(may_download=may_download)
        self._openai: OpenAIJobs | None = None
        self._slots: dict[tuple[str, Any], asyncio.Semaphore] = {}

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

    async def run(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        """The result of a job, ready for memory.complete_job; `generation_time_ms` is the time of the model itself.

        What was asked of the model is entered into `calls` as it ends, whether or not there is a result.
        Raises RateLimitedError when the job should be released, and ModelError when it failed.
        """
        if kind not in _KINDS:
            raise ModelError(f"unknown kind of job: {kind}")
        counts = await self._count(kind, payload)
        if kind == "compress_thread" and (reason := _below_threshold(payload, counts)):
            return {"skipped": reason, **counts}
        async with self._slot(payload["model"]):
            started = time.monotonic()
            result = await self._dispatch(kind, payload, calls)
            duration = round((time.monotonic() - started) * 1000)
        if kind in _SUMMARIES:
            counts |= await self._count_summary(result["summary"], payload)
        return {**result, **counts, "generation_time_ms": duration}

    async def _count(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        if kind not in _KINDS_OF_ONE_THREAD:
            return {}
        messages = payload["messages"] + payload.get("recent_messages", [])
        return await self._counter.count_messages(messages, payload["model"]["model"])

    async def _count_summary(self, summary: str, payload: dict[str, Any]) -> dict[str, Any]:
        tokens = await self._counter.count_exactly(summary, payload["model"]["model"])
        return {} if tokens is None else {"token_count": tokens}

    async def _dispatch(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        provider = payload["model"]["provider"]
        if provider == "local":
            if kind in _REMOTE:
                model = "reranking" if kind == "rerank" else "embedding"
                raise ModelError(f"provider local has no {model} model; register one of provider openai")
            with recorded_call(calls, kind, payload) as call:
                call |= {"tokens_in": 0, "tokens_out": 0}
                if kind == "chunk_documents":
                    return await chunk_documents(payload, self._counter)
                return _LOCAL[kind](payload)
        if provider in ("openai", "azure"):
            return await self._openai_jobs().run(kind, payload, calls)
        raise ModelError(f"unknown provider: {provider}")

    def _openai_jobs(self) -> OpenAIJobs:
        if self._openai is None:
            # Imported by the first job that needs it: it costs a backend half a second and 40 MB.
            try:
                from .openai_jobs import OpenAIJobs
            except ImportError as error:
                raise MissingPackageError(
                    f"provider openai needs the Python packages openai and pydantic: {error}"
                ) from error
            self._openai = OpenAIJobs(self._counter)
        return self._openai

    def _slot(self, model: dict[str, Any]) -> AbstractAsyncContextManager[None]:
        """One of the model's `max_concurrency` places, where the setting is given."""
        limit = (model.get("settings") or {}).get("max_concurrency")
        if not limit:
            return nullcontext()
        return self._slots.setdefault((model["name"], limit), asyncio.Semaphore(int(limit)))


def _below_threshold(payload: dict[str, Any], counts: dict[str, Any]) -> str | None:
    """Why there is nothing to compress yet; None when there is.

    The sum is exact where a count was made, now or earlier; elsewhere the database's estimate stands.
    """
    if payload.get("is_forced"):
        return None
    exact = counts.get("token_counts", {})
    messages = payload["messages"] + payload.get("recent_messages", [])
    tokens = sum(exact.get(str(message["seq"]), message["token_count"]) for message in messages)
    tokens += payload.get("remaining_tokens") or 0
    threshold = payload["threshold_tokens"]
    return f"{tokens} tokens are below the threshold of {threshold}" if tokens < threshold else None
