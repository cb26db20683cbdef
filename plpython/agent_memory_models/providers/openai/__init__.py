"""Models of provider `openai`, `azure`, or of any server that speaks OpenAI's protocol.

- client.py: one request, its timeout, and errors in plain words; connections.py: keys and size limits.
- chat.py, embeddings.py, rerank.py: the requests of each kind of model, and the checks of their replies.
"""

from __future__ import annotations

from ...text.tokens import TokenCounter
from .chat import OpenAIChat
from .client import OpenAIClient
from .embeddings import OpenAIEmbeddings
from .rerank import OpenAIRerank

__all__ = ["OpenAIProvider"]


class OpenAIProvider:
    """Runs jobs over one set of connections: `chat(job, question)`, `embed(job)` and `rerank(job)`."""

    def __init__(self, counter: TokenCounter) -> None:
        client = OpenAIClient()
        self.close = client.close
        self.chat = OpenAIChat(client, counter).run
        self.embed = OpenAIEmbeddings(client, counter).embed
        self.rerank = OpenAIRerank(client, counter).rerank
