# Generated from _async/__init__.py by generate_sync.py; do not edit.
"""The calls of the asynchronous client; python_client/generate_sync.py makes the folder _sync of this one."""

from .caller import SyncCaller, SyncMethods, fetched
from .routed import SyncRoutedCaller
from .sessions import carrying, prepare_nothing_behind_a_pooler
from .translating import translated
from .worker_protocol import WorkerProtocol

__all__ = [
    "SyncCaller",
    "SyncMethods",
    "SyncRoutedCaller",
    "WorkerProtocol",
    "carrying",
    "fetched",
    "prepare_nothing_behind_a_pooler",
    "translated",
]
