"""Client for agent_memory, the agent memory inside PostgreSQL."""

from ._async import AsyncMemory
from ._sync import Memory
from .errors import (
    AgentMemoryError,
    BudgetExceededError,
    ConflictError,
    InvalidValueError,
    LeaseLostError,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
    RetryableError,
)
from .types import (
    AddedMemory,
    Backfill,
    Check,
    ClaimedJob,
    ContextPart,
    Document,
    Job,
    MemoryRecord,
    MemoryVersion,
    Message,
    SearchResult,
    StoredMessage,
    Summary,
    Thread,
)

__all__ = [
    "AddedMemory",
    "AgentMemoryError",
    "AsyncMemory",
    "Backfill",
    "BudgetExceededError",
    "Check",
    "ClaimedJob",
    "ConflictError",
    "ContextPart",
    "Document",
    "InvalidValueError",
    "Job",
    "LeaseLostError",
    "LimitExceededError",
    "Memory",
    "MemoryRecord",
    "MemoryVersion",
    "Message",
    "NotFoundError",
    "PermissionDeniedError",
    "RetryableError",
    "SearchResult",
    "StoredMessage",
    "Summary",
    "Thread",
]
