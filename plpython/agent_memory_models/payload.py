"""The payload of a job, its result, and how providers see a job under way."""

from __future__ import annotations

from typing import Any, Protocol

from .calls import Calls

Payload = dict[str, Any]
Result = dict[str, Any]


class Job(Protocol):
    """One run of a job.

    Attributes:
        kind: the kind of job.
        payload: what memory.claim_jobs handed out; `payload["model"]` names the provider.
        calls: where each call of the model is entered when it ends.
    """

    kind: str
    payload: Payload
    calls: Calls
