"""Every kind of job by a model of provider `openai` or `azure`."""

from __future__ import annotations

from typing import Any

from .calls import Calls
from .chat_jobs import chat_job
from .openai_chat import OpenAIChat
from .openai_client import OpenAIClient
from .openai_embeddings import OpenAIEmbeddings
from .openai_rerank import OpenAIRerank, rerank_api
from .token_counter import TokenCounter


class OpenAIJobs:
    """Runs jobs over one set of connections."""

    def __init__(self, counter: TokenCounter) -> None:
        self._client = OpenAIClient()
        self._chat = OpenAIChat(self._client, counter)
        self._embeddings = OpenAIEmbeddings(self._client, counter)
        self._rerank = OpenAIRerank(self._client, counter)

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def run(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        """The result of a job. Raises ModelError and RateLimitedError."""
        if kind in ("embed", "backfill"):
            return await self._embeddings.embed(kind, payload, calls)
        if kind == "rerank" and rerank_api(payload["model"]) == "rerank":
            return await self._rerank.rerank(kind, payload, calls)
        return await self._chat.run(kind, payload, chat_job(kind, payload), calls)
