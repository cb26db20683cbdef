"""Memories and embeddings for the benchmark of search: varied, repeatable, made from a fixed seed."""

from __future__ import annotations

import random
from itertools import accumulate

import numpy
from numpy.typing import NDArray

Vectors = NDArray[numpy.float32]

_SYLLABLES = ("ka", "ro", "mi", "ten", "sul", "ver", "lo", "pan", "dri", "ost", "ba", "ne", "fi", "gor", "le", "ma")
_COMMON = (
    "the to a of and in is for with on my at that from has was not we about new prefers wants works team project "
    "meeting coffee train daughter report weekend customer database invoice garden piano Berlin budget doctor"
)
VOCABULARY = 8000
WORDS = (8, 25)


class Texts:
    """Sentences of 8 to 25 words, which are as unevenly frequent as in a language (Zipf)."""

    def __init__(self, seed: int = 1) -> None:
        self._rng = random.Random(seed)
        made: dict[str, None] = dict.fromkeys(_COMMON.split())
        while len(made) < VOCABULARY:
            made["".join(self._rng.choices(_SYLLABLES, k=self._rng.choice((2, 3, 3, 4))))] = None
        self._words = list(made)
        self._weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def sentence(self) -> str:
        """The next sentence."""
        words = self._rng.choices(self._words, cum_weights=self._weights, k=self._rng.randint(*WORDS))
        return " ".join(words).capitalize() + "."

    def question(self, sentence: str) -> str:
        """A question that shares words with a sentence."""
        words = sentence.lower().rstrip(".").split()
        return "what about " + " ".join(self._rng.sample(words, min(4, len(words)))) + "?"


class Directions:
    """Unit vectors that lie in clusters, as the embeddings of texts about a hundred subjects do."""

    def __init__(self, dimensions: int, seed: int = 1, subjects: int = 100) -> None:
        self.dimensions = dimensions
        self._rng = numpy.random.default_rng(seed)
        self._centres = self._normal(subjects, dimensions)

    def draw(self, count: int) -> Vectors:
        """The next ``count`` vectors, a row each."""
        chosen = self._centres[self._rng.integers(len(self._centres), size=count)]
        return _unit(chosen + 1.2 * self._normal(count, chosen.shape[1]))

    def _normal(self, count: int, dimensions: int) -> Vectors:
        return _unit(self._rng.standard_normal((count, dimensions), dtype=numpy.float32))


def _unit(vectors: Vectors) -> Vectors:
    lengths: Vectors = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def as_text(vector: Vectors) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(format(value, '.6g') for value in vector)}]"
