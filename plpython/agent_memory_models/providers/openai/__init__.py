"""Models of provider `openai`, `azure`, or of any server that speaks OpenAI's protocol.

- client.py: one request, its timeout, and errors in plain words; connections.py: keys and size limits.
- chat.py, embeddings.py, rerank.py: the requests of each kind of model, and the checks of their replies.
"""

from __future__ import annotations

from ...chat.question import Question
from ...payload import Job, Result
from ...text.tokens import TokenCounter
from .chat import OpenAIChat
from .client import OpenAIClient
from .embeddings import OpenAIEmbeddings
from .rerank import OpenAIRerank

__all__ = ["OpenAIProvider"]


class OpenAIProvider:
    """Runs jobs over one set of connections."""

    def __init__(self, counter: TokenCounter) -> None:
        self._client = OpenAIClient()
        self._chat = OpenAIChat(self._client, counter)
        self._embeddings = OpenAIEmbeddings(self._client, counter)
        self._rerank = OpenAIRerank(self._client, counter)

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def chat(self, job: Job, question: Question) -> Result:
        """The result that a chat model's reply to the question makes. Raises ModelError and RateLimitedError."""
        return await self._chat.run(job.kind, job.payload, question, job.calls)

    async def embed(self, job: Job) -> Result:
        """The embeddings of the payload's texts. Raises ModelError and RateLimitedError."""
        return await self._embeddings.embed(job.kind, job.payload, job.calls)

    async def rerank(self, job: Job) -> Result:
        """A reranking model's scores of the payload's texts. Raises ModelError and RateLimitedError."""
        return await self._rerank.rerank(job.kind, job.payload, job.calls)
