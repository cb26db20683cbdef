# Generated from _async/__init__.py by generate_sync.py; do not edit.
"""The client: one thin method for each SQL function, in one module for each room.

python_client/generate_sync.py makes the folder _sync of this one.
"""

from .buffer import Buffer
from .caller import translated
from .client import Memory
from .conversation import Conversation

__all__ = ["Buffer", "Conversation", "Memory", "translated"]
