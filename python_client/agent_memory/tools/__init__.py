"""Memory as tools of a model, for one user that the application names.

``MemoryTools(memory, user_id)`` has the definitions that go into an OpenAI request and executes the calls that come
back; ``agent-memory mcp`` serves the same tools over MCP.

- definition.py: what a tool is. memories.py, artifacts.py, conversations.py, knowledge.py, files.py: the
  tools.
- toolbox.py: executes calls.
"""

from .definition import Scope, Tool
from .toolbox import LISTED, TOOLS, AsyncMemoryTools, MemoryTools, openai_tools

__all__ = ["LISTED", "TOOLS", "AsyncMemoryTools", "MemoryTools", "Scope", "Tool", "openai_tools"]
