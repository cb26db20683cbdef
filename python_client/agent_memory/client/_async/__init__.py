"""The client: one method for each SQL function.

python_client/generate_sync.py makes the folder _sync of this one.
"""

from .admin import AsyncAdmin
from .buffer import AsyncBuffer
from .client import AsyncMemory
from .conversation import AsyncConversation

__all__ = ["AsyncAdmin", "AsyncBuffer", "AsyncConversation", "AsyncMemory"]
