"""One job under way: its payload, and the tools with which the module of its kind makes the result."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING

from .calls import Calls, recorded_call
from .errors import ModelError
from .payload import Payload, Result

if TYPE_CHECKING:
    from .models import Models
    from .providers.onnx.provider import LoadedModel
    from .providers.openai import OpenAIProvider


Rules = Callable[[Payload], Result | Awaitable[Result]]
"""Makes a job's result of its payload in this process."""


class Task:
    """One run of a job.

    Attributes:
        kind: the kind of job.
        payload: what memory.claim_jobs handed out; `payload["model"]` names the provider.
        calls: where each call of the model is entered when it ends.
        counter: counts tokens in the encoding of a model.
    """

    def __init__(self, kind: str, payload: Payload, calls: Calls, models: Models) -> None:
        self.kind = kind
        self.payload = payload
        self.calls = calls
        self.counter = models.counter
        self._models = models

    @property
    def is_local(self) -> bool:
        """Whether the job is done in this process: by the built-in rules, or by a model that runs here."""
        return bool(self.payload["model"]["provider"] == "local")

    async def local_model(self, kind: str) -> LoadedModel:
        """The payload's model, which runs in this process. Raises MissingModelError and ModelError.

        The ledger gets no call for a model that is missing.
        """
        return await self._models.onnx().model(kind, self.payload["model"])

    async def ask(
        self,
        *,
        local: Rules | None = None,
        remote: Callable[[OpenAIProvider], Awaitable[Result]] | None = None,
    ) -> Result:
        """The result by the provider of the payload's model, with `generation_time_ms`.

        The time is that of the model alone: it begins once the model has a free place, and counting tokens before or
        after is not part of it.

        Raises RateLimitedError when the job should be released, and ModelError when it failed, also when the provider
        does not do this kind of job.
        """
        model = self.payload["model"]
        async with self._models.slot(self.payload):
            started = time.monotonic()
            if self.is_local and local is not None:
                with recorded_call(self.calls, self.kind, self.payload) as call:
                    call |= {"tokens_in": 0, "tokens_out": 0}
                    made = local(self.payload)
                    result = await made if isawaitable(made) else made
            elif model["provider"] in ("openai", "azure") and remote is not None:
                result = await remote(self._models.openai())
            elif model["provider"] in ("local", "openai", "azure"):
                raise ModelError(f"provider {model['provider']} does no jobs of kind {self.kind}")
            else:
                raise ModelError(f"unknown provider: {model['provider']}")
            return {**result, "generation_time_ms": round((time.monotonic() - started) * 1000)}

    async def count_messages(self) -> Result:
        """The part of the result that corrects the database's token counts of the payload's messages.

        Only for kinds whose messages are all of one thread, so that a seq names one message.
        """
        messages = self.payload["messages"] + self.payload.get("recent_messages", [])
        return await self.counter.count_messages(messages, self.payload["model"]["model"])

    async def count_summary(self, summary: str) -> Result:
        """The part of the result that holds the tokens of a summary; empty where they cannot be counted exactly."""
        tokens = await self.counter.count_exactly(summary, self.payload["model"]["model"])
        return {} if tokens is None else {"token_count": tokens}
