"""The payload of a job, its result, and how providers see a job under way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from .calls import Calls

Payload = dict[str, Any]
Result = dict[str, Any]

SIGNIFICANT_DIGITS = 6
"""Digits kept of each number of an embedding: more than the 2-byte floats of halfvec hold, at half the length of what
servers send."""


class Vectors(list[list[float]]):
    """The embeddings of a result, as finite floats, which `as_json` writes."""


def as_json(result: Result) -> str:
    """A result as JSON, for memory.complete_job; numbers of Vectors get SIGNIFICANT_DIGITS.

    One format for a whole vector takes a fifth of the time in which json.dumps() writes rounded numbers.
    """
    written = (
        (name, f"[{','.join(map(vector_text, value))}]" if isinstance(value, Vectors) else json.dumps(value))
        for name, value in result.items()
    )
    return f"{{{','.join(f'{json.dumps(name)}:{value}' for name, value in written)}}}"


def vector_text(vector: Sequence[float]) -> str:
    """A vector in the form that JSON and pgvector share."""
    return _form(len(vector)) % tuple(vector)


@lru_cache(16)
def _form(dimensions: int) -> str:
    return f"[{','.join([f'%.{SIGNIFICANT_DIGITS}g'] * dimensions)}]"


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
