"""The calls of the asynchronous client; python_client/generate_sync.py makes the folder _sync of this one."""

from .caller import AsyncCaller, AsyncMethods, async_fetched
from .routed import AsyncRoutedCaller
from .sessions import async_carrying, async_prepare_nothing_behind_a_pooler
from .translating import async_translated
from .worker_protocol import AsyncWorkerProtocol

__all__ = [
    "AsyncCaller",
    "AsyncMethods",
    "AsyncRoutedCaller",
    "AsyncWorkerProtocol",
    "async_carrying",
    "async_fetched",
    "async_prepare_nothing_behind_a_pooler",
    "async_translated",
]
