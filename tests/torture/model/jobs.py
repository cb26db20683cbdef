"""The contract of the jobs that extract memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

MAX_ATTEMPTS = 5


@dataclass
class Job:
    """One job of extraction."""

    job_id: int
    thread_id: str
    recent_k: int | None
    status: str = "pending"
    attempts: int = 0
    is_delayed: bool = False
    has_next: bool = False
    next_recent_k: int | None = None
    lease_token: UUID | None = None
    is_lease_over: bool = False
    reads_to: int = -1
    reads_from: int = -1
    given: list[int] = field(default_factory=list)
    """The messages that the last attempt was given."""
    stored: set[UUID] = field(default_factory=set)
    """The memories that a completed job has stored, which its result names."""

    @property
    def is_open(self) -> bool:
        return self.status in ("pending", "running")

    def take_in(self, recent_k: int | None) -> None:
        """A request that meets an open job."""
        self.is_delayed = False
        if self.status == "pending":
            self.recent_k = wider(self.recent_k, recent_k)
        elif self.has_next:
            self.next_recent_k = wider(self.next_recent_k, recent_k)
        else:
            self.has_next, self.next_recent_k = True, recent_k

    def begin(self) -> None:
        """An attempt reads what was asked for during the one before, too."""
        self.status = "running"
        self.attempts += 1
        if self.has_next:
            self.recent_k = wider(self.recent_k, self.next_recent_k)
            self.has_next, self.next_recent_k = False, None

    def end(self, status: str, is_counted: bool = True, is_delayed: bool = False) -> None:
        self.status, self.lease_token, self.is_lease_over, self.is_delayed = status, None, False, is_delayed
        self.attempts -= not is_counted

    def fail(self, is_delayed: bool) -> str:
        self.end("pending" if self.attempts < MAX_ATTEMPTS else "dead", is_delayed=is_delayed)
        return self.status


def wider(a: int | None, b: int | None) -> int | None:
    """The recent_k that covers both requests; none means everything new."""
    return None if a is None or b is None else max(a, b)
