# Generated from _async/__init__.py by generate_sync.py; do not edit.
"""The client: one method for each SQL function.

python_client/generate_sync.py makes the folder _sync of this one.
"""

from .admin import Admin
from .buffer import Buffer
from .client import Memory
from .conversation import Conversation

__all__ = ["Admin", "Buffer", "Conversation", "Memory"]
