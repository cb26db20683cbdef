"""The client: one thin method for each SQL function, in one module for each room.

python_client/generate_sync.py makes the folder _sync of this one.
"""

from .buffer import AsyncBuffer
from .caller import translated
from .client import AsyncMemory
from .conversation import AsyncConversation

__all__ = ["AsyncBuffer", "AsyncConversation", "AsyncMemory", "translated"]
