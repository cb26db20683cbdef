"""Client for agent_memory, the agent memory inside PostgreSQL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .buffered import BufferedItem, Pushed
    from .calls.nodes import partition_of
    from .client import AsyncBuffer, AsyncConversation, AsyncMemory, Buffer, Conversation, Memory
    from .errors import (
        AgentMemoryError,
        BudgetExceededError,
        ConflictError,
        DegradedWarning,
        InvalidValueError,
        LeaseLostError,
        LimitExceededError,
        NotConnectedError,
        NotFoundError,
        NotInstalledError,
        NotSupportedError,
        PermissionDeniedError,
        RetryableError,
        WrongNodeError,
    )
    from .types import (
        AddedMemory,
        Artifact,
        Backfill,
        Change,
        Check,
        ClaimedJob,
        Context,
        ContextPart,
        Document,
        Job,
        MemoryNeed,
        MemoryRecord,
        MemoryVersion,
        Message,
        Quarantined,
        SearchResult,
        Secret,
        Space,
        StoredArtifact,
        StoredMessage,
        Summary,
        Thread,
        UserRecord,
    )

__all__ = [
    "AddedMemory",
    "AgentMemoryError",
    "Artifact",
    "AsyncBuffer",
    "AsyncConversation",
    "AsyncMemory",
    "Backfill",
    "BudgetExceededError",
    "Buffer",
    "BufferedItem",
    "Change",
    "Check",
    "ClaimedJob",
    "ConflictError",
    "Context",
    "ContextPart",
    "Conversation",
    "DegradedWarning",
    "Document",
    "InvalidValueError",
    "Job",
    "LeaseLostError",
    "LimitExceededError",
    "Memory",
    "MemoryNeed",
    "MemoryRecord",
    "MemoryVersion",
    "Message",
    "NotConnectedError",
    "NotFoundError",
    "NotInstalledError",
    "NotSupportedError",
    "PermissionDeniedError",
    "Pushed",
    "Quarantined",
    "RetryableError",
    "SearchResult",
    "Secret",
    "Space",
    "StoredArtifact",
    "StoredMessage",
    "Summary",
    "Thread",
    "UserRecord",
    "WrongNodeError",
    "partition_of",
]

# The light ones first: psycopg is loaded by errors, and takes three quarters of the time of all.
_HOMES = ("types", "buffered", "errors", "calls.nodes", "client")

if not TYPE_CHECKING:  # type checkers would take every name for one of this package

    def __getattr__(name: str) -> Any:
        """Load a name with its first use, so that the import of this package takes no time."""
        if name in _HOMES:
            return import_module(f".{name}", __name__)
        if name in __all__:
            for home in _HOMES:
                module = import_module(f".{home}", __name__)
                if hasattr(module, name):
                    return globals().setdefault(name, getattr(module, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
