"""Times that statements take, and how they are told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import TypeVar

WARM_UP = 8  # a prepared statement may get its generic plan with the sixth execution
Given = TypeVar("Given")


def in_turns(
    variants: Mapping[str, Callable[[Given], object]], given: Sequence[Given], calls: int
) -> dict[str, list[float]]:
    """The milliseconds of so many calls of each variant.

    The variants take turns, so that other work on the machine meets all of them. They go back and forth, because the
    first one finds the rows of another user in the processor's caches.
    """
    taken: dict[str, list[float]] = {name: [] for name in variants}
    forth = list(variants.items())
    for turn in range(-WARM_UP, calls):
        for name, call in reversed(forth) if turn % 2 else forth:
            started = time.perf_counter()
            call(given[turn % len(given)])
            if turn >= 0:
                taken[name].append((time.perf_counter() - started) * 1000)
    return taken


def points(taken: Sequence[float]) -> dict[str, float]:
    """The median, and what 95 and 99 % do not exceed."""
    cuts = quantiles(taken, n=100)
    return {"p50": round(median(taken), 2), "p95": round(cuts[94], 2), "p99": round(cuts[98], 2)}
