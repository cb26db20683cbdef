"""Where ``agent_memory.telemetry`` joins in once ``instrument()`` was called; until then nothing but tests for None."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import ConnectionInfo

    from .worker.queue import QueueStats

traceparent: Callable[[ConnectionInfo], str | None] | None = None
"""Returns the traceparent that the statement of a call on this connection carries to the jobs that it makes due."""
middleware: Callable[[Any], Any] | None = None
"""Returns an ASGI application that passes requests on to the given one."""
queue_seen: Callable[[str, QueueStats], None] | None = None
"""Takes the node, whose name is empty for a single server, and its queue, as a worker has seen it."""
flush: Callable[[], object] | None = None
"""Exports what waits to be exported, for a process that ends without Python's own end."""
