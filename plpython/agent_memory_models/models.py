"""Runs jobs: finds the module of a job's kind, and keeps the encodings and connections that jobs share."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .calls import Calls
from .errors import MissingPackageError
from .jobs import job_module
from .payload import Payload
from .providers.known import places_of
from .task import Task
from .text.tokens import TokenCounter

if TYPE_CHECKING:
    from .providers.onnx import OnnxProvider
    from .providers.openai import OpenAIProvider


class Models:
    """Runs jobs, any number at a time, within one event loop.

    Use it as an asynchronous context manager, which closes the connections at its end.

    Args:
        may_download: whether an encoding of tiktoken or a local model that is missing may be downloaded; never within a
            server.
    """

    def __init__(self, *, may_download: bool = True) -> None:
        self.counter = TokenCounter(may_download=may_download)
        self._may_download = may_download
        self._openai: OpenAIProvider | None = None
        self._onnx: OnnxProvider | None = None
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

        Each call of the model is entered into `calls` as it ends, whether or not there is a result.
        Raises RateLimitedError when the job should be released, and ModelError when it failed.
        """
        return await job_module(kind).run(Task(kind, payload, calls, self))

    def openai(self) -> OpenAIProvider:
        """The provider for `openai` and `azure`, with the connections of all jobs. Raises MissingPackageError."""
        if self._openai is None:
            # Imported by the first job that needs it: the import costs a backend half a second and 40 MB.
            try:
                from .providers.openai import OpenAIProvider
            except ImportError as error:
                raise MissingPackageError(
                    f"provider openai needs the Python packages openai and pydantic: {error}"
                ) from error
            self._openai = OpenAIProvider(self.counter)
        return self._openai

    def onnx(self) -> OnnxProvider:
        """The models that run in this process, which each is loaded by the first job that needs it."""
        if self._onnx is None:
            from .providers.onnx import OnnxProvider

            self._onnx = OnnxProvider(may_download=self._may_download)
        return self._onnx

    def slot(self, payload: Payload) -> AbstractAsyncContextManager[None]:
        """One of the places that the payload's model has for calls, where it has not any number."""
        limit = places_of(payload)
        if limit is None:
            return nullcontext()
        return self._slots.setdefault((payload["model"]["name"], limit), asyncio.Semaphore(limit))
