"""The scores of reranking models."""

from __future__ import annotations

import math


def shares(scores: list[float]) -> list[float]:
    """The scores as shares from 0 to 1, in the same order: as they are where they are shares, else as logits."""
    if all(0 <= score <= 1 for score in scores):
        return scores
    # A sigmoid, without an overflow at either end.
    return [0.5 * (1 + math.tanh(score / 2)) for score in scores]
