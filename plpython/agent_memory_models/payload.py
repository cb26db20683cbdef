"""The payload of a job and its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

Payload = dict[str, Any]
Result = dict[str, Any]

SIGNIFICANT_DIGITS = 6
"""Digits kept of each number of an embedding: more than the 2-byte floats of halfvec hold, at half the length of what
servers send."""


class Vectors(list[list[float]]):
    """The embeddings of a result, as finite floats, which `as_json` writes."""


def as_json(result: Result) -> str:
    """A result as JSON, for memory.complete_job; Vectors stand under "vectors", as texts with SIGNIFICANT_DIGITS.

    One format for a whole vector takes a fifth of the time in which json.dumps() writes rounded numbers, and the
    database reads a text in a fraction of the time of its numbers as JSON.
    """
    texts = {name: list(map(vector_text, value)) for name, value in result.items() if isinstance(value, Vectors)}
    return json.dumps({"vectors" if name in texts else name: texts.get(name, value) for name, value in result.items()})


def vector_text(vector: Sequence[float]) -> str:
    """A vector in the form that JSON and pgvector share."""
    return _form(len(vector)) % tuple(vector)


@lru_cache(16)
def _form(dimensions: int) -> str:
    return f"[{','.join([f'%.{SIGNIFICANT_DIGITS}g'] * dimensions)}]"
