"""AutoGen: a thread as the context of an agent's model, and memories behind AutoGen's protocol.

- ``MemoryContext`` is a ``ChatCompletionContext`` that also stores, retrieves and searches long texts.
- ``AgentMemory`` is a ``Memory`` of autogen-core: ``AssistantAgent(..., memory=[AgentMemory(...)])``.
"""

from .context import MemoryContext, MemoryItem
from .protocol import AgentMemory

__all__ = ["AgentMemory", "MemoryContext", "MemoryItem"]
