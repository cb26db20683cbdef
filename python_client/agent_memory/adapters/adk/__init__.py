"""Google ADK: sessions and memory of its agents.

- events.py: an event as messages, and back. sessions.py: the session service. memories.py: the memory service.
"""

from .memories import AgentMemoryService
from .sessions import AgentMemorySessionService

__all__ = ["AgentMemoryService", "AgentMemorySessionService"]
