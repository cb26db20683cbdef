"""The scores of reranking models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..errors import ModelError


def shares(scores: list[float]) -> list[float]:
    """The scores as shares from 0 to 1, in the same order: as they are where they are shares, else as logits."""
    if all(0 <= score <= 1 for score in scores):
        return scores
    # A sigmoid, without an overflow at either end.
    return [0.5 * (1 + math.tanh(score / 2)) for score in scores]


def in_order(scores: Iterable[tuple[int, float]], texts: Sequence[int]) -> list[float]:
    """The scores of a reply, each with the number of its text, in the order of the texts.

    Raises ModelError unless each text has one.
    """
    by_text: dict[int, float] = {}
    for text, score in scores:
        if text not in texts or text in by_text:
            number = "two scores" if text in by_text else "a score"
            raise ModelError(f"the reply has {number} for text {text}, of {len(texts)}")
        by_text[text] = score
    if missing := [text for text in texts if text not in by_text]:
        raise ModelError(f"the reply has no score for text {missing[0]}")
    return [by_text[text] for text in texts]
