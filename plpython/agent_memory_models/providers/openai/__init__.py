"""Models of provider `openai`, `azure`, or of any server that speaks OpenAI's protocol.

- client.py: one request, its timeout, and errors in plain words; connections.py: keys and size limits.
- chat.py, embeddings.py, rerank.py: the requests of each kind of model, and the checks of their replies.
"""

from __future__ import annotations

from ...chat.question import Question
from ...task import Result, Task
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

    async def chat(self, task: Task, question: Question) -> Result:
        """The result that a chat model's reply to the question makes. Raises ModelError and RateLimitedError."""
        return await self._chat.run(task.kind, task.payload, question, task.calls)

    async def embed(self, task: Task) -> Result:
        """The embeddings of the payload's texts. Raises ModelError and RateLimitedError."""
        return await self._embeddings.embed(task.kind, task.payload, task.calls)

    async def rerank(self, task: Task) -> Result:
        """A reranking model's scores of the payload's texts. Raises ModelError and RateLimitedError."""
        return await self._rerank.rerank(task.kind, task.payload, task.calls)
