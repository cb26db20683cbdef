"""Embeddings by a function that the user of a LangGraph store brings along."""

from __future__ import annotations

import math
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any

from ..clients import needs

with needs("langgraph"):
    from langgraph.store.base import Op, PutOp, SearchOp, ensure_embeddings, get_text_at_path

Vector = Sequence[float]


@dataclass
class Embedded:
    """The embeddings of a batch: by text as they are kept, by query as they are compared."""

    texts: dict[str, str] = field(default_factory=dict)
    queries: dict[str, Vector] = field(default_factory=dict)


class Embedder:
    """The ``index`` of a store: the texts of an item to embed, and the function that embeds them."""

    def __init__(self, index: Mapping[str, Any]) -> None:
        self.fields: list[str] | None = index.get("fields")
        self._embeddings = ensure_embeddings(index["embed"]) if index.get("embed") else None
        self._dims: int | None = index.get("dims")
        self._measure: str = index.get("distance_type", "cosine")
        if self._measure not in _MEASURES:
            raise ValueError(f"unknown distance_type in index: {self._measure}; known are {', '.join(_MEASURES)}")

    @property
    def is_own(self) -> bool:
        """Whether there is a function that embeds."""
        return self._embeddings is not None

    def texts(self, op: PutOp) -> list[str]:
        """Return the texts of an item that are embedded."""
        if self._embeddings is None or op.value is None or op.index is False:
            return []
        paths = op.index or self.fields or ["$"]
        return [text for path in paths for text in get_text_at_path(op.value, path)]

    def embedded(self, ops: Iterable[Op]) -> Embedded:
        """Embed the texts and queries of a batch, each once, all texts in one call."""
        texts, queries = self._wanted(ops)
        if self._embeddings is None or not (texts or queries):
            return Embedded()
        vectors = self._embeddings.embed_documents(texts) if texts else []
        return self._named(texts, vectors, queries, [self._embeddings.embed_query(query) for query in queries])

    async def aembedded(self, ops: Iterable[Op]) -> Embedded:
        """Embed as ``embedded`` does, by the asynchronous methods."""
        texts, queries = self._wanted(ops)
        if self._embeddings is None or not (texts or queries):
            return Embedded()
        vectors = await self._embeddings.aembed_documents(texts) if texts else []
        return self._named(texts, vectors, queries, [await self._embeddings.aembed_query(query) for query in queries])

    def _wanted(self, ops: Iterable[Op]) -> tuple[list[str], list[str]]:
        ops = list(ops)
        texts = dict.fromkeys(text for op in ops if isinstance(op, PutOp) for text in self.texts(op))
        queries = dict.fromkeys(op.query for op in ops if isinstance(op, SearchOp) and op.query)
        return list(texts), list(queries)

    def _named(
        self, texts: list[str], vectors: list[list[float]], queries: list[str], asked: list[list[float]]
    ) -> Embedded:
        if len(vectors) != len(texts):
            raise ValueError(f"embed has returned {len(vectors)} embeddings of {len(texts)} texts")
        kept = (self._measured(vector) for vector in vectors)
        packed = (b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in kept)
        return Embedded(
            dict(zip(texts, packed, strict=True)), dict(zip(queries, map(self._measured, asked), strict=True))
        )

    def _measured(self, vector: Vector) -> Vector:
        """The vector as it is compared: for the cosine with the length 1, because then a product of two is enough."""
        if self._dims not in (None, len(vector)):
            raise ValueError(f"embed has returned {len(vector)} dimensions; index has dims {self._dims}")
        length = math.hypot(*vector) if self._measure == "cosine" else 1.0
        return [number / length for number in vector] if length else vector

    def score(self, query: Vector, kept: Iterable[str]) -> float | None:
        """Return how near the nearest text of an item is to the query; None if it has no embedding of that length."""
        size, measure = struct.Struct(f"<{len(query)}f"), _MEASURES[self._measure]
        vectors = (b64decode(text) for text in kept)
        return max(
            (measure(query, size.unpack(vector)) for vector in vectors if len(vector) == size.size), default=None
        )


def _product(one: Vector, other: Vector) -> float:
    product: float = sum(map(mul, one, other))
    return product


_MEASURES: dict[str, Callable[[Vector, Vector], float]] = {
    "cosine": _product,
    "inner_product": _product,
    "l2": lambda one, other: -math.dist(one, other),
}
