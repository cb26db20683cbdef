"""LangGraph and LangChain: a long-term store, and the history of messages of a thread.

- ``AgentMemoryStore`` is a ``BaseStore``: ``builder.compile(store=...)``. Every item is a memory of the user.
- ``AsyncAgentMemoryStore`` is the same for programs that await it.
- ``AgentMemoryHistory`` reads and writes the messages of a thread as LangChain's, without a checkpointer.
"""

from .history import AgentMemoryHistory, from_langchain, to_langchain
from .store import AgentMemoryStore, AsyncAgentMemoryStore

__all__ = ["AgentMemoryHistory", "AgentMemoryStore", "AsyncAgentMemoryStore", "from_langchain", "to_langchain"]
