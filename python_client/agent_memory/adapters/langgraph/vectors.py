"""Embeddings by a function that the user of a LangGraph store brings along."""

from __future__ import annotations

import math
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
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
    """What ``index`` of a store says: which texts of an item are embedded, and by what.

    Args:
        index: LangGraph's IndexConfig. Without ``embed`` nothing is embedded here.
    """

    def __init__(self, index: Mapping[str, Any]) -> None:
        self.fields: list[str] | None = index.get("fields")
        self._embeddings = ensure_embeddings(index["embed"]) if index.get("embed") else None
        self._dims: int | None = index.get("dims")

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
        unit = [self._unit(vector) for vector in (*vectors, *asked)]
        if len(vectors) != len(texts):
            raise ValueError(f"embed has returned {len(vectors)} embeddings of {len(texts)} texts")
        kept = [b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in unit[: len(texts)]]
        return Embedded(dict(zip(texts, kept, strict=True)), dict(zip(queries, unit[len(texts) :], strict=True)))

    def _unit(self, vector: Vector) -> Vector:
        """The vector with the length 1, so that a product of two is their cosine."""
        if self._dims not in (None, len(vector)):
            raise ValueError(f"embed has returned {len(vector)} dimensions; index has dims {self._dims}")
        length = math.sqrt(sum(map(mul, vector, vector)))
        return [number / length for number in vector] if length else vector


def similarity(query: Vector, kept: Iterable[str]) -> float | None:
    """Return the cosine of a query and the nearest of the embeddings of an item; None if it has none of that model."""
    size = struct.Struct(f"<{len(query)}f")
    vectors = (b64decode(text) for text in kept)
    return max((sum(map(mul, query, size.unpack(v))) for v in vectors if len(v) == size.size), default=None)
