"""The calls of mem0: ``from agent_memory.adapters.mem0 import Memory`` in place of ``from mem0 import Memory``.

mem0 itself is not needed. Both ways to say whose memories are meant work: ``search(query, user_id="ana")`` of version 1
and ``search(query, filters={"user_id": "ana"})`` of version 2.
"""

from .memory import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory"]
