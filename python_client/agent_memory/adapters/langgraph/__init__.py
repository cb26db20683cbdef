"""LangGraph and LangChain: a long-term store, and the history of messages of a thread.

- ``AgentMemoryStore`` is a ``BaseStore``: ``builder.compile(store=...)``. Every item is a memory of the user.
- ``AgentMemoryHistory`` reads and writes the messages of a thread as LangChain's, without a checkpointer.
"""

from .history import AgentMemoryHistory, from_langchain, to_langchain
from .store import AgentMemoryStore

__all__ = ["AgentMemoryHistory", "AgentMemoryStore", "from_langchain", "to_langchain"]
