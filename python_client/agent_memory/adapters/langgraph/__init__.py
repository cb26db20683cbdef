"""LangGraph and LangChain: a long-term store, a checkpointer, and the history of messages of a thread.

- ``AgentMemoryStore`` is a ``BaseStore``: ``builder.compile(store=...)``. Every item is a memory of the user.
- ``AsyncAgentMemoryStore`` is the same for programs that await it.
- ``AgentMemorySaver`` is a ``BaseCheckpointSaver``: ``builder.compile(checkpointer=...)``.
- ``AsyncAgentMemorySaver`` is the same for programs that await it.
- ``AgentMemoryHistory`` reads and writes the messages of a thread as LangChain's, without a checkpointer.
"""

from .history import AgentMemoryHistory, from_langchain, to_langchain
from .saver import AgentMemorySaver, AsyncAgentMemorySaver
from .store import AgentMemoryStore, AsyncAgentMemoryStore

__all__ = [
    "AgentMemoryHistory",
    "AgentMemorySaver",
    "AgentMemoryStore",
    "AsyncAgentMemorySaver",
    "AsyncAgentMemoryStore",
    "from_langchain",
    "to_langchain",
]
